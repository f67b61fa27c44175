// A PostgreSQL whose files may not grow beyond a size: to it, that is a full disk.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { isLinux, processesIn } from './program.ts';

export const canLimit = isLinux && spawnSync('prlimit', ['--version']).status === 0;

/** The log of PostgreSQL itself is kept in files of this size, and must not be what is full. */
export const logFileBytes = 16 * 1024 * 1024;

/** Of the PostgreSQL that works in a data folder, and of all connections that it opens from now. */
export function limitFiles(dataFolder: string, bytes: number | 'unlimited'): void {
  for (const { pid } of processesIn(dataFolder, 'postgres')) {
    // As the account that it runs as: root in a container may not limit others.
    const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false });
    // Connections come and go.
    if (!owner) continue;
    const { uid, gid } = owner;
    const limit = ['--pid', String(pid), `--fsize=${bytes}:unlimited`];
    const { status, stderr } = spawnSync('prlimit', limit, { uid, gid });
    const isGone = !existsSync(`/proc/${pid}`);
    assert.ok(status === 0 || isGone, String(stderr));
  }
}
