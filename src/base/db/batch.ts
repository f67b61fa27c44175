// Several statements as one message to PostgreSQL and one answer from it.
//
// The driver sends each statement by itself and waits for its end, or, in its pipeline mode, sends
// them without waiting but has each answered by itself. Either way a call of five statements costs
// five wake-ups on both sides, which is more than the statements cost. Here all statements that are
// ready at one moment travel in one write with one Sync at its end, prepared by name, and described
// only once for each connection. A read of the API costs about half of what it did.
import type pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import { from as copyFrom } from 'pg-copy-streams';
import { serialize } from 'pg-protocol';
import { parserOf } from './types.ts';

export type Statement = { text: string; values: readonly unknown[] };

export type StatementResult = {
  /** BEGIN, SELECT, INSERT, … */
  command: string;
  rowCount: number | null;
  rows: Record<string, unknown>[];
};

type Waiting = Statement & {
  resolve(result: StatementResult): void;
  reject(error: unknown): void;
};

type RowReader = (values: readonly (string | null)[]) => Record<string, unknown>;

/** What a connection knows of a statement: its name there, and how to read its rows. */
type Known = {
  name: string;
  isParsed: boolean;
  read: RowReader | undefined;
  /** The message that runs it, where it has no parameters and is therefore always the same. */
  message: Buffer | undefined;
};

/** A statement that can wait is sent by itself when nothing else came by then. */
const laterMs = 5;

/** Beyond this many texts on one connection, statements are sent without a name. */
const namedStatementsMax = 1_000;

