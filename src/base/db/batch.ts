// Several statements as one message to PostgreSQL and one answer from it.
//
// The driver sends each statement by itself and waits for its end, or, in its pipeline mode, sends
// them without waiting but has each answered by itself. Either way a call of five statements costs
// five wake-ups on both sides, which is more than the statements cost. Here all statements that are
// ready at one moment travel in one write with one Sync at its end, prepared by name, and described
// only once for each connection. A read of the API costs about half of what it did.
import type pg from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
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
type Known = { name: string; isParsed: boolean; read: RowReader | undefined };

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
    const waiting = { ...statement, resolve: () => {}, reject: () => {} };
    this.#later.push(waiting);
    setTimeout(() => {
      if (this.#later.includes(waiting)) this.#send();
    }, laterMs).unref();
  }

  #send(): void {
    const waiting = [...this.#later, ...this.#ready];
    this.#later = [];
    this.#ready = [];
    const known = waiting.map((statement) => this.#knownOf(statement.text));
    this.#client.query(new Batch(waiting, known) as unknown as pg.Submittable);
  }

  #knownOf(text: string): Known {
    const known = this.#known.get(text);
    if (known) return known;
    if (this.#known.size >= namedStatementsMax) {
      return { name: '', isParsed: false, read: undefined };
    }
    this.#names += 1;
    const made: Known = { name: `s${this.#names}`, isParsed: false, read: undefined };
    this.#known.set(text, made);
    return made;
  }
}

type Wire = { stream: { write(bytes: Buffer): void } };
type Described = { fields: { name: string; dataTypeID: number }[] };

/** What the driver calls a query: it is submitted, and told of each message of the answer. */
class Batch {
  readonly #waiting: Waiting[];
  readonly #known: Known[];
  /** The statement whose messages are arriving. */
  #at = 0;
  #rows: Record<string, unknown>[] = [];
  #read: RowReader | undefined;

  constructor(waiting: Waiting[], known: Known[]) {
    this.#waiting = waiting;
    this.#known = known;
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
      const { name, isParsed, read } = this.#known[index] as Known;
      // The same text twice in one batch is parsed once.
      if (!isParsed && !(name !== '' && parsing.has(name))) {
        messages.push(serialize.parse({ name, text: statement.text, types: [] }));
        parsing.add(name);
      }
      const values = [...statement.values];
      messages.push(serialize.bind({ statement: name, values, valueMapper: prepareValue }));
      if (!read) messages.push(serialize.describe({ type: 'P' }));
      messages.push(serialize.execute({}));
    });
    messages.push(serialize.sync());
    return messages;
  }

  handleRowDescription(message: Described): void {
    this.#read = rowReader(message);
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const read = this.#read ?? this.#known[this.#at]?.read;
    if (!read) throw new Error('a row came before its description');
    this.#rows.push(read(message.fields));
  }

  handleCommandComplete(message: { text: string }): void {
    const known = this.#known[this.#at];
    if (known && known.name !== '') {
      known.isParsed = true;
      known.read ??= this.#read ?? readNothing;
    }
    const [, command = '', count] = /^([A-Z ]+?)(?: \d+)?(?: (\d+))?$/.exec(message.text) ?? [];
    const rowCount = count === undefined ? null : Number(count);
    this.#waiting[this.#at]?.resolve({ command, rowCount, rows: this.#rows });
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
  }

  /** PostgreSQL skips what follows a failure up to the Sync: those statements fail with it. */
  handleError(error: unknown): void {
    for (let i = this.#at; i < this.#waiting.length; i += 1) {
      const known = this.#known[i];
      // Whether it was parsed before it failed is not known: it gets a name nobody has used.
      if (known && known.name !== '' && !known.isParsed) known.name = `${known.name}x`;
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
