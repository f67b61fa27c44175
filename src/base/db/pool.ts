// Pools of connections to PostgreSQL, and the one way to run a transaction on them.
import { createHash } from 'node:crypto';
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
/** Statements are prepared by their text; beyond this many texts they are sent unprepared. */
const preparedTextsMax = 1_000;

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
    types: { getTypeParser },
    pipeline: true,
  } as pg.PoolConfig);
  // A lost idle connection is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  // So would one that is lost while in use; its statements fail, and that is how its user hears of it.
  pool.on('connect', (client) => client.on('error', () => {}));
  return { pool, role: options.role, close: () => pool.end() };
}

export type TransactionOptions = {
  /** SQL sent together with `begin`, in the same round trip. Its rows are handed to the work. */
  opening: string;
  readOnly?: boolean;
};

/**
 * Runs the work in one transaction and commits it. Whatever is thrown rolls everything back. A
 * read-only transaction does not wait for its commit, which cannot fail in a way that matters.
 */
export async function transact<T>(
  database: Database,
  options: TransactionOptions,
  work: (tx: Tx, openingRows: Record<string, unknown>[]) => Promise<T>,
): Promise<T> {
  const client = await database.pool.connect();
  try {
    const begin = options.readOnly ? 'begin read only' : 'begin';
    const role = database.role ? `; select set_config('role', '${database.role}', true)` : '';
    const opened = await client.query(`${begin}${role}; ${options.opening}`);
    const result = await work(txOf(client), lastOf(opened).rows);
    if (options.readOnly) {
      client.query('commit').then(
        () => client.release(),
        (error) => client.release(error),
      );
      return result;
    }
    // PostgreSQL answers a commit of a failed transaction with ROLLBACK and no error.
    const committed = await client.query('commit');
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    client.release();
    return result;
  } catch (error) {
    const ended = client.query('rollback').then(
      () => client.release(),
      (lost) => client.release(lost),
    );
    // Who hears of the failure and tries again must not meet the locks of the first attempt.
    if (!options.readOnly) await ended;
    throw error;
  }
}

/** A transaction in which the rows of one tenant are seen, and no others. */
export function tenantTransact<T>(
  database: Database,
  tenantId: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return transact(database, { opening: openingFor(tenantId) }, work);
}

export function openingFor(tenantId: number): string {
  if (!Number.isSafeInteger(tenantId) || tenantId < 1) throw new Error('not a tenant id');
  return `select set_config('app.tenant', '${tenantId}', true)`;
}

function lastOf(result: pg.QueryResult | pg.QueryResult[]): pg.QueryResult {
  const last = Array.isArray(result) ? result.at(-1) : result;
  if (!last) throw new Error('no result');
  return last;
}

// Each pooled connection keeps one Kysely for its life: building one costs more than a query.
const txByClient = new WeakMap<pg.PoolClient, Tx>();

function txOf(client: pg.PoolClient): Tx {
  const known = txByClient.get(client);
  if (known) return known;
  const tx = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new ClientDriver(client),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  txByClient.set(client, tx);
  return tx;
}

/** Runs every statement on one connection, whose transaction is opened and closed by transact(). */
class ClientDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(client: pg.PoolClient) {
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

async function execute<R>(client: pg.PoolClient, query: CompiledQuery): Promise<QueryResult<R>> {
  const name = statementName(query.sql);
  const result = await client.query({
    ...(name === undefined ? {} : { name }),
    text: query.sql,
    values: query.parameters.map(toParameter),
  });
  return {
    rows: result.rows as R[],
    ...(result.rowCount === null ? {} : { numAffectedRows: BigInt(result.rowCount) }),
  };
}

const statementNames = new Map<string, string>();

function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= preparedTextsMax) return undefined;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
  statementNames.set(text, name);
  return name;
}

function toParameter(value: unknown): unknown {
  if (value instanceof Temporal.Instant || value instanceof Temporal.PlainDate) {
    return value.toString();
  }
  return value;
}

const parsers = new Map<number, (text: string) => unknown>([
  [20, parseBigint],
  [1082, (text) => text],
  [1184, (text) => Temporal.Instant.from(text.replace(' ', 'T'))],
]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text');
}

/** Ids and counts. Amounts can be larger than a JavaScript number holds: select those as text. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new Error(`bigint ${text} does not fit: select it as text`);
  return value;
}
