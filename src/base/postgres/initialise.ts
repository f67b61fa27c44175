import { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { runCommand } from './command.ts';
import type { Server } from './configuration.ts';
import { createFolder, type Layout } from './layout.ts';
import { removeLeftovers, temporaryName } from './temporary-folder.ts';

const initdbLinesMax = 8;

// Creates the cluster if it does not exist. An existing cluster is never recreated or deleted:
// initdb works in a folder next to it, which gets the name only when it is complete.
export async function initialiseCluster(server: Server, options: { sync: boolean }): Promise<void> {
  const { layout, binaries, log } = server;
  await removeLeftovers(layout.cluster).catch((error: Error) => {
    log(`an unfinished database folder could not be removed: ${error.message}`);
  });
  if (await isInitialised(layout, binaries)) return;
  log(`creating a database in ${layout.cluster}`);
  const temporary = temporaryName(layout.cluster);
  await createFolder(temporary, layout.account);
  try {
    await runInitdb(temporary, layout, binaries, options.sync);
    await rename(temporary, layout.cluster);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another program was faster; its cluster is as good as ours.
    if (!(await isInitialised(layout, binaries))) throw error;
  }
  await syncFolder(dirname(layout.cluster));
}

async function isInitialised(layout: Layout, binaries: Binaries): Promise<boolean> {
  const { cluster } = layout;
  if (!existsSync(cluster) || (await readdir(cluster)).length === 0) return false;
  const versionFile = join(cluster, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    throw new Error(`${cluster} is not empty and is not a PostgreSQL database; it is left alone.`);
  }
  const major = (await readFile(versionFile, 'utf8')).trim();
  if (major === binaries.major) return true;
  throw new Error(
    `the database in ${cluster} was made by PostgreSQL ${major}, and this program brings ` +
      `PostgreSQL ${binaries.major}. Use the version of the program that made it, or move the ` +
      `data over with pg_dumpall of PostgreSQL ${major}.`,
  );
}

async function runInitdb(
  folder: string,
  layout: Layout,
  binaries: Binaries,
  sync: boolean,
): Promise<void> {
  const args = [
    ...['--pgdata', folder, '--username', 'postgres', '--auth', 'trust', '--data-checksums'],
    // The builtin provider sorts by code point on every machine and in every version, so an index
    // never silently changes its order under a new C library.
    ...['--encoding', 'UTF8', '--locale', 'C'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--no-instructions', ...(sync ? [] : ['--no-sync'])],
  ];
  const { code, output } = await runCommand(join(binaries.folder, 'initdb'), args, layout.account);
  if (code === 0) return;
  const lastLines = output.split('\n').slice(-initdbLinesMax).join('\n');
  throw new Error(`${explainInitdb(output, layout)}. The last messages of initdb:\n${lastLines}`);
}

function explainInitdb(output: string, layout: Layout): string {
  if (output.includes('No space left on device')) return `the disk of ${layout.home} is full`;
  if (output.includes('Permission denied')) return `no permission to write to ${layout.home}`;
  if (output.includes('could not look up effective user ID')) {
    return 'PostgreSQL needs an account with a name: the user id of this program has none';
  }
  return `a database could not be created in ${layout.home}`;
}

// A rename survives a power cut only once its folder is on disk.
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
