import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import {
  type Connection,
  crashEmbedded,
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbedded,
} from '../../src/base/postgres/embedded.ts';
import { quickNode } from '../support/quick-node.ts';

export type Answer = {
  pid: number;
  owner: Connection;
  superuser: Connection;
  adopted: boolean;
  error?: string;
  message?: string;
};

export type Program = {
  child: ChildProcess;
  // The line it printed: that it is up, or why not.
  answer: Promise<Answer>;
  messages: () => string;
  kill(signal: NodeJS.Signals): Promise<void>;
};

export type Scene = {
  folder: string;
  dataFolder: string;
  start(options?: Partial<EmbeddedOptions>): Promise<EmbeddedPostgres>;
  program(options?: Partial<EmbeddedOptions>, how?: ProgramOptions): Program;
};

export type ProgramOptions = { file?: string; uid?: number; gid?: number };

// Most tests are not about durability, and syncing is most of what a start waits for.
const quick = { fsync: 'off', shared_buffers: '16MB' };

const programFile = fileURLToPath(new URL('./program.ts', import.meta.url));

// A folder of its own for a test. When the test ends, however it ends, every program it started is
// killed, PostgreSQL is stopped and the folder removed.
export async function openScene(t: TestContext): Promise<Scene> {
  const folder = await createTestFolder();
  const scene = playScene(t, { folder, dataFolder: join(folder, 'data') });
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return scene;
}

// The same with a data folder that all tests of a file use in turn: making one takes a second.
// It may hold a table `kept` of an earlier test.
export async function openUsedScene(t: TestContext): Promise<Scene> {
  usedFolder ??= createTestFolder();
  const folder = await usedFolder;
  return playScene(t, { folder, dataFolder: join(folder, 'data') });
}

let usedFolder: Promise<string> | undefined;

// Here, outside of any test: inside one it would belong to that test and run at its end.
after(async () => {
  if (usedFolder) await rm(await usedFolder, { recursive: true, force: true, maxRetries: 10 });
});

function playScene(t: TestContext, place: { folder: string; dataFolder: string }): Scene {
  const dataFolders = new Set([place.dataFolder]);
  const programs: Program[] = [];
  const started: EmbeddedPostgres[] = [];
  t.after(async () => {
    for (const program of programs) await program.kill('SIGKILL');
    for (const embedded of started) await embedded.stop();
    for (const dataFolder of dataFolders) await endDatabase(dataFolder);
  });
  const complete = (options: Partial<EmbeddedOptions> = {}): EmbeddedOptions => ({
    dataFolder: place.dataFolder,
    use: 'claim',
    settings: quick,
    log: () => {},
    ...options,
  });
  return {
    ...place,
    async start(options) {
      dataFolders.add(options?.dataFolder ?? place.dataFolder);
      const embedded = await startEmbedded(complete(options));
      started.push(embedded);
      return embedded;
    },
    program(options, how) {
      const program = spawnProgram(complete(options), how);
      programs.push(program);
      dataFolders.add(options?.dataFolder ?? place.dataFolder);
      return program;
    },
  };
}

// Removes the database, too, if it is elsewhere, behind a link.
async function endDatabase(dataFolder: string): Promise<void> {
  const place = join(dataFolder, 'postgres');
  if (!existsSync(place)) return;
  const home = realpathSync(place);
  if (existsSync(join(home, 'cluster', 'postmaster.pid'))) await crashEmbedded(dataFolder);
  if (lstatSync(place).isSymbolicLink()) await rm(home, { recursive: true, maxRetries: 10 });
}

async function createTestFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-test-'));
  // Open to the account that runs PostgreSQL for root.
  await chmod(folder, 0o755);
  return folder;
}

function spawnProgram(options: EmbeddedOptions, how: ProgramOptions = {}): Program {
  const { file = programFile, ...account } = how;
  const child = spawn(process.execPath, [...quickNode, file, JSON.stringify(options)], {
    cwd: '/',
    // A group of its own, as a shell gives it, so that a test can send Ctrl-C to it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...account,
  });
  let messages = '';
  child.stderr.on('data', (chunk: Buffer) => {
    messages += chunk.toString();
  });
  const exited = once(child, 'exit');
  const answer = new Promise<Answer>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    exited.then(() => setTimeout(() => reject(new Error(`no answer: ${messages}`)), 200).unref());
  });
  // A program that a test kills on purpose never answers.
  answer.catch(() => {});
  return {
    child,
    answer,
    messages: () => messages,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
export async function query(connection: Connection, text: string): Promise<any[]> {
  const client = new Client({ ...connection, ssl: false });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export function postmasterPid(dataFolder: string): number {
  const file = join(dataFolder, 'postgres', 'cluster', 'postmaster.pid');
  return Number.parseInt(readFileSync(file, 'utf8'), 10);
}

export const isRoot = process.getuid?.() === 0;
