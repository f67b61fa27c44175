// Numbers of new subscriptions. The series of subscription ids is locked, so that no other call of
// the workspace assigns numbers at the same time.
import type { Tx } from '../../base/db/pool.ts';
import { formatNumber } from '../tenants/number-format.ts';
import { findLastNumber, takeNumbers } from '../tenants/numbers-store.ts';
import { listTakenNumbers } from './lookups-store.ts';

export type NumberlessSubscription = { serviceCode: string; batchCode: string };

/** Looked at in one round; a bulk load may have taken a long stretch of the series. */
const windowMax = 10_000;
const roundsMax = 1_000;

/**
 * The next numbers of the workspace's series, in its format. Those that a bulk load brought along
 * are passed over.
 */
export async function giveNumbers(
  tx: Tx,
  tenantId: number,
  wanted: readonly NumberlessSubscription[],
  options: { format: string; today: Temporal.PlainDate; alsoTaken: ReadonlySet<string> },
): Promise<string[]> {
  const given: string[] = [];
  if (wanted.length === 0) return given;
  const last = await findLastNumber(tx, tenantId, 'subscription-number');
  let next = last + 1;
  let window = wanted.length;
  for (let round = 1; given.length < wanted.length; round += 1) {
    if (round > roundsMax) throw new Error('no free subscription number was found');
    const rest = wanted.slice(given.length);
    const kinds = [...new Map(rest.map((one) => [textOf(one, 0, options), one])).values()];
    const numbers = Array.from({ length: window }, (_, index) => next + index);
    const texts = numbers.flatMap((number) => kinds.map((kind) => textOf(kind, number, options)));
    const taken = await listTakenNumbers(tx, tenantId, texts);
    for (const number of numbers) {
      const one = wanted[given.length];
      if (!one) break;
      const text = textOf(one, number, options);
      next = number + 1;
      if (!taken.has(text) && !options.alsoTaken.has(text)) given.push(text);
    }
    window = Math.min(window * 2, windowMax);
  }
  await takeNumbers(tx, tenantId, 'subscription-number', next - 1 - last);
  return given;
}

function textOf(
  one: NumberlessSubscription,
  number: number,
  { format, today }: { format: string; today: Temporal.PlainDate },
): string {
  return formatNumber(format, { ...one, number, date: today });
}
