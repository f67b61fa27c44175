// Makes a backup: all tables as they are in one snapshot, while others go on writing.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { rethrowUnconnected } from '../faults.ts';
import { refuseUnfinished } from '../migrate.ts';
import type { Connection } from '../pool.ts';
import { archiveEnd, memberBytes } from './archive.ts';
import {
  BackupError,
  type BackupHead,
  formatVersion,
  headName,
  type Manifest,
  manifestName,
  pieceName,
  type TableSum,
} from './format.ts';
import { listApplied, listTables, registryTables, type Table } from './tables.ts';

const compress = promisify(gzip);
/** The fastest levels make files a quarter larger. */
const compression = { level: 4 };
/** Of a table, before it is compressed: one piece is in memory while the next one is compressed. */
const pieceBytes = 4 * 1024 * 1024;

export type BackupOptions = {
  program: string;
  secretKey: string | null;
  /** Before the first bytes: the head, and how many bytes the tables have in the database. */
  onBegin?: (head: BackupHead) => void;
  onTable?: (sum: TableSum, index: number, tables: number) => void;
  onRows?: (table: string, bytes: number) => void;
  /** A workspace alone; its tenant id is left out of the rows. */
  workspace?: { name: string; tenantId: number };
};

/** Opens a connection on which nothing is changed and no time limit applies. */
export async function openSnapshot(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : { ...connection, ssl: false }),
    application_name: 'billwright backup',
  });
  // A lost connection fails the statement that is running.
  client.on('error', () => {});
  await client.connect().catch(rethrowUnconnected);
  await client.query('begin isolation level repeatable read read only');
  await client.query(copySettings);
  await refuseUnfinished(client);
  return client;
}

/** The same text for the same value, whatever the database or its roles are set to. */
export const copySettings = `
  set local statement_timeout = 0; set local lock_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres';
  set local extra_float_digits = 1; set local bytea_output = 'hex'; set local timezone = 'UTC';
  set local client_encoding = 'UTF8'; set local standard_conforming_strings = on;
  set local search_path = public`;

/** The bytes of the backup, made as fast as they are read. */
export async function* backupPieces(
  client: pg.Client,
  options: BackupOptions,
): AsyncGenerator<Buffer, TableSum[]> {
  const tables = (await listTables(client)).filter(
    ({ name, hasTenant }) => !options.workspace || (hasTenant && !registryTables.includes(name)),
  );
  const head = await headOf(client, tables, options);
  options.onBegin?.(head);
  const headBytes = Buffer.from(`${JSON.stringify(head, null, 2)}\n`);
  yield* memberBytes({ name: headName, bytes: headBytes });
  const sums: TableSum[] = [];
  for (const [index, table] of tables.entries()) {
    const sum = yield* tablePieces(client, table, options);
    sums.push(sum);
    options.onTable?.(sum, index + 1, tables.length);
  }
  const manifest: Manifest = {
    head: createHash('sha256').update(headBytes).digest('hex'),
    tables: sums,
  };
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield* memberBytes({ name: manifestName, bytes });
  yield archiveEnd();
  return sums;
}

async function headOf(
  client: pg.Client,
  tables: readonly Table[],
  { program, secretKey, workspace }: BackupOptions,
): Promise<BackupHead> {
  const migrations = await listApplied(client);
  if (!migrations) throw new BackupError('This database has no tables of Billwright yet.');
  const { rows } = await client.query<{ made_at: string; postgres: string }>(
    `select to_char(transaction_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
       as made_at, current_setting('server_version') as postgres`,
  );
  return {
    format: formatVersion,
    kind: workspace ? 'Workspace' : 'Database',
    program,
    madeAt: rows[0]?.made_at ?? '',
    postgres: rows[0]?.postgres ?? '',
    secretKey,
    workspace: workspace?.name ?? null,
    migrations,
    tables: tables.map((table) => ({ name: table.name, columns: columnsOf(table, workspace) })),
  };
}

function columnsOf({ columns }: Table, workspace: unknown): string[] {
  return workspace ? columns.filter((column) => column !== 'tenant_id') : columns;
}

async function* tablePieces(
  client: pg.Client,
  table: Table,
  options: BackupOptions,
): AsyncGenerator<Buffer, TableSum> {
  const hash = createHash('sha256');
  const sum = { name: table.name, rows: 0, bytes: 0 };
  let number = 0;
  let compressing: Promise<Buffer> | undefined;
  const next = async (bytes: Buffer | undefined) => {
    const ready = await compressing;
    compressing = bytes && compress(bytes, compression);
    // Its failure is reported when it is awaited.
    compressing?.catch(() => {});
    if (!ready) return [];
    number += 1;
    return memberBytes({ name: pieceName(table.name, number), bytes: ready });
  };
  for await (const bytes of contentOf(client, table, options, (rows) => (sum.rows += rows))) {
    hash.update(bytes);
    sum.bytes += bytes.length;
    options.onRows?.(table.name, sum.bytes);
    yield* await next(bytes);
  }
  yield* await next(undefined);
  return { ...sum, sha256: hash.digest('hex') };
}

/** The rows of a table as COPY writes them, in pieces of about the same size. */
async function* contentOf(
  client: pg.Client,
  table: Table,
  { workspace }: BackupOptions,
  onRows: (rows: number) => void,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const statement of statementsFor(client, table, workspace)) {
    const stream = client.query(copyTo(statement));
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      held.push(bytes);
      heldBytes += bytes.length;
      if (heldBytes < pieceBytes) continue;
      yield Buffer.concat(held);
      [held, heldBytes] = [[], 0];
    }
    onRows(stream.rowCount);
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}

/**
 * One statement for the whole table where the role sees all of it. Where row-level security binds
 * the role, one for each workspace.
 */
async function* statementsFor(
  client: pg.Client,
  table: Table,
  workspace: BackupOptions['workspace'],
): AsyncGenerator<string> {
  const columns = columnsOf(table, workspace).map((name) => pg.escapeIdentifier(name));
  const name = pg.escapeIdentifier(table.name);
  const list = columns.join(', ');
  const { rows } = await client.query<{ bound: boolean }>(
    'select row_security_active($1::regclass) as bound',
    [name],
  );
  if (!workspace && !rows[0]?.bound) {
    yield `copy ${name} (${list}) to stdout`;
    return;
  }
  const tenants = workspace ? [workspace.tenantId] : await listTenants(client);
  for (const tenantId of tenants) {
    await client.query('select set_tenant($1)', [String(tenantId)]);
    yield `copy (select ${list} from ${name} where tenant_id = ${Number(tenantId)}) to stdout`;
  }
}

async function listTenants(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ tenant_id: string }>(
    'select tenant_id from workspaces order by tenant_id',
  );
  return rows.map((row) => Number(row.tenant_id));
}
