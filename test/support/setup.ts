// Run once before all test files and once after them.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeBundle, removeBundle } from './bundle.ts';
import { smallDatabases, startCluster } from './cluster.ts';
import { makeReadyFolder } from './ready-folder.ts';

// Inherited by the processes of test files, most of which load the whole server.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../../node_modules/.cache/compiled', import.meta.url),
);

/**
 * The folder for files of tests on a machine with plenty of memory, unless TMPDIR names one:
 * databases of tests are thousands of small files, and a disk takes long to create and remove them.
 */
const memoryFolder = '/dev/shm';
/** Far more than all tests together write. */
const plentyBytes = 8 * 1024 ** 3;

let folder: string | undefined;
let stop: (() => Promise<void>) | undefined;

export async function globalSetup(): Promise<void> {
  const isInMemory = !process.env.TMPDIR && hasPlentyOfMemory();
  folder = mkdtempSync(join(isInMemory ? memoryFolder : tmpdir(), 'billwright-'));
  // PostgreSQL may have to run as another user than the tests.
  chmodSync(folder, 0o755);
  // Inherited, too.
  if (isInMemory) process.env.TMPDIR = folder;
  await Promise.all([makeBundle(), makeReadyFolder(join(folder, 'ready'))]);
  stop = await startCluster(smallDatabases);
}

export async function globalTeardown(): Promise<void> {
  await stop?.();
  removeBundle();
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function hasPlentyOfMemory(): boolean {
  return freemem() >= plentyBytes && freeBytes(memoryFolder) >= plentyBytes;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
