/** `1 reading`, `2 readings`; for a word whose plural has more than an s, both. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Names in a message: enough to begin with. */
const namedMax = 3;

/** `a, b and c`, or `a, b, c and 4 more` where there are more than are named. */
export function firstFew(names: readonly string[], total = names.length): string {
  const named = names.slice(0, namedMax);
  const more = total - named.length;
  if (more > 0) return `${named.join(', ')} and ${more} more`;
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
