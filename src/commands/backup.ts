// billwright backup and billwright restore: the whole database in one file, and back.
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BackupHead, TableSum } from '../base/db/backup/format.ts';
import { checkBackup } from '../base/db/backup/read.ts';
import { restoreDatabase } from '../base/db/backup/restore.ts';
import { readMigrations } from '../base/db/migrate.ts';
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import { secretKeyFingerprint } from '../base/secret-key.ts';
import type { Config } from '../config.ts';
import { type Context, openOwnerDatabase, prepareDatabase } from '../context.ts';
import { listLastNumbers } from '../domain/tenants/number-series-store.ts';
import { listWorkspaces } from '../domain/tenants/store.ts';
import {
  assertNoFile,
  contentOf,
  encryptedThings,
  secondsSince,
  showProgress,
  size,
  writeSnapshot,
} from './archive-file.ts';
import { openForCommand } from './shutdown.ts';
import { backupUsage, refuseMore, UsageError } from './usage.ts';
import { verify } from './verify.ts';

/** Also works while a server runs. It changes nothing in the database, not even its version. */
export async function backupCommand(config: Config, args: readonly string[]): Promise<void> {
  const { file } = parse(args, []);
  await assertNoFile(file);
  const began = performance.now();
  const context = await openForCommand(config);
  try {
    const sums = await writeSnapshot(context, file, { title: 'Backing up' });
    const { size: bytes } = await stat(file);
    const secrets = secretsNote(context, sums);
    say(
      `${file} has ${contentOf(sums)} in ${size(bytes)}, after ${secondsSince(began)}.${secrets}`,
    );
  } finally {
    await context.close();
  }
}

function keyFileOf({ config }: Context): string {
  return config.secretKeyFile ?? join(config.dataFolder, 'secret.key');
}

function secretsNote(context: Context, sums: readonly TableSum[]): string {
  const secrets = encryptedThings(sums);
  if (secrets === '') return '';
  const file = keyFileOf(context);
  return `\nThe key of ${secrets} is not in it: keep a copy of ${file} elsewhere.`;
}

const suspendedNote =
  'Every workspace is suspended: billwright workspace resume NAME. Mails that waited are ' +
  'Uncertain: they are sent only if an operator asks for it (resolve-deliveries).';

export async function restoreCommand(config: Config, args: readonly string[]): Promise<void> {
  const { file, suspend } = parse(args, ['suspend']);
  const began = performance.now();
  const checking = showProgress('Checking');
  // Checked before anything is opened: a damaged file makes no data folder.
  let checked = 0;
  const backup = await checkBackup(file, 'Database', (bytes) => {
    checked += bytes;
    checking.rows(file, checked);
  });
  checking.end();
  const progress = showProgress('Restoring');
  const { head } = backup;
  const context = await openForCommand(config, { use: 'claim' });
  try {
    const migrations = await readMigrations(new URL('../../migrations/', import.meta.url));
    await restoreDatabase(context.owner.connection, backup, {
      migrations,
      suspend: suspend === true,
      onRows: progress.rows,
      onTable: progress.table,
    });
    progress.end();
    const what = `${contentOf(backup.sums)} as of ${head.madeAt}`;
    say(`Restored ${what}, after ${secondsSince(began)}.${keyNote(context, head, backup.sums)}`);
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      const isSound = await verify(context, database, { withoutWorkers: true });
      if (!isSound) process.exitCode = 1;
      await sayWhereItGoesOn(database, head.madeAt);
    } finally {
      await database.close();
    }
    if (suspend) say(suspendedNote);
    say(`Done after ${secondsSince(began)}. Sign-ins were not restored: all users log in again.`);
  } finally {
    progress.end();
    await context.close();
  }
}

function keyNote(context: Context, { secretKey }: BackupHead, sums: readonly TableSum[]): string {
  const secrets = encryptedThings(sums);
  if (secrets === '' || secretKey === secretKeyFingerprint()) return '';
  return (
    `\nSecrets of ${secrets} were encrypted with another key: copy the file secret.key of the ` +
    `old installation to ${keyFileOf(context)} before the first start.`
  );
}

const numberedThings = { Bill: 'bills', CreditNote: 'credit notes', Receipt: 'receipts' };

/** What was entered or sent after the backup is not here, and its numbers are given once more. */
async function sayWhereItGoesOn(database: Database, madeAt: string): Promise<void> {
  const options = { opening: plainOpening, readOnly: true };
  for (const { tenant_id: tenantId, workspace } of await transact(
    database,
    options,
    listWorkspaces,
  )) {
    const series = await tenantTransact(database, tenantId, (tx) => listLastNumbers(tx, tenantId));
    if (series.length === 0) continue;
    say(`Last numbers of ${workspace}; what was numbered after ${madeAt} is not in the backup:`);
    for (const { kind, key, last } of series) say(`  ${numberedThings[kind]} ${key}  ${last}`);
  }
}

function parse(args: readonly string[], flags: readonly 'suspend'[]) {
  try {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' } as const]));
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [file] = positionals;
    if (!file) throw new UsageError(`Name the file of the backup.\n\n${backupUsage}`);
    refuseMore(positionals, 1, backupUsage);
    return { file: resolve(file), suspend: (values as { suspend?: boolean }).suspend };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${(error as Error).message}\n\n${backupUsage}`);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
