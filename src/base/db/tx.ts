// The handle of a transaction: what runs Kysely's `sql` templates on its connection.
import {
  type CompiledQuery,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryExecutor,
  type QueryExecutorProvider,
  type QueryId,
  type QueryResult,
  type RootOperationNode,
} from 'kysely';
import type { Statement, StatementResult } from './batch.ts';
import { toParameter } from './types.ts';

/** A transaction: the only handle that stores are given. */
export type Tx = QueryExecutorProvider & {
  /** For libraries that queue their own statements in a transaction of ours. */
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>;
};

/** What a transaction's statements run on: a connection of its own, or one that reads share. */
export type Runner = { run(statement: Statement): Promise<StatementResult> };

export function txOn(runner: Runner): Tx {
  return new Transaction(runner);
}

const compiler = new PostgresQueryCompiler();
const adapter = new PostgresAdapter();

/**
 * Statements are written as text, so nothing is needed of Kysely between a template and its SQL:
 * no plugins, no connection to acquire for each statement, no transaction of its own.
 */
class Transaction implements QueryExecutor {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  getExecutor(): QueryExecutor {
    return this;
  }

  async executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>> {
    const values = query.parameters.map(toParameter);
    const { rows, rowCount } = await this.#runner.run({ text: query.sql, values });
    if (rowCount === null) return { rows: rows as R[] };
    return { rows: rows as R[], numAffectedRows: BigInt(rowCount) };
  }

  get adapter(): PostgresAdapter {
    return adapter;
  }

  get plugins(): [] {
    return [];
  }

  transformQuery<T extends RootOperationNode>(node: T): T {
    return node;
  }

  compileQuery<R>(node: RootOperationNode, queryId: QueryId): CompiledQuery<R> {
    return compiler.compileQuery(node, queryId);
  }

  stream(): never {
    throw new Error('lists are read in chunks, not by cursor');
  }

  provideConnection(): never {
    throw new Error('a transaction has one connection');
  }

  withConnectionProvider(): never {
    throw new Error('a transaction has one connection');
  }

  withPlugin(): never {
    throw new Error('no plugins');
  }

  withPlugins(): never {
    throw new Error('no plugins');
  }

  withPluginAtFront(): never {
    throw new Error('no plugins');
  }

  withoutPlugins(): QueryExecutor {
    return this;
  }
}
