import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isAlive } from './living-process.ts';

// A container gives every run of the program the same small process id, so the id alone cannot tell
// our own folder from one that an earlier run left behind.
const runToken = randomBytes(4).toString('hex');
const namePattern = /\.new-(\d+)-([0-9a-f]{8})-\d+$/;
let namesGiven = 0;

// A name beside `path`, on the same file system, from which a finished folder is renamed to `path`.
export function temporaryName(path: string): string {
  return `${path}.new-${process.pid}-${runToken}-${++namesGiven}`;
}

// Removes what attempts of dead processes left beside `path`; it was never used by anybody.
export async function removeLeftovers(path: string): Promise<void> {
  const parent = dirname(path);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(path)}.new-`)) continue;
    const [, pid, token] = namePattern.exec(name) ?? [];
    if (!pid || token === runToken) continue;
    if (Number(pid) !== process.pid && isAlive(Number(pid))) continue;
    // An orphaned initdb may still write into it for a moment, hence the retries.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