/** One connection of a pool, and the statements that are about to be sent on it. */
export class BatchedClient {
  readonly #client: pg.PoolClient;
  readonly #known = new Map<string, Known>();
  #ready: Waiting[] = [];
  #later: Waiting[] = [];
  #names = 0;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** Sent when the event loop turns, together with everything else that is ready by then. */
  run(statement: Statement): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      this.#ready.push({ ...statement, resolve, reject });
      if (this.#ready.length === 1) process.nextTick(() => this.#send());
    });
  }

  /**
   * Goes ahead of the next statement, whenever that is sent, or alone after a moment. For the end
   * of a read, of which nobody waits to hear: sent at once it would cost as much as the read.
   */
  runLater(statement: Statement): void {
    this.#later.push({ ...statement, resolve: () => {}, reject: () => {} });
    remember(this);
  }

  /** `copy … from stdin`, given all its bytes. Whatever was ready before is sent before it. */
  copy(text: string, bytes: Buffer): Promise<number> {
    this.sendReady();
    return new Promise((resolve, reject) => {
      const stream = this.#client.query(copyFrom(text));
      stream.once('error', reject);
      stream.once('finish', () => resolve(stream.rowCount));
      stream.end(bytes);
    });
  }

  /** Sends what is ready or was to go with the next statement. */
  sendReady(): void {
    if (this.#ready.length + this.#later.length > 0) this.#send();
  }

  /** Sends what was to go with the next statement, which has not come. */
  sendLater(): void {
    if (this.#later.length > 0) this.#send();
  }

  #send(): void {
    if (this.#ready.length + this.#later.length === 0) return;
    const waiting = [...this.#later, ...this.#ready];
    this.#later = [];
    this.#ready = [];
    const known = waiting.map((statement) => this.#knownOf(statement.text));
    const rename = () => this.#newName();
    this.#client.query(new Batch(waiting, known, rename) as unknown as pg.Submittable);
  }

  #knownOf(text: string): Known {
    const known = this.#known.get(text);
    if (known) return known;
    if (this.#known.size >= namedStatementsMax) {
      return { name: '', isParsed: false, read: undefined, message: undefined };
    }
    const made: Known = {
      name: this.#newName(),
      isParsed: false,
      read: undefined,
      message: undefined,
    };
    this.#known.set(text, made);
    return made;
  }

  /** Short, however often a statement fails: PostgreSQL cuts names off at 63 characters. */
  #newName(): string {
    this.#names += 1;
    return `s${this.#names}`;
  }
}

// One timer for all connections: one for each read would cost as much as it saves.
const holding = new Set<BatchedClient>();

function remember(client: BatchedClient): void {
  if (holding.size === 0) setTimeout(sendHeld, laterMs).unref();
  holding.add(client);
}

function sendHeld(): void {
  const clients = [...holding];
  holding.clear();
  for (const client of clients) client.sendLater();
}

const execute = serialize.execute({});
const sync = serialize.sync();

type Wire = { stream: { write(bytes: Buffer): void } };
type Described = { fields: { name: string; dataTypeID: number }[] };

/** What the driver calls a query: it is submitted, and told of each message of the answer. */
class Batch {
  readonly #waiting: Waiting[];
  readonly #known: Known[];
  /** Gives a name that no statement of the connection has had. */
  readonly #rename: () => string;
  /** The statement whose messages are arriving. */
  #at = 0;
  #rows: Record<string, unknown>[] = [];
  #read: RowReader | undefined;
  /** Why a row of the statement could not be turned into values. */
  #unreadable: Error | undefined;

  constructor(waiting: Waiting[], known: Known[], rename: () => string) {
    this.#waiting = waiting;
    this.#known = known;
    this.#rename = rename;
  }

  submit(connection: Wire): Error | undefined {
    try {
      connection.stream.write(Buffer.concat(this.#messages()));
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #messages(): Buffer[] {
    const messages: Buffer[] = [];
    const parsing = new Set<string>();
    this.#waiting.forEach((statement, index) => {
      const known = this.#known[index] as Known;
      if (known.message) {
        messages.push(known.message);
        return;
      }
      // The same text twice in one batch is parsed once.
      if (!known.isParsed && !(known.name !== '' && parsing.has(known.name))) {
        messages.push(serialize.parse({ name: known.name, text: statement.text, types: [] }));
        parsing.add(known.name);
      }
      const values = statement.values as unknown[];
      messages.push(serialize.bind({ statement: known.name, values, valueMapper: prepareValue }));
      if (!known.read) messages.push(serialize.describe({ type: 'P' }));
      messages.push(execute);
    });
    messages.push(sync);
    return messages;
  }

  handleRowDescription(message: Described): void {
    this.#read = rowReader(message);
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    // Thrown from here it would end the process; it is a matter of the one statement.
    try {
      const read = this.#read ?? this.#known[this.#at]?.read;
      if (!read) throw new Error('a row came before its description');
      this.#rows.push(read(message.fields));
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
    else this.#waiting[this.#at]?.resolve({ ...readTag(message.text), rows: this.#rows });
    this.#next();
  }

  handleEmptyQuery(): void {
    this.#waiting[this.#at]?.resolve({ command: '', rowCount: null, rows: [] });
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
      // Whether it was parsed before it failed is not known: it gets a name nobody has used.
      if (known && known.name !== '' && !known.isParsed) known.name = this.#rename();
      this.#waiting[i]?.reject(error);
    }
    this.#at = this.#waiting.length;
  }

  handleReadyForQuery(): void {
    if (this.#at < this.#waiting.length) {
      this.handleError(new Error('PostgreSQL ended a batch before its last statement'));
    }
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
function readTag(tag: string): { command: string; rowCount: number | null } {
  const first = tag.indexOf(' ');
  if (first === -1) return { command: tag, rowCount: null };
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return { command: tag.slice(0, first), rowCount: Number.isNaN(count) ? null : count };
}

function readNothing(): Record<string, unknown> {
  throw new Error('a statement without columns has no rows');
}

function rowReader(described: Described): RowReader {
  const columns = described.fields.map((field) => ({
    name: field.name,
    parse: parserOf(field.dataTypeID),
  }));
  return (values) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < columns.length; i += 1) {
      const column = columns[i];
      const value = values[i];
      if (column)
        row[column.name] = value === null || value === undefined ? null : column.parse(value);
    }
    return row;
  };
}
