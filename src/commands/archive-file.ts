// Files of backups: written whole or not at all, with a line that shows how far they are.
import { stat } from 'node:fs/promises';
import { counted } from '../base/counted.ts';
import { BackupError, type TableSum } from '../base/db/backup/format.ts';
import { backupPieces, openSnapshot } from '../base/db/backup/write.ts';
import { programVersion } from '../base/program-version.ts';
import { secretKeyFingerprint } from '../base/secret-key.ts';
import { writeWholeFile } from '../base/whole-file.ts';
import type { Context } from '../context.ts';

/** Only the user that makes a backup can read it: it contains everything. */
const ownMode = 0o600;

const encrypted = [
  ['login_factors', 'second factors'],
  ['webhooks', 'webhooks'],
  ['gateways', 'payment gateways'],
] as const;

/** What of the tables needs the key of the installation, in words; empty if nothing does. */
export function encryptedThings(sums: readonly TableSum[]): string {
  const full = new Set(sums.filter(({ rows }) => rows > 0).map(({ name }) => name));
  const found = encrypted.filter(([table]) => full.has(table)).map(([, words]) => words);
  return found.join(', ').replace(/, ([^,]+)$/, ' and $1');
}

/** Refuses to replace a file: it may be the only other backup. */
export async function assertNoFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found) throw new BackupError(`${path} exists already. Name another file, or remove it.`);
}

async function writeArchive(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  await assertNoFile(path);
  try {
    await writeWholeFile(path, pieces, ownMode);
  } catch (error) {
    throw explained(error, path);
  }
}

function explained(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOSPC: 'its disk is full',
    EDQUOT: 'its disk is full for this user',
    EFBIG: 'it would be larger than files may be here',
    EACCES: 'you may not write there',
    ENOENT: 'its folder does not exist',
    EROFS: 'its disk is read-only',
  };
  const reason = code && reasons[code];
  if (!reason) return error;
  return new BackupError(`${path} was not written, and nothing is left of it: ${reason}.`);
}

export type Progress = {
  table(sum: TableSum, index: number, tables: number): void;
  rows(table: string, bytes: number): void;
  end(): void;
};

const showEveryMs = 200;
/** Into a log, one line in so long is enough. */
const logEveryMs = 10_000;

/** On the error output, so that the output has the result alone. */
export function showProgress(verb: string): Progress {
  const isTerminal = process.stderr.isTTY === true;
  const everyMs = isTerminal ? showEveryMs : logEveryMs;
  const done = { rows: 0, bytes: 0, tables: 0, of: 0 };
  let shownAt = performance.now();
  let isShown = false;
  const show = (table: string, bytes: number) => {
    if (performance.now() - shownAt < everyMs) return;
    shownAt = performance.now();
    const of = done.of === 0 ? '' : `, ${done.tables} of ${done.of} tables done`;
    const text = `${verb} ${table}: ${size(bytes)}; ${size(done.bytes + bytes)} in all${of}`;
    process.stderr.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
    isShown = true;
  };
  return {
    rows: show,
    table({ name, rows, bytes }, index, of) {
      done.rows += rows;
      done.bytes += bytes;
      done.tables = index;
      done.of = of;
      show(name, 0);
    },
    end() {
      if (isTerminal && isShown) process.stderr.write('\r\u001b[K');
    },
  };
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function size(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < units.length - 1) [value, unit] = [value / 1_000, unit + 1];
  return `${unit === 0 || value >= 100 ? Math.floor(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `12,345 rows of 105 tables`. */
export function contentOf(sums: readonly TableSum[]): string {
  const rows = sums.reduce((all, sum) => all + sum.rows, 0);
  const tables = sums.filter((sum) => sum.rows > 0).length;
  return `${rows.toLocaleString('en')} rows of ${counted(tables, 'table')}`;
}

export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

/** The whole database, or one workspace, as it is at one moment; shows how far it is. */
export async function writeSnapshot(
  context: Context,
  file: string,
  { title, workspace }: { title: string; workspace?: { name: string; tenantId: number } },
): Promise<TableSum[]> {
  const progress = showProgress(title);
  const client = await openSnapshot(context.owner.connection);
  const sums: TableSum[] = [];
  try {
    const pieces = backupPieces(client, {
      program: programVersion,
      secretKey: secretKeyFingerprint() ?? null,
      ...(workspace ? { workspace } : {}),
      onRows: progress.rows,
      onTable: (sum, index, tables) => {
        sums.push(sum);
        progress.table(sum, index, tables);
      },
    });
    await writeArchive(file, pieces);
    return sums;
  } finally {
    progress.end();
    await client.end();
  }
}
