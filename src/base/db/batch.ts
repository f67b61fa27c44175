// Several statements as one message to PostgreSQL and one answer from it.
//
// The driver sends each statement by itself and waits for its answer. In its pipeline mode it does
// not wait, but each statement still has its own answer. Either way, five statements cause five
// wake-ups on both sides, which cost more than the statements themselves. Here all statements that
// are ready at the same moment are sent in one write with one Sync at the end. They are prepared by
// name, and described once for each connection.
import type pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import { serialize } from 'pg-protocol';
import { tracedStatement } from '../tracing.ts';
import { copyInto } from './copy-into.ts';
import { type Row, type RowReader, rowReader, type SentRow } from './rows.ts';
import { noteStatement } from './watch.ts';

export type Statement = { text: string; values: readonly unknown[] };

export type StatementResult = {
  /** BEGIN, SELECT, INSERT, … */
  command: string;
  rows: Row[];
  /** Rows that were selected, inserted, updated or deleted. */
  count: number;
};

/** `isFirst`: a statement was new to the connection and had to be parsed, which takes longer. */
type WhenEnded = (end: { isFirst: boolean; error?: unknown }) => void;

/** A statement that was not answered yet, with the promise of its result. */
export type Waiting = Statement & {
  resolve(result: StatementResult): void;
  reject(error: unknown): void;
};

/** A statement as it is prepared on a connection: its name there, and how to read its rows. */
type PreparedStatement = {
  name: string;
  /** PostgreSQL was asked to parse it under its name, and has not answered yet. */
  isParsing: boolean;
  isParsed: boolean;
  read: RowReader | undefined;
  /** The message that runs it; kept only if it has no parameters and so is always the same. */
  message: Buffer | undefined;
};

/** If a connection has this many prepared statements, further ones are sent without a name. */
const namedStatementsMax = 1_000;

