// The program as an operator runs it: `node src/main.ts ...` in a process of its own, on a data
// folder of its own, started, asked, signalled and killed by a test.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Client, createClient } from '../../sdk/client.ts';
import { crashEmbedded } from '../../src/base/postgres/embedded.ts';
import { demoLogin as demo } from '../../src/domain/access/demo-login.ts';
import { quickProgram } from './quick-node.ts';
import { copyReadyFolder } from './ready-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const mainFile = join(root, 'src', 'main.ts');

/** What is looked for in other processes is found in /proc, which only Linux has. */
export const isLinux = process.platform === 'linux';

/** Far longer than anything takes on a slow machine: only a test that fails waits for it. */
const waitMs = 60_000;
const pollMs = 25;
const pollMaxMs = 200;
/** A question that takes long is asked less often: asking is to cost a tenth of the waiting. */
const pausesPerQuestion = 10;

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type Program = {
  pid: number;
  /** Everything it printed, and its worker too. */
  output(): string;
  /** From now on its standard output has no reader. */
  leave(): void;
  exited: Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
  /** Waits until it listens and answers /ready with 200, and returns where. */
  ready(): Promise<string>;
};

export type Place = {
  folder: string;
  dataFolder: string;
  /**
   * Starts the program with these arguments on the data folder, where a first start has been made;
   * it ends with the test. Another folder is as the test left it.
   */
  run(args: readonly string[], env?: Record<string, string>): Program;
  /** Another data folder on which a first start has been made. */
  ready(name: string): string;
};

/**
 * A folder for a test file, removed after its last test with everything that still runs in it.
 * Programs end with the test that started them, or with the file.
 */
export async function openPlace(lifetime: 'test' | 'file' = 'test'): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-program-'));
  // PostgreSQL may have to run as another account than the tests.
  await chmod(folder, 0o755);
  const dataFolder = join(folder, 'data');
  const dataFolders = new Set([dataFolder]);
  const programs: Program[] = [];
  const endAll = async () => {
    for (const program of programs.splice(0)) await program.end('SIGKILL');
  };
  if (lifetime === 'test') afterEach(endAll);
  after(async () => {
    await endAll();
    for (const { pid } of processesIn(folder, 'node')) kill(pid);
    for (const used of dataFolders) {
      if (existsSync(join(used, 'postgres'))) await crashEmbedded(used);
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    folder,
    dataFolder,
    ready(name) {
      const another = join(folder, name);
      copyReadyFolder(another);
      return another;
    },
    run(args, env = {}) {
      dataFolders.add(env.BILLWRIGHT_DATA ?? dataFolder);
      const isOwn = !env.BILLWRIGHT_DATA && !env.DATABASE_URL;
      if (isOwn && !existsSync(dataFolder)) copyReadyFolder(dataFolder);
      const program = spawnProgram(args, { BILLWRIGHT_DATA: dataFolder, ...env });
      programs.push(program);
      return program;
    },
  };
}

const unlimited = '1000000/1000000';

function environment(own: Record<string, string>): NodeJS.ProcessEnv {
  // Of the surrounding environment only what a process needs to run at all, and to load quickly.
  const { PATH, HOME, TMPDIR, LANG, NODE_COMPILE_CACHE, BILLWRIGHT_TEST_BUNDLE } = process.env;
  return {
    PATH,
    HOME,
    TMPDIR,
    LANG,
    NODE_COMPILE_CACHE,
    BILLWRIGHT_TEST_BUNDLE,
    PORT: '0',
    // A program that is started for one question does not need a utility to ask it of.
    DEMO_SUBSCRIPTIONS: '0',
    BILLWRIGHT_WORKSPACE_HEADER: '1',
    RATE_LIMIT_TOKEN: unlimited,
    RATE_LIMIT_WORKSPACE: unlimited,
    RATE_LIMIT_LOGIN_NAME: unlimited,
    RATE_LIMIT_LOGIN_ADDRESS: unlimited,
    ...own,
  };
}

function spawnProgram(args: readonly string[], env: Record<string, string>): Program {
  const child = spawn(process.execPath, [...quickProgram, mainFile, ...args], {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  // Not 'close': the worker holds the same pipes and may outlive the program for a moment.
  const exited = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: pidOf(child),
    output: () => output,
    leave: () => void child.stdout.destroy(),
    exited,
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      if (!hasEnded()) child.kill(signal);
      return exited;
    },
    async ready() {
      const address = () => {
        assert.ok(!hasEnded(), `the program has ended:\n${output}`);
        const port = /^ {2}Reference {2}http:\/\/[^/]+:(\d+)\//m.exec(output)?.[1];
        const served = /"address":"127\.0\.0\.1".*?"port":(\d+)/.exec(output)?.[1];
        return port ?? served;
      };
      const base = `http://127.0.0.1:${await until(address, 'the program listens')}`;
      await until(async () => (await fetch(`${base}/ready`)).status === 200, 'it is ready');
      return base;
    },
  };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the program could not be started');
  return child.pid;
}

/** For commands that end by themselves. */
export async function finish(program: Program): Promise<{ code: number | null; output: string }> {
  const { code } = await program.exited;
  // The last words may still be in the pipe.
  await sleep(50);
  return { code, output: program.output() };
}

/** Asks again and again until the answer is neither false nor undefined. */
export async function until<T>(
  ask: () => T | Promise<T>,
  what: string,
  limitMs = waitMs,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const began = performance.now();
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    const pauseMs = (performance.now() - began) * pausesPerQuestion;
    await sleep(Math.min(Math.max(pauseMs, pollMs), pollMaxMs));
  }
}

