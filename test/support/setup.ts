// Run once before all test files and once after them.
import { startCluster } from './cluster.ts';

let stop: (() => Promise<void>) | undefined;

export async function globalSetup(): Promise<void> {
  stop = await startCluster();
}

export async function globalTeardown(): Promise<void> {
  await stop?.();
}
