// Several statements as one message to PostgreSQL and one answer from it.
//
// The driver sends each statement by itself and waits for its end, or, in its pipeline mode, sends
// them without waiting but has each answered by itself. Either way a call of five statements costs
// five wake-ups on both sides, which is more than the statements cost. Here all statements that are
// ready at one moment travel in one write with one Sync at its end, prepared by name, and described
// only once for each connection.
import type pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import { from as copyFrom } from 'pg-copy-streams';
import { serialize } from 'pg-protocol';
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

/** `isFirst` where the connection had not seen all of the statements before: that takes longer. */
type WhenEnded = (end: { isFirst: boolean; error?: unknown }) => void;

/** A statement on its way, and who waits for its result. */
export type Waiting = Statement & {
  resolve(result: StatementResult): void;
  reject(error: unknown): void;
};

/** What a connection knows of a statement: its name there, and how to read its rows. */
type PreparedStatement = {
  name: string;
  isParsed: boolean;
  read: RowReader | undefined;
  /** The message that runs it, where it has no parameters and is therefore always the same. */
  message: Buffer | undefined;
};

/** Beyond this many texts on one connection, statements are sent without a name. */
const namedStatementsMax = 1_000;

/** One connection of a pool, and the statements that are about to be sent on it. */
export class BatchedClient {
  readonly #client: pg.PoolClient;
  readonly #known = new Map<string, PreparedStatement>();
  #ready: Waiting[] = [];
  #names = 0;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** Sent when the event loop turns, together with everything else that is ready by then. */
  run(statement: Statement): Promise<StatementResult> {
    noteStatement(statement.text);
    return new Promise((resolve, reject) => {
      this.#ready.push({ text: statement.text, values: statement.values, resolve, reject });
      if (this.#ready.length === 1) process.nextTick(() => this.#send());
    });
  }

  /** `copy … from stdin`, given all its bytes. Whatever is ready is sent before it. */
  copy(text: string, parts: readonly Buffer[]): Promise<number> {
    this.#send();
    noteStatement(text);
    return new Promise((resolve, reject) => {
      const stream = this.#client.query(copyFrom(text));
      stream.once('error', reject);
      stream.once('finish', () => resolve(stream.rowCount));
      for (const bytes of parts) stream.write(bytes);
      stream.end();
    });
  }

  #send(): void {
    const statements = this.#ready;
    if (statements.length === 0) return;
    this.#ready = [];
    this.runApart([statements], () => {});
  }

