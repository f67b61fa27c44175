// Whole numbers as Urdu and Hindi name them: every number below a hundred has its own name, and
// larger ones are counted in hundreds, thousands, lakhs and crores.

export type SouthAsianNames = {
  /** 0 to 99. */
  readonly below100: readonly string[];
  readonly hundred: string;
  /** 10^3, 10^5, 10^7, 10^9 and 10^11. */
  readonly scales: readonly [string, string, string, string, string];
};

const scaleSizes = [10n ** 11n, 10n ** 9n, 10n ** 7n, 10n ** 5n, 10n ** 3n] as const;

/** Below 10^13. */
export function southAsianWords(value: bigint, names: SouthAsianNames): string {
  if (value === 0n) return names.below100[0] ?? '';
  const words: string[] = [];
  let rest = value;
  scaleSizes.forEach((size, index) => {
    const count = rest / size;
    if (count === 0n) return;
    words.push(names.below100[Number(count)] ?? '', names.scales[4 - index] ?? '');
    rest %= size;
  });
  const hundreds = Number(rest / 100n);
  if (hundreds > 0) words.push(names.below100[hundreds] ?? '', names.hundred);
  const last = Number(rest % 100n);
  if (last > 0) words.push(names.below100[last] ?? '');
  return words.join(' ');
}
