/** `1 reading`, `2 readings`; for a word whose plural has more than an s, both. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
