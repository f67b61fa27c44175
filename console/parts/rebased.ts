// A form that stays open after it was saved: what was typed since then goes on top of what the server
// has stored.

/** What both sides changed in different ways, so that a person has to choose. */
export const clash = Symbol('clash');

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === plain;
}
const plain = Object.prototype;

/**
 * `mine` changed from `base`, as a change of `theirs`. Rows of a list belong together by their place:
 * a row that was saved may have got its number from the server.
 */
export function rebased(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isSame(base, mine)) return theirs;
  if (isSame(base, theirs) || isSame(mine, theirs)) return mine;
  // The server fills in some fields that are left empty, such as the label of a batch.
  if (base === '') return mine;
  if (Array.isArray(base) && Array.isArray(mine) && Array.isArray(theirs)) {
    if (base.length !== theirs.length || mine.length < base.length) return clash;
    return whole(
      mine.map((row, at) => (at < base.length ? rebased(base[at], row, theirs[at]) : row)),
    );
  }
  if (!(isRecord(base) && isRecord(mine) && isRecord(theirs))) return clash;
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  const values = whole(names.map((name) => rebased(base[name], mine[name], theirs[name])));
  if (values === clash) return clash;
  return Object.fromEntries(names.map((name, at) => [name, (values as unknown[])[at]]));
}

function whole(values: unknown[]): unknown {
  return values.includes(clash) ? clash : values;
}
