// A real server process on a database of its own, and what one asks of it from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Cluster, environmentOf } from '../test/support/cluster.ts';

export type Server = { child: ChildProcess; port: number; pid: number };

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** `billwright serve`, as it runs in production, on the database of a bench. */
export async function launchServer(
  cluster: Cluster,
  databaseName: string,
  env: Record<string, string> = {},
): Promise<Server> {
  const child = spawn(process.execPath, [mainFile, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environmentOf(cluster, databaseName), ...env },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /"port":(\d+)/.exec(line)?.[1];
    if (port) return { child, port: Number(port), pid: child.pid ?? 0 };
  }
  throw new Error('the server did not start');
}

export async function stopServer(server: Server): Promise<void> {
  server.child.kill('SIGTERM');
  await once(server.child, 'exit');
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}

/** Megabytes of a process: now, or at most so far. */
export function memoryOf(server: Pick<Server, 'pid'>, name: 'VmRSS' | 'VmHWM' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

export type WholeList = {
  workspace: string;
  token: string;
  path: string;
  body: object;
  /** A piece of text that every row has once, and no text in the data contains. */
  marker: string;
};

/** Reads a whole list without keeping it, and watches the server's memory meanwhile. */
export async function streamAll(
  server: Server,
  list: WholeList,
): Promise<{ rows: number; announced: number; grownMb: number }> {
  const idle = memoryOf(server, 'VmRSS');
  const began = performance.now();
  const { rows, bytes, announced } = await countRows(server, list);
  const peak = memoryOf(server, 'VmHWM');
  say(
    `page: null      ${rows} rows, ${Math.round(bytes / 1e6)} MB in ${seconds(began)} s; ` +
      `X-Total-Count ${announced}`,
  );
  say(`memory          idle ${idle} MB, peak ${peak} MB: ${peak - idle} MB more`);
  return { rows, announced, grownMb: peak - idle };
}

function countRows(
  server: Server,
  list: WholeList,
): Promise<{ rows: number; bytes: number; announced: number }> {
  const marker = Buffer.from(list.marker);
  return new Promise((resolve, reject) => {
    const options = {
      port: server.port,
      path: list.path,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Workspace': list.workspace,
        Authorization: list.token,
      },
    };
    const sent = request(options, (response) => {
      let rows = 0;
      let bytes = 0;
      let rest = Buffer.alloc(0);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        const text = Buffer.concat([rest, chunk]);
        let at = text.indexOf(marker);
        let end = 0;
        while (at !== -1) {
          rows += 1;
          end = at + marker.length;
          at = text.indexOf(marker, end);
        }
        rest = text.subarray(Math.max(end, text.length - marker.length + 1));
      });
      response.on('end', () => {
        resolve({ rows, bytes, announced: Number(response.headers['x-total-count']) });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(list.body));
  });
}

const rounds = 15;
/** A question that takes long is asked less often. */
const questionMs = 4_000;

/** Asks the same several times and prints what it took. */
export async function ask(
  name: string,
  call: () => Promise<{ found: number; total: string | null }>,
): Promise<number> {
  const times: number[] = [];
  let found = '';
  const end = performance.now() + questionMs;
  for (let round = 0; round < rounds && performance.now() < end; round += 1) {
    const began = performance.now();
    const answer = await call();
    times.push(performance.now() - began);
    found = `${answer.found} of ${answer.total}`;
  }
  times.sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const worst = times.at(-1) ?? 0;
  say(
    `${name.padEnd(34)} ${median.toFixed(1).padStart(8)} ms median, ` +
      `${worst.toFixed(1)} worst; ${found}`,
  );
  return median;
}
