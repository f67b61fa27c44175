// Quantities that are agreed with a subscription, and what was uploaded in their place for terms.
import type { BilledRow, UsageRow } from './inputs-store.ts';

/** With the days of the term that it was uploaded for. */
export type UploadedQuantity = UsageRow & { start_date: string; end_date: string };

type Step = {
  name: string;
  value: string;
  fromDate?: string;
  /** What was agreed, again, after the days of an upload. */
  isBack?: true;
};

/**
 * Replaces an agreed quantity by the one uploaded for a term: on all its days, or from a date on.
 */
export function withQuantities(
  billed: readonly BilledRow[],
  uploaded: readonly UploadedQuantity[],
  termEnd: string,
): readonly BilledRow[] {
  if (uploaded.length === 0) return billed;
  const uploadedOf = Map.groupBy(uploaded, (row) => row.subscription_id);
  return billed.map((row) => {
    const own = uploadedOf.get(row.subscription_id);
    if (own === undefined) return row;
    const agreed = row.quantities ?? [];
    const byName = Map.groupBy(own.toSorted(byTerm), ({ input }) => input);
    const quantities = [
      ...agreed.filter(({ name }) => !byName.has(name)),
      ...[...byName].flatMap(([name, rows]) => {
        const known = agreed.filter((one) => one.name === name);
        return stepsOf(name, known, rows, termEnd);
      }),
    ];
    return { ...row, quantities: quantities.sort(byDay) };
  });
}

/** By the days of their terms; what is of a whole term comes before what is from a day on. */
function byTerm(a: UploadedQuantity, b: UploadedQuantity): number {
  const key = ({ start_date, end_date, usage_date }: UploadedQuantity) =>
    `${start_date} ${end_date} ${usage_date ?? ''}`;
  return key(a) < key(b) ? -1 : 1;
}

const byDay = (a: Step, b: Step) => ((a.fromDate ?? '') < (b.fromDate ?? '') ? -1 : 1);

function stepsOf(
  name: string,
  agreed: readonly Step[],
  rows: readonly UploadedQuantity[],
  termEnd: string,
): Step[] {
  let steps: Step[] = [...agreed];
  for (const { start_date: start, end_date: end, usage_date: date, quantity: value } of rows) {
    const next = Temporal.PlainDate.from(end).add({ days: 1 }).toString();
    const fromDate = date ?? start;
    const isReplaced = (one: Step) => {
      const from = one.fromDate ?? '';
      if (date === null) return from >= start && from <= end;
      return from === date || (one.isBack === true && from >= date && from <= start);
    };
    const after = agreed.findLast((one) => (one.fromDate ?? '') <= next);
    steps = [...steps.filter((one) => !isReplaced(one)), { name, value, fromDate }];
    const isEnded = end < termEnd && !steps.some((one) => one.fromDate === next);
    if (isEnded && after) steps.push({ name, value: after.value, fromDate: next, isBack: true });
  }
  const sorted = steps.sort(byDay).map(({ isBack: _isBack, ...step }) => step);
  const [first, ...others] = sorted;
  // Where nothing was agreed, nothing else can hold on the days before.
  if (agreed.length > 0 || first === undefined) return sorted;
  return [{ name, value: first.value }, ...others];
}
