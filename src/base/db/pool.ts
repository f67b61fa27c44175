// Pools of connections to PostgreSQL, and the one way to run a transaction on them.
import pg from 'pg';
import { FairTurns } from '../fair-turns.ts';
import { BatchedClient, isStatementError, type Statement, type StatementResult } from './batch.ts';
import { type Company, type Read, ReadQueue, readOnlyOpening } from './reads.ts';
import { RowClient } from './rows.ts';
import { type Beside, type Tx, txOn } from './tx.ts';

export type { Lookup, Tx } from './tx.ts';

/** A connection string, or where an embedded server listens. */
export type Connection =
  | { url: string }
  | { host: string; port: number; user: string; database: string };

export type PoolOptions = {
  connection: Connection;
  /** Shown in pg_stat_activity. */
  name: string;
  max: number;
  /**
   * Connections that one tenant may have at the same time, so that it leaves some to the others.
   * Not for workers: a part of a job may need a second connection while it holds one.
   */
  share?: number;
  /** Set in every transaction if the pool logs in with a role that has more rights. */
  role?: string;
  /** The database spreads workspaces over several machines. */
  isSpread?: boolean;
};

export type Database = {
  readonly pool: pg.Pool;
  readonly reads: ReadQueue;
  readonly role: string | undefined;
  readonly isSpread: boolean;
  /** Undefined where tenants have no shares. */
  readonly shares: FairTurns | undefined;
  /** On a connection of its own: a transaction that waits for it holds none that it needs. */
  readonly beside: Beside;
  close(): Promise<void>;
};

/** A call waits this long for a free connection, then fails because the server is busy. */
const connectionWaitMs = 5_000;

export function openDatabase(options: PoolOptions): Database {
  const pool = new pg.Pool({
    Client: RowClient,
    ...('url' in options.connection
      ? { connectionString: options.connection.url }
      : options.connection),
    application_name: options.name,
    max: options.max,
    connectionTimeoutMillis: connectionWaitMs,
    // Connections stay open: a timer for each use of one costs more than an idle connection does.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    // What the environment says of TLS is for connection strings; a socket has none.
    ...('url' in options.connection ? {} : { ssl: false }),
  });
  // A lost idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // Nor may one that is lost between two statements of a transaction: the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  const shares = options.share === undefined ? undefined : sharesOf(options.max, options.share);
  let aside: Database | undefined;
  const beside: Beside = (tenantId, work) => {
    aside ??= openDatabase(asideOptions(options));
    return tenantTransact(aside, tenantId, work);
  };
  const reads = new ReadQueue(pool, (client) => handlesOf(client, beside).batched, shares);
  const close = async () => {
    await pool.end();
    await aside?.close();
  };
  const { role, isSpread = false } = options;
  return { pool, reads, role, isSpread, shares, beside, close };
}

function asideOptions({ share: _, ...options }: PoolOptions): PoolOptions {
  return { ...options, name: `${options.name} beside`, max: 1 };
}

/** One tenant may have half of the connections that serve calls. */
export function tenantShare(connections: number): number {
  return Math.max(1, Math.floor(connections / 2));
}

/** Every call that waits for a connection is bounded by time, and their number by rate limits. */
function sharesOf(max: number, share: number): FairTurns {
  return new FairTurns({
    // The pool itself knows how many are free.
    places: Number.POSITIVE_INFINITY,
    share: Math.min(share, max),
    waitingMax: Number.POSITIVE_INFINITY,
    waitMs: connectionWaitMs,
    what: 'calls',
  });
}

export type TransactionOptions = {
  /** Sent together with `begin` and the first statements of the work, in one message. */
  opening: Opening;
  readOnly?: boolean;
  /** For reads that all have the same opening for one tenant: those of one moment share it. */
  company?: Company | undefined;
};

/** The first statement of a transaction. It names the tenant of which the transaction is. */
export type Opening = Statement & { tenantId?: number };

export type OpeningRow = Record<string, unknown> | undefined;

/**
 * Runs the work in one transaction and commits it. Whatever is thrown rolls everything back.
 *
 * The work begins while the opening is still on its way. PostgreSQL answers in order, and skips the
 * work's statements if the opening failed.
 */
export function transact<T>(
  database: Database,
  options: TransactionOptions,
  work: Work<T>,
): Promise<T> {
  return options.readOnly ? read(database, options, work) : write(database, options.opening, work);
}

type Work<T> = (tx: Tx, opening: Promise<OpeningRow>) => Promise<T>;

