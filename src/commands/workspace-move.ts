// billwright workspace export and import: one workspace from one database to another.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BackupError } from '../base/db/backup/format.ts';
import { importTenant } from '../base/db/backup/import-tenant.ts';
import { type CheckedBackup, checkBackup } from '../base/db/backup/read.ts';
import { type Database, tenantTransact } from '../base/db/pool.ts';
import { secretKeyFingerprint } from '../base/secret-key.ts';
import type { Context } from '../context.ts';
import { findRunningJob } from '../domain/tenants/ended-store.ts';
import { findStatus, type WorkspaceRow } from '../domain/tenants/store.ts';
import {
  assertNoFile,
  contentOf,
  encryptedThings,
  secondsSince,
  showProgress,
  size,
  writeSnapshot,
} from './archive-file.ts';
import { verify } from './verify.ts';

export async function exportWorkspace(
  context: Context,
  database: Database,
  workspace: WorkspaceRow,
  path: string,
): Promise<void> {
  const began = performance.now();
  const file = resolve(path);
  await assertNoFile(file);
  await assertQuiet(database, workspace);
  const { tenant_id: tenantId, workspace: name } = workspace;
  const sums = await writeSnapshot(context, file, {
    title: 'Exporting',
    workspace: { name, tenantId },
  });
  const { size: bytes } = await stat(file);
  const what = `${contentOf(sums)} in ${size(bytes)}, after ${secondsSince(began)}`;
  process.stdout.write(`${file} has the workspace ${name}: ${what}.\n`);
}

/** A worker that still holds a part of a job of a suspended workspace ends it within this time. */
const quietWaitMs = 60_000;
const askAgainMs = 500;

/** Refuses if a job runs. In a suspended workspace, waits until no worker has a job. */
async function assertQuiet(database: Database, workspace: WorkspaceRow): Promise<void> {
  const { tenant_id: tenantId, workspace: name } = workspace;
  const look = () =>
    tenantTransact(database, tenantId, async (tx) => ({
      status: await findStatus(tx, tenantId),
      job: await findRunningJob(tx, tenantId),
    }));
  const began = performance.now();
  for (;;) {
    const { status, job } = await look();
    if (!job || (status === 'Suspended' && !job.is_held)) return;
    const what = `Job ${job.job_id} (${job.operation}) is running in workspace ${name}.`;
    if (status === 'Active') {
      const advice = `Wait until it has ended, or pause it: billwright workspace suspend ${name}.`;
      throw new BackupError(`${what} ${advice}`);
    }
    if (performance.now() - began > quietWaitMs) {
      throw new BackupError(`${what} A worker still does a part of it. Try again in a minute.`);
    }
    await sleep(askAgainMs);
  }
}

export type ImportRequest = { path: string; name?: string; withoutSecondFactors: boolean };

/** Read and checked before a database is opened. */
export function readExport({ path }: ImportRequest): Promise<CheckedBackup> {
  return checkBackup(resolve(path), 'Workspace');
}

export async function importWorkspace(
  context: Context,
  database: Database,
  backup: CheckedBackup,
  request: ImportRequest,
): Promise<void> {
  const began = performance.now();
  const name = (request.name ?? backup.head.workspace ?? '').toLowerCase();
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
    throw new BackupError(
      `'${name}' is no workspace name: 1 to 63 letters a-z, digits and hyphens, as in a host name.`,
    );
  }
  assertSameKey(context, backup, request);
  const progress = showProgress('Importing');
  try {
    await importTenant(context.owner.connection, backup, {
      name,
      at: context.clock.now(),
      leaveOut: request.withoutSecondFactors ? [factors] : [],
      onRows: progress.rows,
      onTable: progress.table,
    });
  } finally {
    progress.end();
  }
  const what = `${contentOf(backup.sums)} as of ${backup.head.madeAt}`;
  say(`Imported workspace ${name}: ${what}, after ${secondsSince(began)}.`);
  if (!(await verify(context, database, { wanted: name, withoutWorkers: true })))
    process.exitCode = 1;
  say(`It is suspended. Once the other one is stopped: billwright workspace resume ${name}`);
  say('API sessions did not move: its users and API clients log in again.');
  const unreadable = encryptedThings(backup.sums.filter(({ name: table }) => table !== factors));
  if (unreadable === '' || backup.head.secretKey === secretKeyFingerprint()) return;
  say(
    `Secrets of ${unreadable} were encrypted with the key of the other installation: ` +
      'give each a new one (update-webhook, update-gateway).',
  );
}

const factors = 'login_factors';

function assertSameKey(
  context: Context,
  { head, sums, path }: CheckedBackup,
  request: ImportRequest,
) {
  const hasFactors = sums.some(({ name, rows }) => name === factors && rows > 0);
  if (!hasFactors || request.withoutSecondFactors) return;
  if (head.secretKey === secretKeyFingerprint()) return;
  throw new BackupError(
    `Second factors in ${path} were encrypted with the key of the other installation. Use its ` +
      `key file here (SECRET_KEY_FILE, or secret.key of ${context.config.dataFolder}), or import ` +
      'with --without-second-factors: those logins set them up again.',
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
