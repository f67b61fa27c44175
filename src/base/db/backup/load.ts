// Puts the rows of a backup into tables, by COPY.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { copyInto } from '../copy-into.ts';
import { BackupError, type BackupHead, type TableSum } from './format.ts';
import { type CheckedBackup, tablePiecesOf } from './read.ts';

export type LoadOptions = {
  /** Where the rows of a table go, if not into the table itself. */
  targetOf?: (table: string) => string;
  /** Of rows that come without it. */
  tenantId?: number;
  /** The table was made or emptied in this transaction. */
  isNew?: boolean;
  beforeTable?: (table: string) => Promise<void>;
  afterTable?: (table: string) => Promise<void>;
  onTable?: (sum: TableSum, index: number, tables: number) => void;
  onRows?: (table: string, bytes: number) => void;
};

/**
 * Loads the tables of `sums`, in the order of the file. The content is hashed once more: the file
 * may have changed since it was checked.
 */
export async function loadTables(
  client: pg.Client,
  { path, head, sums }: CheckedBackup,
  options: LoadOptions,
): Promise<void> {
  const wanted = new Set(sums.map(({ name }) => name));
  const pieces = tablePiecesOf(path);
  try {
    let piece = await pieces.next();
    for (const [index, sum] of sums.entries()) {
      while (!piece.done && !wanted.has(piece.value.table)) piece = await pieces.next();
      await options.beforeTable?.(sum.name);
      const hash = createHash('sha256');
      const load = startLoad(client, head, sum.name, options);
      let bytes = 0;
      while (!piece.done && piece.value.table === sum.name) {
        hash.update(piece.value.bytes);
        bytes += piece.value.bytes.length;
        await load.write(piece.value.bytes);
        options.onRows?.(sum.name, bytes);
        piece = await pieces.next();
      }
      const rows = await load.end();
      if (rows !== sum.rows || hash.digest('hex') !== sum.sha256) {
        throw new BackupError(`${path} was changed while it was read (table ${sum.name}).`);
      }
      await options.afterTable?.(sum.name);
      options.onTable?.(sum, index + 1, sums.length);
    }
  } finally {
    await pieces.return(undefined);
  }
}

function startLoad(client: pg.Client, head: BackupHead, table: string, options: LoadOptions) {
  const known = head.tables.find((one) => one.name === table)?.columns ?? [];
  const columns = options.tenantId === undefined ? known : ['tenant_id', ...known];
  const list = columns.map((name) => pg.escapeIdentifier(name)).join(', ');
  const target = pg.escapeIdentifier(options.targetOf?.(table) ?? table);
  const freeze = options.isNew ? ' with (freeze)' : '';
  const stream = copyInto(client, `copy ${target} (${list}) from stdin${freeze}`);
  const done = finished(stream);
  // It is awaited at the end; a failure before that also ends the writes.
  done.catch(() => {});
  const put = options.tenantId === undefined ? asIs : tenantAdder(options.tenantId, known.length);
  return {
    async write(bytes: Buffer) {
      for (const part of put(bytes)) {
        if (stream.write(part)) continue;
        await Promise.race([once(stream, 'drain'), done]);
      }
    },
    async end(): Promise<number> {
      stream.end();
      await done;
      return stream.rowCount;
    },
  };
}

function asIs(bytes: Buffer): Buffer[] {
  return [bytes];
}

const newline = 0x0a;

/** Writes the tenant id before each row. In COPY's text format a line is a row. */
function tenantAdder(tenantId: number, columns: number): (bytes: Buffer) => Buffer[] {
  const before = Buffer.from(columns === 0 ? String(tenantId) : `${tenantId}\t`);
  let isAtStart = true;
  return (bytes) => {
    const parts: Buffer[] = [];
    let from = 0;
    while (from < bytes.length) {
      if (isAtStart) parts.push(before);
      const end = bytes.indexOf(newline, from);
      isAtStart = end !== -1;
      parts.push(bytes.subarray(from, end === -1 ? bytes.length : end + 1));
      from = end === -1 ? bytes.length : end + 1;
    }
    return [Buffer.concat(parts)];
  };
}
