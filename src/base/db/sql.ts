// SQL as text with parameters: sql`select name from parties where tenant_id = ${tenantId}`. A value
// becomes a parameter; a piece of SQL becomes part of the text.
import type { Statement } from './batch.ts';
import type { Row } from './rows.ts';
import { toParameter } from './types.ts';

/** What a statement runs on: a transaction. */
export type Executor = { run(statement: Statement): Promise<SqlResult<Row>> };
export type Sender = { send(statement: Statement): Promise<void> };

/** `count` is the number of rows that the statement selected, inserted, updated or deleted. */
export type SqlResult<Selected> = { rows: Selected[]; count: number };

/** A statement or a piece of one. `Selected` is the shape of the rows it returns. */
export class Sql<Selected = unknown> {
  /** The text around the values: for a template, the same array at each evaluation. */
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.pieces = pieces;
    this.values = values;
  }

  execute(executor: Executor): Promise<SqlResult<Selected>> {
    return executor.run(statementOf(this)) as Promise<SqlResult<Selected>>;
  }

  /** Sends it with the commit, or with the next statement that the work waits for. */
  send(sender: Sender): Promise<void> {
    return sender.send(statementOf(this));
  }
}

export function sql<Selected = unknown>(
  pieces: TemplateStringsArray,
  ...values: readonly unknown[]
): Sql<Selected> {
  return new Sql<Selected>(pieces, values);
}

/** Text that is SQL itself. It never contains anything that a caller sent. */
sql.raw = <Selected = unknown>(text: string): Sql<Selected> => new Sql<Selected>([text], []);

/** The name of a table or a column, with its table where it has a dot: `b.status`. */
sql.ref = <Selected = unknown>(name: string): Sql<Selected> =>
  sql.raw<Selected>(name.split('.').map(quoted).join('.'));

/** A literal in the text itself, where the planner has to know it. */
sql.lit = (value: string | number | boolean | null): Sql =>
  sql.raw(typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value));

sql.join = <Selected = unknown>(
  items: readonly unknown[],
  separator: Sql = comma,
): Sql<Selected> => {
  const values = items.flatMap((item, index) => (index === 0 ? [item] : [separator, item]));
  return new Sql<Selected>(Array(values.length + 1).fill(''), values);
};

const comma = sql.raw(', ');

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Texts by the template they were made from. Most templates always contain the same pieces, so that
 * the text is put together once; where the pieces differ, it is put together anew.
 */
const texts = new WeakMap<readonly string[], { shape: readonly unknown[]; text: string }>();

export function statementOf(root: Sql): Statement {
  const shape: unknown[] = [];
  const values: unknown[] = [];
  addShape(root, shape, values);
  const last = texts.get(root.pieces);
  if (last !== undefined && isSame(last.shape, shape)) return { text: last.text, values };
  const text = textOf(root, { parameters: 0 });
  texts.set(root.pieces, { shape, text });
  return { text, values };
}

const parameter = Symbol('parameter');

/** Which pieces of text a statement has, in order, and the values of its parameters. */
function addShape(piece: Sql, shape: unknown[], values: unknown[]): void {
  // Raw text is made anew each time: it is compared as text, a template by its array.
  shape.push(piece.pieces.length === 1 ? piece.pieces[0] : piece.pieces);
  for (const value of piece.values) {
    if (value instanceof Sql) addShape(value, shape, values);
    else {
      shape.push(parameter);
      values.push(toParameter(value));
    }
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

function textOf(piece: Sql, count: { parameters: number }): string {
  let text = piece.pieces[0] ?? '';
  for (const [index, value] of piece.values.entries()) {
    if (value instanceof Sql) text += textOf(value, count);
    else {
      count.parameters += 1;
      text += `$${count.parameters}`;
    }
    text += piece.pieces[index + 1] ?? '';
  }
  return text;
}
