/** `1 reading`, `2 readings`. Pass `many` if the plural is not `one` with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The most names that a message lists. */
const namedMax = 3;

/** `a, b and c`; if there are more than three, `a, b, c and 4 more`. */
export function firstFew(names: readonly string[], total = names.length): string {
  const named = names.slice(0, namedMax);
  const more = total - named.length;
  if (more > 0) return `${named.join(', ')} and ${more} more`;
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
