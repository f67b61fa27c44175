// Reads share connections. PostgreSQL takes all statements up to a Sync as one transaction, so a
// read needs no begin and no commit: its opening, its statements and a Sync. Those of all calls that
// are ready in one turn of the event loop travel in one write on one connection, each up to a Sync
// of its own. Under load that is one wake-up of PostgreSQL for many calls instead of one for each;
// with nothing else going on, a read has a connection to itself.
import type pg from 'pg';
import type { BatchedClient, Group, Statement, StatementResult, Waiting } from './batch.ts';

/** Beyond this many they are spread over connections: PostgreSQL works on each with one core. */
const readsTogetherMax = 8;

export class ReadQueue {
  readonly #pool: pg.Pool;
  readonly #batchedOf: (client: pg.PoolClient) => BatchedClient;
  #ready: Group[] = [];

  constructor(pool: pg.Pool, batchedOf: (client: pg.PoolClient) => BatchedClient) {
    this.#pool = pool;
    this.#batchedOf = batchedOf;
  }

  /** The group is sent when the event loop turns, with what was added to it by then. */
  add(group: Group): void {
    this.#ready.push(group);
    if (this.#ready.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (let first = 0; first < ready.length; first += readsTogetherMax) {
      this.#sendTogether(ready.slice(first, first + readsTogetherMax));
    }
  }

  #sendTogether(groups: Group[]): void {
    this.#pool.connect((error, client) => {
      if (client) this.#batchedOf(client).runApart(groups, () => client.release());
      else for (const group of groups) failGroup(group, error);
    });
  }
}

function failGroup(group: Group, error: unknown): void {
  group.isSent = true;
  for (const waiting of group.statements) waiting.reject(error);
}

/**
 * A read: the statements that are ready together run in one read-only transaction, behind the
 * openings; statements that come when those are gone run in another, behind the same openings. That
 * is no less consistent than one transaction for all, in which every statement has a view of the
 * data of its own too.
 */
export class Read {
  readonly #queue: ReadQueue;
  readonly #openings: readonly Statement[];
  #group: Group | undefined;

  constructor(queue: ReadQueue, openings: readonly Statement[]) {
    this.#queue = queue;
    this.#openings = openings;
  }

  /** The row that the last of the openings answers. */
  open(): Promise<Record<string, unknown> | undefined> {
    return new Promise((resolve, reject) => {
      this.#newGroup(({ rows }) => resolve(rows[0]), reject);
    });
  }

  run(statement: Statement): Promise<StatementResult> {
    const group = this.#group && !this.#group.isSent ? this.#group : this.#newGroup(ignore, ignore);
    return new Promise((resolve, reject) => {
      group.statements.push({ text: statement.text, values: statement.values, resolve, reject });
    });
  }

  #newGroup(resolve: Waiting['resolve'], reject: Waiting['reject']): Group {
    const last = this.#openings.length - 1;
    const statements = this.#openings.map(({ text, values }, index) =>
      index === last
        ? { text, values, resolve, reject }
        : { text, values, resolve: ignore, reject: ignore },
    );
    this.#group = { statements, isSent: false };
    this.#queue.add(this.#group);
    return this.#group;
  }
}

function ignore(): void {}

const intoReadOnly = "select set_config('transaction_read_only', 'on', true), ";
const readOnlyTexts = new Map<string, string>();

/** The opening of a read, which also sees to it that the read changes nothing. */
export function readOnlyOpening(opening: Statement): Statement {
  let text = readOnlyTexts.get(opening.text);
  if (text === undefined) {
    if (!opening.text.startsWith('select ')) throw new Error('an opening is a select');
    text = opening.text.replace('select ', intoReadOnly);
    readOnlyTexts.set(opening.text, text);
  }
  return { text, values: opening.values };
}
