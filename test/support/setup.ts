// Run once before all test files and once after them.
import { fileURLToPath } from 'node:url';
import { startCluster } from './cluster.ts';

// Inherited by the processes of test files, most of which load the whole server.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);

let stop: (() => Promise<void>) | undefined;

export async function globalSetup(): Promise<void> {
  stop = await startCluster();
}

export async function globalTeardown(): Promise<void> {
  await stop?.();
}