/** One connection of a pool, and the statements that are about to be sent on it. */
export class BatchedClient {
  readonly #client: pg.PoolClient;
  readonly #prepared = new Map<string, PreparedStatement>();
  #ready: Waiting[] = [];
  #names = 0;
  #failure: { error: unknown } | undefined;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** Sends the statement in the next tick, together with all others that are ready by then. */
  run(statement: Statement): Promise<StatementResult> {
    noteStatement(statement.text);
    const answer = new Promise<StatementResult>((resolve, reject) => {
      this.#ready.push({ text: statement.text, values: statement.values, resolve, reject });
      if (this.#ready.length === 1) process.nextTick(() => this.#send());
    });
    return tracedStatement(statement.text, answer);
  }

  /** Sends a statement without waiting for its answer, which comes before that of the next one. */
  send(statement: Statement): void {
    this.run(statement).catch((error) => {
      this.#failure ??= { error };
    });
  }

  /** The first failure of a statement that was not waited for, since this was last asked. */
  takeFailure(): { error: unknown } | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Runs `copy … from stdin` with these bytes, after the statements that are ready. */
  copy(text: string, parts: readonly Buffer[]): Promise<number> {
    this.#send();
    noteStatement(text);
    const answer = new Promise<number>((resolve, reject) => {
      const stream = copyInto(this.#client, text);
      stream.once('error', reject);
      stream.once('finish', () => resolve(stream.rowCount));
      for (const bytes of parts) stream.write(bytes);
      stream.end();
    });
    return tracedStatement(text, answer);
  }

  #send(): void {
    const statements = this.#ready;
    if (statements.length === 0) return;
    this.#ready = [];
    this.sendGroups([statements], () => {});
  }

  /**
   * Sends groups of statements in one write, with a Sync at the end of each group. Outside of a
   * transaction, each group is a transaction of its own, and its failure affects no other group.
   * Calls `whenEnded` at the end of each group.
   */
  sendGroups(groups: readonly (readonly Waiting[])[], whenEnded: WhenEnded): void {
    const messages: Buffer[] = [];
    let first: Batch | undefined;
    let last: Batch | undefined;
    for (const group of groups) {
      const batch = new Batch(group, this, whenEnded);
      if (!batch.addMessages(messages)) continue;
      if (last) last.next = batch;
      first ??= batch;
      last = batch;
    }
    if (!first) return;
    first.bytes = Buffer.concat(messages);
    this.submit(first);
  }

  submit(batch: Batch): void {
    this.#client.query(batch as unknown as pg.Submittable);
  }

  preparedOf(text: string): PreparedStatement {
    const prepared = this.#prepared.get(text);
    if (prepared) return prepared;
    if (this.#prepared.size >= namedStatementsMax) return unnamed();
    const made = { ...unnamed(), name: this.newName() };
    this.#prepared.set(text, made);
    return made;
  }

  /** A counter keeps names short: PostgreSQL cuts them off at 63 characters. */
  newName(): string {
    this.#names += 1;
    return `s${this.#names}`;
  }
}

function unnamed(): PreparedStatement {
  return { name: '', isParsing: false, isParsed: false, read: undefined, message: undefined };
}

const failures = new WeakSet<Error>();

/**
 * True if a statement of a batch failed. Later statements of the batch have been rejected with the
 * same error.
 */
export function isStatementError(error: unknown): boolean {
  return error instanceof Error && failures.has(error);
}

const execute = serialize.execute({});
const sync = serialize.sync();

type Wire = { stream: { write(bytes: Buffer): void } };
type Described = { fields: { name: string; dataTypeID: number }[] };

/** A query in the sense of the driver, which submits it and then passes it each message. */
class Batch {
  readonly #waiting: readonly Waiting[];
  readonly #prepared: PreparedStatement[] = [];
  readonly #client: BatchedClient;
  readonly #whenEnded: WhenEnded;
  #isFirst = false;
  /** In the first batch of a write: the bytes of all batches. */
  bytes: Buffer | undefined;
  /** The next batch of the same write. */
  next: Batch | undefined;
  #isSubmitted = false;
  /** Index of the statement that is being answered. */
  #at = 0;
  #rows: Row[] = [];
  #read: RowReader | undefined;
  /** The error with which reading a row of the current statement failed. */
  #unreadable: Error | undefined;

  constructor(waiting: readonly Waiting[], client: BatchedClient, whenEnded: WhenEnded) {
    this.#waiting = waiting;
    this.#client = client;
    this.#whenEnded = whenEnded;
  }

  /** The driver passes messages to this batch up to its Sync, and then to the next batch. */
  submit(connection: Wire): undefined {
    this.#isSubmitted = true;
    if (this.bytes) connection.stream.write(this.bytes);
    this.bytes = undefined;
    if (this.next) this.#client.submit(this.next);
  }

  /**
   * Adds the messages of its statements. If a value cannot be sent to PostgreSQL, rejects all
   * statements of the batch and returns false.
   */
  addMessages(messages: Buffer[]): boolean {
    const before = messages.length;
    const parsed: PreparedStatement[] = [];
    try {
      for (const statement of this.#waiting) this.#addStatement(statement, messages, parsed);
    } catch (error) {
      messages.length = before;
      this.handleError(error);
      return false;
    }
    messages.push(sync);
    for (const prepared of parsed) prepared.isParsing = true;
    this.#isFirst = parsed.length > 0;
    return true;
  }

  #addStatement(statement: Statement, messages: Buffer[], parsed: PreparedStatement[]): void {
    let prepared = this.#client.preparedOf(statement.text);
    // An earlier batch parses it too, but may fail before: the name may exist by then, or not.
    if (prepared.isParsing) prepared = unnamed();
    this.#prepared.push(prepared);
    if (prepared.message) {
      messages.push(prepared.message);
      return;
    }
    // The same text twice in one batch is parsed once.
    if (!prepared.isParsed && !(prepared.name !== '' && parsed.includes(prepared))) {
      messages.push(serialize.parse({ name: prepared.name, text: statement.text, types: [] }));
      parsed.push(prepared);
    }
    const values = statement.values as unknown[];
    messages.push(serialize.bind({ statement: prepared.name, values, valueMapper: prepareValue }));
    if (!prepared.read) messages.push(serialize.describe({ type: 'P' }));
    messages.push(execute);
  }

  handleRowDescription(message: Described): void {
    this.#read = rowReader(message.fields);
  }

  handleDataRow(sent: SentRow): void {
    // An error thrown from here would end the process, so it rejects the statement instead.
    try {
      const read = this.#read ?? this.#prepared[this.#at]?.read;
      if (!read) throw new Error('a row came before its description');
      this.#rows.push(read(sent));
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
  }

  handleCommandComplete(message: { text: string }): void {
    const prepared = this.#prepared[this.#at];
    if (prepared && prepared.name !== '') {
      prepared.isParsing = false;
      prepared.isParsed = true;
      prepared.read ??= this.#read ?? readNothing;
      if (this.#waiting[this.#at]?.values.length === 0) {
        prepared.message ??= Buffer.concat([serialize.bind({ statement: prepared.name }), execute]);
      }
    }
    if (this.#unreadable) this.#waiting[this.#at]?.reject(this.#unreadable);
    else this.#waiting[this.#at]?.resolve(resultOf(message.text, this.#rows));
    this.#next();
  }

  handleEmptyQuery(): void {
    this.#waiting[this.#at]?.resolve({ command: '', rows: [], count: 0 });
    this.#next();
  }

  #next(): void {
    this.#at += 1;
    this.#rows = [];
    this.#read = undefined;
    this.#unreadable = undefined;
  }

  /** After a failure PostgreSQL skips all statements up to the Sync: they are rejected as well. */
  handleError(error: unknown): void {
    for (let i = this.#at; i < this.#waiting.length; i += 1) {
      const prepared = this.#prepared[i];
      // PostgreSQL may have parsed the statement under its name before it failed: use a new name.
      if (prepared && prepared.name !== '' && !prepared.isParsed) {
        prepared.name = this.#client.newName();
        prepared.isParsing = false;
      }
      this.#waiting[i]?.reject(error);
    }
    this.#at = this.#waiting.length;
    failures.add(error as Error);
    this.#whenEnded({ isFirst: this.#isFirst, error });
    // The connection was lost before this batch was submitted, so the driver rejects none after it.
    if (!this.#isSubmitted) this.next?.handleError(error);
  }

  handleReadyForQuery(): void {
    if (this.#at === this.#waiting.length) this.#whenEnded({ isFirst: this.#isFirst });
    else this.handleError(new Error('PostgreSQL ended a batch before its last statement'));
  }

  handlePortalSuspended(): void {
    throw new Error('PostgreSQL suspended a statement, although all rows were requested');
  }

  handleCopyInResponse(connection: { sendCopyFail(message: string): void }): void {
    connection.sendCopyFail('COPY cannot run in a batch');
  }

  handleCopyData(): void {}
}

/** From a tag such as `UPDATE 3`, `INSERT 0 3` or `COMMIT`: the command, and the number of rows. */
function resultOf(tag: string, rows: Row[]): StatementResult {
  const first = tag.indexOf(' ');
  if (first === -1) return { command: tag, rows, count: 0 };
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return { command: tag.slice(0, first), rows, count: Number.isNaN(count) ? 0 : count };
}

function readNothing(): Row {
  throw new Error('a statement without columns has no rows');
}
