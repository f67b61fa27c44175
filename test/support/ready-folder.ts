// A data folder as the first start of a program leaves it, without a workspace: made once for a
// test run, and copied by those who do not ask what a first start does.
import { spawnSync } from 'node:child_process';
import { migrate, readMigrations } from '../../src/base/db/migrate.ts';
import { startEmbedded } from '../../src/base/postgres/embedded.ts';

const variable = 'BILLWRIGHT_TEST_FOLDER';

/** Makes it and tells every test process, through the environment, where it is. */
export async function makeReadyFolder(dataFolder: string): Promise<void> {
  const settings = { fsync: 'off', shared_buffers: '64MB' };
  const embedded = await startEmbedded({ dataFolder, use: 'claim', settings, log: () => {} });
  try {
    const migrations = await readMigrations(new URL('../../migrations/', import.meta.url));
    await migrate(embedded.owner, migrations);
  } finally {
    await embedded.stop();
  }
  process.env[variable] = dataFolder;
}

/** True if a folder exists to copy; a file that is run alone has none. */
export function copyReadyFolder(dataFolder: string): boolean {
  const ready = process.env[variable];
  if (!ready) return false;
  // Other than Node's own way it keeps the owners of files.
  const { status, stderr } = spawnSync('cp', ['-Rp', ready, dataFolder]);
  if (status !== 0) throw new Error(`the data folder could not be copied: ${stderr}`);
  return true;
}
