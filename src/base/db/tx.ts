// The handle of a transaction: what runs Kysely's `sql` templates on its connection.
import {
  type CompiledQuery,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryExecutor,
  type QueryExecutorProvider,
  type QueryResult,
} from 'kysely';
import type { BatchedClient } from './batch.ts';
import { toParameter } from './types.ts';

/** A transaction: the only handle that stores are given. */
export type Tx = QueryExecutorProvider & {
  /** For libraries that queue their own statements in a transaction of ours. */
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>;
  /** Rows in the text format of COPY; how many there were. */
  copyIn(statement: string, bytes: Buffer): Promise<number>;
};

/**
 * Statements are written as text, so nothing is needed of Kysely between a template and its SQL:
 * no plugins, no connection to acquire for each statement, no transaction of its own.
 */
export function txOn(client: BatchedClient): Tx {
  const compiler = new PostgresQueryCompiler();
  const adapter = new PostgresAdapter();
  async function executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>> {
    const result = await client.run({ text: query.sql, values: query.parameters.map(toParameter) });
    return {
      rows: result.rows as R[],
      ...(result.rowCount === null ? {} : { numAffectedRows: BigInt(result.rowCount) }),
    };
  }
  const executor: QueryExecutor = {
    adapter,
    plugins: [],
    transformQuery: (node) => node,
    compileQuery: (node, queryId) => compiler.compileQuery(node, queryId),
    executeQuery,
    stream: () => refuse('lists are read in chunks, not by cursor'),
    provideConnection: () => refuse('a transaction has one connection'),
    withConnectionProvider: () => refuse('a transaction has one connection'),
    withPlugin: () => refuse('no plugins'),
    withPlugins: () => refuse('no plugins'),
    withPluginAtFront: () => refuse('no plugins'),
    withoutPlugins: () => executor,
  };
  const copyIn = (statement: string, bytes: Buffer) => client.copy(statement, bytes);
  return { getExecutor: () => executor, executeQuery, copyIn };
}

function refuse(reason: string): never {
  throw new Error(reason);
}
