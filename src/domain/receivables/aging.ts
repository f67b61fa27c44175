// What is open by how long it is overdue.

export type Aging = {
  current: bigint;
  d1_30: bigint;
  d31_60: bigint;
  d61_90: bigint;
  over90: bigint;
};

const buckets = ['over90', 'd61_90', 'd31_60', 'd1_30', 'current'] as const;

/** Credits lessen what is oldest; what they are more than that lessens what is not due yet. */
export function agingOf(
  items: readonly { dueDate: string; open: bigint }[],
  asOf: Temporal.PlainDate,
): Aging {
  const aging: Aging = { current: 0n, d1_30: 0n, d31_60: 0n, d61_90: 0n, over90: 0n };
  let credit = 0n;
  for (const { dueDate, open } of items) {
    if (open < 0n) credit -= open;
    else aging[bucketOf(dueDate, asOf)] += open;
  }
  for (const bucket of buckets) {
    const used = credit < aging[bucket] ? credit : aging[bucket];
    aging[bucket] -= used;
    credit -= used;
  }
  aging.current -= credit;
  return aging;
}

/** The same in another unit, such as that of a currency. */
export function agingIn<Amount>(
  aging: Aging,
  convert: (minor: bigint) => Amount,
): Record<keyof Aging, Amount> {
  return {
    current: convert(aging.current),
    d1_30: convert(aging.d1_30),
    d31_60: convert(aging.d31_60),
    d61_90: convert(aging.d61_90),
    over90: convert(aging.over90),
  };
}

function bucketOf(dueDate: string, asOf: Temporal.PlainDate): keyof Aging {
  const { days } = Temporal.PlainDate.from(dueDate).until(asOf, { largestUnit: 'days' });
  if (days <= 0) return 'current';
  if (days <= 30) return 'd1_30';
  if (days <= 60) return 'd31_60';
  return days <= 90 ? 'd61_90' : 'over90';
}