async function write<T>(database: Database, opening: Opening, work: Work<T>): Promise<T> {
  const { shares } = database;
  const { tenantId } = opening;
  if (!shares || tenantId === undefined) return writeNow(database, opening, work);
  return shares.run(tenantId, () => writeNow(database, opening, work));
}

async function writeNow<T>(database: Database, opening: Statement, work: Work<T>): Promise<T> {
  const client = await database.pool.connect();
  const { batched, tx } = handlesOf(client, database.beside);
  try {
    const opened = open(batched, database.role, opening);
    // Both are awaited, even if one fails: no statement may still be on its way when the connection
    // goes to another call.
    const [done, entered] = await Promise.allSettled([work(tx, opened), opened]);
    if (entered.status === 'rejected') throw entered.reason;
    if (done.status === 'rejected') throw done.reason;
    // PostgreSQL answers a commit of a failed transaction with ROLLBACK and no error.
    const committed = await batched.run(commit);
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    batched.takeFailure();
    client.release();
    return done.value;
  } catch (error) {
    let sent: { error: unknown } | undefined;
    const undone = batched.run(rollback).finally(() => {
      sent = batched.takeFailure();
    });
    // A caller that tries again after the failure must not meet the locks of the first attempt.
    await releaseAfter(client, undone);
    // Where a statement failed of which the work did not wait, what came later failed by that.
    throw sent ? sent.error : error;
  }
}

const begin: Statement = { text: 'begin', values: [] };
const commit: Statement = { text: 'commit', values: [] };
const rollback: Statement = { text: 'rollback', values: [] };

async function open(
  client: BatchedClient,
  role: string | undefined,
  opening: Statement,
): Promise<OpeningRow> {
  const begun = client.run(begin);
  const roled = role ? client.run(takeRole(role)) : undefined;
  const opened = client.run(opening);
  const [, , result] = await Promise.all([begun, roled, opened]);
  return result.rows[0];
}

function takeRole(role: string): Statement {
  return { text: 'select take_role($1)', values: [role] };
}

async function read<T>(database: Database, options: TransactionOptions, work: Work<T>): Promise<T> {
  const { reads } = database;
  const opening = readOnlyOpening(options.opening);
  const openings = [...startOfRead(database), opening];
  const { tenantId } = options.opening;
  if (!options.company) return readOn(reads.alone(openings, tenantId), work);
  const shared = reads.shared(options.company, openings);
  try {
    return await readOn(shared, work);
  } catch (error) {
    if (shared.members === 1 || !isStatementError(error)) throw error;
    // It may have been the statement of another: by itself it fails only where it is at fault.
    return readOn(reads.alone(openings, tenantId), work);
  }
}

/**
 * What comes before the opening. On several machines, what the opening sets reaches the machine of
 * the workspace only inside a transaction, and that begins with the second statement.
 */
function startOfRead({ role, isSpread }: Database): Statement[] {
  if (role) return [takeRole(role)];
  return isSpread ? [plainOpening] : [];
}

async function readOn<T>({ tx, opened }: Read, work: Work<T>): Promise<T> {
  const done = work(tx, opened);
  // The work failed because the opening failed, so the opening's error is the one to report.
  done.catch(ignore);
  await opened;
  return done;
}

function ignore(): void {}

function releaseAfter(client: pg.PoolClient, last: Promise<StatementResult>): Promise<void> {
  return last.then(
    () => client.release(),
    (error) => client.release(error),
  );
}

/** A transaction in which the rows of one tenant are seen, and no others. */
export function tenantTransact<T>(
  database: Database,
  tenantId: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return transact(database, { opening: openingFor(tenantId) }, work);
}

/** Opens a transaction that is about no tenant. */
export const plainOpening: Statement = { text: 'select 1', values: [] };

export function openingFor(tenantId: number): Opening {
  if (!Number.isSafeInteger(tenantId) || tenantId < 1) throw new Error('not a tenant id');
  const text = 'select set_tenant($1)';
  return { text, values: [String(tenantId)], tenantId };
}

type Handles = { batched: BatchedClient; tx: Tx };

// Each pooled connection keeps its handles for its life.
const handles = new WeakMap<pg.PoolClient, Handles>();

function handlesOf(client: pg.PoolClient, beside: Beside): Handles {
  const known = handles.get(client);
  if (known) return known;
  const batched = new BatchedClient(client);
  const made = { batched, tx: txOn(batched, beside) };
  handles.set(client, made);
  return made;
}
