// Pools of connections to PostgreSQL, and the one way to run a transaction on them.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { BatchedClient, type Statement, type StatementResult } from './batch.ts';
import { toParameter } from './types.ts';

/** A connection string, or where an embedded server listens. */
export type Connection =
  | { url: string }
  | { host: string; port: number; user: string; database: string };

export type PoolOptions = {
  connection: Connection;
  /** Shown in pg_stat_activity. */
  name: string;
  max: number;
  /** Taken on in every transaction, where the pool logs in as somebody with more rights. */
  role?: string;
};

export type Database = {
  readonly pool: pg.Pool;
  readonly role: string | undefined;
  close(): Promise<void>;
};

/** A transaction: the only handle that stores are given. */
export type Tx = Kysely<unknown>;

/** How long a call waits for a free connection before it is told that the server is busy. */
const connectionWaitMs = 5_000;
const idleConnectionMs = 60_000;

export function openDatabase(options: PoolOptions): Database {
  const pool = new pg.Pool({
    ...('url' in options.connection
      ? { connectionString: options.connection.url }
      : options.connection),
    application_name: options.name,
    max: options.max,
    connectionTimeoutMillis: connectionWaitMs,
    idleTimeoutMillis: idleConnectionMs,
    allowExitOnIdle: true,
    // What the environment says of TLS is for connection strings; a socket has none.
    ...('url' in options.connection ? {} : { ssl: false }),
  });
  // A lost idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // Nor may one that is lost between two statements of a transaction: the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  return { pool, role: options.role, close: () => pool.end() };
}

export type TransactionOptions = {
  /** Sent together with `begin` and the first statements of the work, in one message. */
  opening: Statement;
  readOnly?: boolean;
};

export type OpeningRow = Record<string, unknown> | undefined;

/**
 * Runs the work in one transaction and commits it. Whatever is thrown rolls everything back. The
 * commit of a read-only transaction travels with whatever the connection is used for next.
 *
 * The work begins while the opening is still on its way. PostgreSQL answers in order, and skips the
 * work's statements if the opening failed.
 */
export async function transact<T>(
  database: Database,
  options: TransactionOptions,
  work: (tx: Tx, opening: Promise<OpeningRow>) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  const { batched, tx } = handlesOf(client);
  try {
    const opening = open(batched, database.role, options);
    // Both are waited for, whatever becomes of the other: nothing may still be sending statements
    // when the connection goes to somebody else.
    const [done, opened] = await Promise.allSettled([work(tx, opening), opening]);
    if (opened.status === 'rejected') throw opened.reason;
    if (done.status === 'rejected') throw done.reason;
    if (options.readOnly) {
      batched.runLater(commit);
      client.release();
      return done.value;
    }
    // PostgreSQL answers a commit of a failed transaction with ROLLBACK and no error.
    const committed = await batched.run(commit);
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    client.release();
    return done.value;
  } catch (error) {
    releaseAfter(client, batched.run({ text: 'rollback', values: [] }));
    throw error;
  }
}

const commit: Statement = { text: 'commit', values: [] };
const begin: Statement = { text: 'begin', values: [] };
const beginReadOnly: Statement = { text: 'begin read only', values: [] };

// A role's own settings, its time limits, hold only for who logs in as it: they are taken on too.
const takeOnRole = `
  select set_config('role', $1, true)
  union all
  select set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true)
  from pg_roles, unnest(rolconfig) as setting
  where rolname = $1`;

async function open(
  client: BatchedClient,
  role: string | undefined,
  options: TransactionOptions,
): Promise<OpeningRow> {
  const statements = [
    options.readOnly ? beginReadOnly : begin,
    ...(role ? [{ text: takeOnRole, values: [role] }] : []),
    options.opening,
  ];
  const results = await Promise.all(statements.map((statement) => client.run(statement)));
  return results.at(-1)?.rows[0];
}

function releaseAfter(client: pg.PoolClient, last: Promise<StatementResult>): void {
  last.then(
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

export function openingFor(tenantId: number): Statement {
  if (!Number.isSafeInteger(tenantId) || tenantId < 1) throw new Error('not a tenant id');
  return { text: "select set_config('app.tenant', $1, true)", values: [String(tenantId)] };
}

type Handles = { batched: BatchedClient; tx: Tx };

// Each pooled connection keeps its handles for its life: building them costs more than a query.
const handles = new WeakMap<pg.PoolClient, Handles>();

function handlesOf(client: pg.PoolClient): Handles {
  const known = handles.get(client);
  if (known) return known;
  const batched = new BatchedClient(client);
  const tx = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new ClientDriver(batched),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const made = { batched, tx };
  handles.set(client, made);
  return made;
}

/** Runs every statement on one connection, whose transaction is opened and closed by transact(). */
class ClientDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(client: BatchedClient) {
    this.#connection = {
      executeQuery: (query) => execute(client, query),
      streamQuery: () => {
        throw new Error('lists are read in chunks, not by cursor');
      },
    };
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  beginTransaction(): Promise<void> {
    throw new Error('a transaction is opened by transact()');
  }
  commitTransaction(): Promise<void> {
    throw new Error('a transaction is closed by transact()');
  }
  rollbackTransaction(): Promise<void> {
    throw new Error('a transaction is closed by transact()');
  }
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

async function execute<R>(client: BatchedClient, query: CompiledQuery): Promise<QueryResult<R>> {
  const values = query.parameters.map(toParameter);
  const result = await client.run({ text: query.sql, values });
  return {
    rows: result.rows as R[],
    ...(result.rowCount === null ? {} : { numAffectedRows: BigInt(result.rowCount) }),
  };
}
