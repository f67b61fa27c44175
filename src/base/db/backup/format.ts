// What a backup file says about itself: `backup.json` is its first member and `manifest.json` its
// last. Between them is the content of each table as PostgreSQL's COPY writes it, compressed in
// pieces: tables/NAME/000001.gz, 000002.gz, …
import type { AppliedMigration } from './tables.ts';

export const headName = 'backup.json';
export const manifestName = 'manifest.json';
export const formatVersion = 1;

export type BackupKind = 'Database' | 'Workspace';

export type BackupHead = {
  format: typeof formatVersion;
  kind: BackupKind;
  /** The version of the program that made it. */
  program: string;
  /** When its snapshot was taken. */
  madeAt: string;
  postgres: string;
  /** SHA-256 of the key that encrypts second factors; the key itself is not in the backup. */
  secretKey: string | null;
  /** Of a workspace: its name. */
  workspace: string | null;
  migrations: AppliedMigration[];
  tables: { name: string; columns: string[] }[];
};

export type TableSum = { name: string; rows: number; bytes: number; sha256: string };

export type Manifest = { head: string; tables: TableSum[] };

/** The user can do something about it: the message is shown without a stack. */
export class BackupError extends Error {}

export function pieceName(table: string, number: number): string {
  return `tables/${table}/${String(number).padStart(6, '0')}.gz`;
}

export function tableOfPiece(name: string): { table: string; number: number } | undefined {
  const [, table, number] = /^tables\/([a-z_0-9]+)\/(\d{6,})\.gz$/.exec(name) ?? [];
  return table === undefined ? undefined : { table, number: Number(number) };
}
