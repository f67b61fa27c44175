// The handle of a transaction: what runs `sql` templates on its connection.
import type { Statement, StatementResult } from './batch.ts';

/** A transaction: the only handle that stores are given. */
export type Tx = {
  run(statement: Statement): Promise<StatementResult>;
  /** One of many that can be looked up; calls that ask at the same time are answered together. */
  lookUp<Key extends number, Found>(
    lookup: Lookup<Key, Found>,
    tenantId: number,
    key: Key,
  ): Promise<Found | undefined>;
  /** Rows as the statement, a COPY, takes them; returns their number. */
  copyIn(statement: string, parts: readonly Buffer[]): Promise<number>;
};

/** Asks for many at once what can be asked for one: the found ones, by key, above zero. */
export type Lookup<Key extends number, Found> = (
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
  const tx: Tx = {
    run: (statement) => runner.run(statement),
    lookUp: async (lookup, tenantId, key) => {
      if (runner.lookUp) return runner.lookUp(lookup, tenantId, key);
      return (await lookup(tx, tenantId, [key])).get(key);
    },
    copyIn: (statement, parts) => {
      if (!runner.copy) throw new Error('a transaction that reads copies nothing in');
      return runner.copy(statement, parts);
    },
  };
  return tx;
}
