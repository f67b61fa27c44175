// The handle of a transaction: what runs Kysely's `sql` templates on its connection.
import {
  type CompiledQuery,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryExecutor,
  type QueryExecutorProvider,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  ValueNode,
} from 'kysely';
import type { Statement, StatementResult } from './batch.ts';
import { toParameter } from './types.ts';

/** A transaction: the only handle that stores are given. */
export type Tx = QueryExecutorProvider & {
  /** For libraries that queue their own statements in a transaction of ours. */
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>;
  /** One of many that can be looked up; calls that ask at the same time are answered together. */
  lookUp<Key, Found>(
    lookup: Lookup<Key, Found>,
    tenantId: number,
    key: Key,
  ): Promise<Found | undefined>;
  /** Rows as the statement, a COPY, takes them; how many there were. */
  copyIn(statement: string, parts: readonly Buffer[]): Promise<number>;
};

/** Asks for many at once what can be asked for one: the found ones, by key. */
export type Lookup<Key, Found> = (
  tx: Tx,
  tenantId: number,
  keys: readonly Key[],
) => Promise<ReadonlyMap<Key, Found>>;

/** What a transaction's statements run on: a connection of its own, or one that reads share. */
export type Runner = {
  run(statement: Statement): Promise<StatementResult>;
  lookUp?: Tx['lookUp'];
  /** Only on a connection of its own. */
  copy?(statement: string, parts: readonly Buffer[]): Promise<number>;
};

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

  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>> {
    const values = query.parameters.map(toParameter);
    return this.#runner.run({ text: query.sql, values }) as Promise<QueryResult<R>>;
  }

  async lookUp<Key, Found>(
    lookup: Lookup<Key, Found>,
    tenantId: number,
    key: Key,
  ): Promise<Found | undefined> {
    if (this.#runner.lookUp) return this.#runner.lookUp(lookup, tenantId, key);
    return (await lookup(this, tenantId, [key])).get(key);
  }

  copyIn(statement: string, parts: readonly Buffer[]): Promise<number> {
    if (!this.#runner.copy) throw new Error('a transaction that reads copies nothing in');
    return this.#runner.copy(statement, parts);
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
    if (!RawNode.is(node)) return compiler.compileQuery(node, queryId);
    const found: Parts = { fragments: [], values: [] };
    if (!addParts(node, found)) return compiler.compileQuery(node, queryId);
    const known = templates.get(node.sqlFragments);
    if (known && isSame(known.fragments, found.fragments)) {
      return { query: node, queryId, sql: known.sql, parameters: found.values };
    }
    const compiled = compiler.compileQuery(node, queryId);
    if (!known) templates.set(node.sqlFragments, { ...found, sql: compiled.sql });
    return compiled;
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

/** The pieces of text of a template and of those within it, and the values between them. */
type Parts = { fragments: (readonly string[])[]; values: unknown[] };

/**
 * A template's SQL is put together once and then known by the template's own pieces, which the
 * language keeps the same for every evaluation of one place in the code.
 */
const templates = new WeakMap<readonly string[], Pick<Parts, 'fragments'> & { sql: string }>();

/** False where a template holds more than values and templates: its text may differ each time. */
function addParts(node: RawNode, parts: Parts): boolean {
  parts.fragments.push(node.sqlFragments);
  for (const parameter of node.parameters) {
    if (ValueNode.is(parameter) && !parameter.immediate) parts.values.push(parameter.value);
    else if (!RawNode.is(parameter) || !addParts(parameter, parts)) return false;
  }
  return true;
}

function isSame(known: Parts['fragments'], found: Parts['fragments']): boolean {
  return known.length === found.length && known.every((one, index) => one === found[index]);
}