export async function demoClient(baseUrl: string): Promise<Client> {
  const client = createClient({ baseUrl, headers: { 'X-Workspace': demo.workspace } });
  const { data } = await client.login({ username: demo.username, password: demo.password });
  client.useToken(data.accessToken);
  return client;
}

export function postmasterPid(dataFolder: string): number {
  const file = join(dataFolder, 'postgres', 'cluster', 'postmaster.pid');
  return Number.parseInt(readFileSync(file, 'utf8'), 10);
}

/** Runs one statement as PostgreSQL's superuser, on the database that the program serves. */
// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
export async function query(dataFolder: string, text: string): Promise<any[]> {
  const socket = join(dataFolder, 'postgres', 'socket');
  const client = new pg.Client({ host: socket, user: 'postgres', database: 'billwright' });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

type Found = { pid: number; command: string };

/** Living processes that were given this folder or work inside it. */
export function processesIn(folder: string, name?: 'node' | 'postgres'): Found[] {
  if (!isLinux) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry): Found[] => {
      try {
        const program = readlinkSync(`/proc/${entry}/exe`).replace(/ \(deleted\)$/, '');
        const environ = readFileSync(`/proc/${entry}/environ`, 'utf8');
        const isInside =
          environ.includes(folder) || readlinkSync(`/proc/${entry}/cwd`).startsWith(folder);
        if (!isInside || (name && !program.endsWith(`/${name}`))) return [];
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(entry), command }];
      } catch {
        // It ended while it was looked at, or is not ours.
        return [];
      }
    });
}

/** The last processes of PostgreSQL outlive the first by a moment. */
export async function assertNothingRuns(folder: string): Promise<void> {
  const left = () => processesIn(folder).map(({ command }) => command);
  const isOver = () => left().length === 0;
  await until(isOver, `nothing runs, of ${left().join('; ')}`);
}

export function workersIn(folder: string): number[] {
  return processesIn(folder, 'node')
    .filter(({ command }) => command.endsWith('main.ts work'))
    .map(({ pid }) => pid);
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A port that is taken, until it is given back. */
export async function takePort(): Promise<{ port: number; free(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    port,
    free: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
