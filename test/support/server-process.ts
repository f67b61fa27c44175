// Starts the API in a process of its own, on the database of a scene.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after } from 'node:test';
import type { Scene } from './scene.ts';

/** A turn of the event loop that kept calls waiting, and the calls that were under way. */
export type LongTurn = { delayMs: number; cpuMs: number; calls: string[] };

export type Watched = {
  /** Delay of the event loop, by the clock. */
  p999Ms: number;
  maxMs: number;
  /** The same in processor time. */
  workP999Ms: number;
  workMaxMs: number;
  rssMb: number;
  longTurns: LongTurn[];
};

export type ServerProcess = {
  baseUrl: string;
  /** All that it wrote to its log: errors alone. */
  output(): string;
  /** Begins to measure. */
  watch(): void;
  watched(): Promise<Watched>;
};

export async function startServerProcess(
  scene: Scene,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const connection = JSON.stringify({ ...scene.cluster.api, database: scene.databaseName });
  const file = new URL('watched-server.ts', import.meta.url);
  const child = fork(file, [connection], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const [{ baseUrl }] = (await once(child, 'message')) as [{ baseUrl: string }];
  return {
    baseUrl,
    output: () => output,
    watch: () => void child.send('watch'),
    async watched() {
      child.send('tell');
      const [{ watched }] = (await once(child, 'message')) as [{ watched: Watched }];
      return watched;
    },
  };
}