  /**
   * Sends groups of statements in one write, each with a Sync at its end. A group outside of a
   * transaction is a transaction of its own, and its failure affects no other group. Calls
   * `whenEnded` at the end of each group.
   */
  runApart(groups: readonly (readonly Waiting[])[], whenEnded: WhenEnded): void {
    const parsing = new Set<PreparedStatement>();
    const messages: Buffer[] = [];
    let first: Batch | undefined;
    let last: Batch | undefined;
    for (const group of groups) {
      const batch = new Batch(group, this, whenEnded);
      if (!batch.addMessages(messages, parsing)) continue;
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

  knownOf(text: string): PreparedStatement {
    const known = this.#known.get(text);
    if (known) return known;
    if (this.#known.size >= namedStatementsMax) return nameless();
    const made = { ...nameless(), name: this.newName() };
    this.#known.set(text, made);
    return made;
  }

  /** Short, however often a statement fails: PostgreSQL cuts names off at 63 characters. */
  newName(): string {
    this.#names += 1;
    return `s${this.#names}`;
  }
}

function nameless(): PreparedStatement {
  return { name: '', isParsed: false, read: undefined, message: undefined };
}

const failures = new WeakSet<Error>();

/**
 * True if one statement failed; the other statements of the same batch have received the same
 * error.
 */
export function isOfStatement(error: unknown): boolean {
  return error instanceof Error && failures.has(error);
}

const execute = serialize.execute({});
const sync = serialize.sync();

type Wire = { stream: { write(bytes: Buffer): void } };
type Described = { fields: { name: string; dataTypeID: number }[] };

/** What the driver calls a query: it is submitted, and told of each message of the answer. */
class Batch {
  readonly #waiting: readonly Waiting[];
  readonly #known: PreparedStatement[] = [];
  readonly #client: BatchedClient;
  readonly #whenEnded: WhenEnded;
  #isFirst = false;
  /** All that is to be written, where this is the first batch of a write. */
  bytes: Buffer | undefined;
  /** The batch that was written behind this one. */
  next: Batch | undefined;
  #isSubmitted = false;
  /** The statement whose messages are arriving. */
  #at = 0;
  #rows: Row[] = [];
  #read: RowReader | undefined;
  /** Why a row of the statement could not be turned into values. */
  #unreadable: Error | undefined;

  constructor(waiting: readonly Waiting[], client: BatchedClient, whenEnded: WhenEnded) {
    this.#waiting = waiting;
    this.#client = client;
    this.#whenEnded = whenEnded;
  }

  /** The driver gives a batch all answers up to a Sync, and is then ready for the one behind it. */
  submit(connection: Wire): undefined {
    this.#isSubmitted = true;
    if (this.bytes) connection.stream.write(this.bytes);
    this.bytes = undefined;
    if (this.next) this.#client.submit(this.next);
  }

  /**
   * Adds the messages of its statements. False where a value has no form that PostgreSQL takes, of
   * which those who wait have then heard.
   */
  addMessages(messages: Buffer[], parsing: Set<PreparedStatement>): boolean {
    const before = messages.length;
    const parsed: PreparedStatement[] = [];
    try {
      for (const statement of this.#waiting)
        this.#addStatement(statement, messages, parsing, parsed);
    } catch (error) {
      messages.length = before;
      this.handleError(error);
      return false;
    }
    messages.push(sync);
    for (const known of parsed) parsing.add(known);
    this.#isFirst = parsed.length > 0;
    return true;
  }

  #addStatement(
    statement: Statement,
    messages: Buffer[],
    parsing: ReadonlySet<PreparedStatement>,
    parsed: PreparedStatement[],
  ): void {
    let known = this.#client.knownOf(statement.text);
    // It is not known yet whether another batch of the write gets as far as parsing the statement.
    if (!known.isParsed && parsing.has(known)) known = nameless();
    this.#known.push(known);
    if (known.message) {
      messages.push(known.message);
      return;
    }
    // The same text twice in one batch is parsed once.
    if (!known.isParsed && !(known.name !== '' && parsed.includes(known))) {
      messages.push(serialize.parse({ name: known.name, text: statement.text, types: [] }));
      parsed.push(known);
    }
    const values = statement.values as unknown[];
    messages.push(serialize.bind({ statement: known.name, values, valueMapper: prepareValue }));
    if (!known.read) messages.push(serialize.describe({ type: 'P' }));
    messages.push(execute);
  }

  handleRowDescription(message: Described): void {
    this.#read = rowReader(message.fields);
  }

  handleDataRow(sent: SentRow): void {
    // Thrown from here it would end the process; it is a matter of the one statement.
    try {
      const read = this.#read ?? this.#known[this.#at]?.read;
      if (!read) throw new Error('a row came before its description');
      this.#rows.push(read(sent));
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
  }

  handleCommandComplete(message: { text: string }): void {
    const known = this.#known[this.#at];
    if (known && known.name !== '') {
      known.isParsed = true;
      known.read ??= this.#read ?? readNothing;
      if (this.#waiting[this.#at]?.values.length === 0) {
        known.message ??= Buffer.concat([serialize.bind({ statement: known.name }), execute]);
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

  /** PostgreSQL skips what follows a failure up to the Sync: those statements fail with it. */
  handleError(error: unknown): void {
    for (let i = this.#at; i < this.#waiting.length; i += 1) {
      const known = this.#known[i];
      // It is not known whether the statement was parsed before it failed, so it gets an unused
      // name.
      if (known && known.name !== '' && !known.isParsed) known.name = this.#client.newName();
      this.#waiting[i]?.reject(error);
    }
    this.#at = this.#waiting.length;
    failures.add(error as Error);
    this.#whenEnded({ isFirst: this.#isFirst, error });
    // The connection was lost before its turn came: the driver does not know of those behind it.
    if (!this.#isSubmitted) this.next?.handleError(error);
  }

  handleReadyForQuery(): void {
    if (this.#at === this.#waiting.length) this.#whenEnded({ isFirst: this.#isFirst });
    else this.handleError(new Error('PostgreSQL ended a batch before its last statement'));
  }

  handlePortalSuspended(): void {
    throw new Error('no statement asks for a part of its rows');
  }

  handleCopyInResponse(connection: { sendCopyFail(message: string): void }): void {
    connection.sendCopyFail('copy is not done in a batch');
  }

  handleCopyData(): void {}
}

/** `UPDATE 3`, `INSERT 0 3`, `COMMIT`: the command, and at the end the rows it touched. */
function resultOf(tag: string, rows: Row[]): StatementResult {
  const first = tag.indexOf(' ');
  if (first === -1) return { command: tag, rows, count: 0 };
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return { command: tag.slice(0, first), rows, count: Number.isNaN(count) ? 0 : count };
}

function readNothing(): Row {
  throw new Error('a statement without columns has no rows');
}
