// What may be wider than its place scrolls by itself, and the keyboard can do that too.

/** Properties of the element around a table. */
export function scrolls(label: string) {
  return {
    role: 'region',
    tabIndex: 0,
    'aria-label': label,
    style: { overflowX: 'auto' },
  } as const;
}
