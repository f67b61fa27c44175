// The handle of a transaction, which runs `sql` templates.
import type { Statement, StatementResult } from './batch.ts';

/** A transaction: the only handle that stores are given. */
export type Tx = {
  run(statement: Statement): Promise<StatementResult>;
  /**
   * Sends a statement of which only the commit waits for the answer: it travels with the commit, or
   * with whatever comes next. If it fails, so does the transaction, with its error.
   */
  send(statement: Statement): Promise<void>;
  /** Finds one row by its key. Look-ups of several calls at the same time share one statement. */
  lookUp<Key extends number, Found>(
    lookup: Lookup<Key, Found>,
    tenantId: number,
    key: Key,
  ): Promise<Found | undefined>;
  /**
   * Runs the work in a short transaction of its own, which is committed at once, whatever becomes
   * of this one.
   */
  beside<T>(tenantId: number, work: (own: Tx) => Promise<T>): Promise<T>;
  /** Runs a `copy … from stdin` with these bytes and returns the number of rows. */
  copyIn(statement: string, parts: readonly Buffer[]): Promise<number>;
};

/** Finds the rows of several keys, all above zero, by one statement. Missing rows are left out. */
export type Lookup<Key extends number, Found> = (
  tx: Tx,
  tenantId: number,
  keys: readonly Key[],
) => Promise<ReadonlyMap<Key, Found>>;

/** Runs the statements of a transaction: on its own connection, or on one shared by reads. */
export type Runner = {
  run(statement: Statement): Promise<StatementResult>;
  /** Undefined where no commit would tell of a failure. */
  send?(statement: Statement): void;
  lookUp?: Tx['lookUp'];
  /** Undefined on a connection that reads share. */
  copy?(statement: string, parts: readonly Buffer[]): Promise<number>;
};

export type Beside = Tx['beside'];

export function txOn(runner: Runner, beside: Beside = refuseBeside): Tx {
  const tx: Tx = {
    run: (statement) => runner.run(statement),
    send: async (statement) => {
      if (runner.send) runner.send(statement);
      else await runner.run(statement);
    },
    lookUp: async (lookup, tenantId, key) => {
      if (runner.lookUp) return runner.lookUp(lookup, tenantId, key);
      return (await lookup(tx, tenantId, [key])).get(key);
    },
    beside,
    copyIn: (statement, parts) => {
      if (!runner.copy) throw new Error('a read on a shared connection cannot COPY rows in');
      return runner.copy(statement, parts);
    },
  };
  return tx;
}

function refuseBeside(): never {
  throw new Error('a read on a shared connection writes nothing beside itself');
}
