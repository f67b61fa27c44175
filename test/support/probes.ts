// The ids, numbers and names of a workspace, and the fields of another one's requests to try them in.
import type pg from 'pg';
import { isRetrieve, type Operation } from '../../src/operations/operation.ts';
import { isOfType, type Json, type Node, type Path } from './requests.ts';
import { type Two, tablesOf } from './two-workspaces.ts';

/** `ATTACK_PROBES=all`, as each night, tries every value in every field. */
export const isWhole = process.env.ATTACK_PROBES === 'all';
/** Otherwise a field gets one value in so many: others in the next field, and in the next run. */
const share = 8;
export const attackSeed = Number(process.env.ATTACK_SEED ?? Math.floor(Math.random() * share));

/** The values that this run tries in a field of an operation. */
export function ofThisRun<T>(values: readonly T[], operation: Operation, path: Path): T[] {
  if (isWhole) return [...values];
  const place = `${operation.path} ${operation.action} ${path}`;
  const first = [...place].reduce((sum, letter) => sum + letter.charCodeAt(0), attackSeed);
  return values.filter((_value, index) => (first + index) % share === 0);
}

/** Values of another workspace, each with the columns that hold it. */
export type Probes = { numbers: Map<number, Set<string>>; texts: Map<string, Set<string>> };

const keyColumn = /(_id|_number|^number|^name|label|email|username|code|workspace)$/;

/** The keys of a workspace by table and column. */
async function keysOf(sql: pg.Client, tenantId: number): Promise<Map<string, unknown[]>> {
  const keys = new Map<string, unknown[]>();
  for (const table of await tablesOf(sql)) {
    const { rows } = await sql.query<{ row: Json }>(
      `select to_jsonb(t) as row from ${table} t where tenant_id = $1`,
      [tenantId],
    );
    for (const [column, value] of rows.flatMap(({ row }) => Object.entries(row))) {
      if (!keyColumn.test(column)) continue;
      const key = `${table}.${column}`;
      keys.set(key, [...(keys.get(key) ?? []), value]);
    }
  }
  return keys;
}

/**
 * One value of each key that B's rows have, and every number that A's do not have. The number of the
 * workspace is in all tables and is the id of nothing in them: it is related to no field.
 */
export async function probesOf(sql: pg.Client, { tenantA, tenantB, mark }: Two): Promise<Probes> {
  const own = new Set([...(await keysOf(sql, tenantA)).values()].flat());
  const probes: Probes = { numbers: new Map([[tenantB, new Set()]]), texts: new Map() };
  for (const [column, values] of await keysOf(sql, tenantB)) {
    if (column.endsWith('.tenant_id')) continue;
    const found = values.filter((value) => typeof value === 'number');
    const unknown = found.filter((number) => !own.has(number));
    for (const number of [...found.slice(-1), ...unknown]) note(probes.numbers, number, column);
    const text = values.findLast((one) => typeof one === 'string' && !one.includes(mark));
    if (text) note(probes.texts, String(text), column);
  }
  return probes;
}

export function note<T>(columns: Map<T, Set<string>>, value: T, column: string): void {
  columns.set(value, (columns.get(value) ?? new Set()).add(column));
}

/** Of the values that are related to a field, so many are tried. */
const relatedMax = 5;

/**
 * In a field, the values of columns that share most words with it, and some of the others in turns:
 * all in a filter that shares no word with any, such as `search`.
 */
export function probesFor(
  operation: Operation,
  node: Node,
  field: string,
  probes: Probes,
): (string | number)[] {
  const isText = isOfType(node, 'string');
  const all: [string | number, Set<string>][] = [...(isText ? probes.texts : probes.numbers)];
  const words = wordsOf(field).filter((word) => isText || !['id', 'numb'].includes(word));
  const shared = ([, columns]: (typeof all)[number]) => {
    const known = new Set([...columns].flatMap(wordsOf));
    return words.filter((word) => known.has(word)).length;
  };
  const related = all.filter((one) => shared(one) > 0).sort((a, b) => shared(b) - shared(a));
  const isFilter = related.length === 0 && isRetrieve(operation);
  if (isFilter || isWhole) return all.map(([one]) => one);
  const others = all.filter((one) => shared(one) === 0);
  const length = Math.min(others.length, related.length === 0 ? 6 : 2);
  const some = Array.from({ length }, () => others[turn++ % others.length] ?? []);
  return [...related.slice(0, relatedMax), ...some].flatMap(([one]) => one ?? []);
}

let turn = 0;

/** The words of a name, cut so that `parties` and `partyID` have one in common. */
function wordsOf(name: string): string[] {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return words.map((word) => word.toLowerCase().slice(0, 4).replace(/s$/, ''));
}
