// Arrays as PostgreSQL reads them. The driver escapes every element by itself, which for a hundred
// thousand rows takes longer than storing them.

/** Of numbers, and of texts that hold letters, digits and points alone. */
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'null').join(',')}}`;
}

/** The texts as a PostgreSQL array; null if the list is empty. */
export function textArray(values: readonly (string | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  return `{${values.map(quoted).join(',')}}`;
}

function quoted(value: string | null): string {
  return value === null ? 'null' : `"${value.replace(/["\\]/g, '\\$&')}"`;
}
