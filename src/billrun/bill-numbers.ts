// Numbers of bills as people see them: gapless in each series, and none given twice. One format
// never prints a number twice, but two series may: 1{number} and {number} both print 112.

import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { Stamp } from '../base/stamp.ts';
import {
  findRun,
  listReservations,
  type NumberRange,
  updateReservation,
} from '../domain/bills/generate/runs-store.ts';
import {
  findGivenNumber,
  hasNumbersBetween,
  insertRetired,
  listDrafts,
  type Numbered,
} from '../domain/bills/posting/post-store.ts';
import {
  fillFormat,
  findCommonNumber,
  type PrintedRange,
  printNumber,
  seriesKey,
} from '../domain/tenants/number-format.ts';
import { lockNumbering, takeFromSeries } from '../domain/tenants/number-series-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import type { Term } from '../domain/terms/store.ts';

/** Numbers looked for at once. */
const lookupSize = 1_000;

/**
 * Reserves numbers for all bills of a posting. The format is stored with them: a posting that has
 * begun continues in its own series, even if the settings change.
 */
export async function reserveNumbers(
  tx: Tx,
  tenantId: number,
  term: Term,
  { postingDate, count }: { postingDate: string; count: number },
): Promise<NumberRange> {
  const settings = await findSettings(tx, tenantId);
  const format = fillFormat(settings.bill_number_format, {
    serviceCode: term.context_code,
    batchCode: term.batch_code,
    date: Temporal.PlainDate.from(postingDate),
  });
  const series = { kind: 'Bill', key: seriesKey(format) } as const;
  await lockNumbering(tx, tenantId);
  const { seriesId, first } = await takeFromSeries(tx, tenantId, series, count);
  await assertNotGiven(tx, tenantId, { format, first, count });
  for (const other of await listReservations(tx, tenantId)) {
    const { numbers, bills } = other;
    if (numbers.seriesId === seriesId) continue;
    const range = { format: numbers.format, first: numbers.first, count: bills };
    const common = findCommonNumber({ format, first, count }, range);
    if (common !== undefined) throw alreadyGiven(common);
  }
  return { seriesId, first, format };
}

/** Bills in the order of their ids, with the numbers of the range from `offset` on. */
export function numberBills(
  { format, first }: NumberRange,
  offset: number,
  ids: readonly number[],
): Numbered[] {
  return ids.map((billId, index) => {
    const seriesNumber = first + offset + index;
    return { billId, seriesNumber, number: printNumber(format, seriesNumber) };
  });
}

/**
 * Refuses a range of numbers of which one is on a bill or was retired. Numbers with the same count
 * of digits sort as texts, so the first and the last decide whether any used number is between
 * them. Within one series no number is used twice, so single numbers need not be looked up.
 */
async function assertNotGiven(
  tx: Tx,
  tenantId: number,
  { format, first: start, count }: PrintedRange,
): Promise<void> {
  const numberOf = (number: number) => printNumber(format, number);
  for (const [first, last] of byDigits(start, start + count - 1)) {
    if (!(await hasNumbersBetween(tx, tenantId, numberOf(first), numberOf(last)))) continue;
    for (let from = first; from <= last; from += lookupSize) {
      const length = Math.min(lookupSize, last - from + 1);
      const numbers = Array.from({ length }, (_, index) => numberOf(from + index));
      const given = await findGivenNumber(tx, tenantId, numbers);
      if (given !== undefined) throw alreadyGiven(given);
    }
  }
}

/**
 * Takes back what a posting without result had set aside: numbers that wait for a draft are
 * retired. The others of the range are retired already.
 */
export async function retireReserved(
  tx: Tx,
  tenantId: number,
  term: Term,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  const { term_id: termId, run_number: runNumber } = term;
  const reserved = (await findRun(tx, tenantId, { termId, runNumber }))?.reserved;
  if (!reserved) return;
  const { seriesId } = reserved.numbers;
  let offset = 0;
  for (const [firstId, lastId, count] of reserved.ranges) {
    const { drafts } = await listDrafts(tx, tenantId, termId, { firstId, lastId });
    const ids = drafts.map((draft) => draft.bill_id);
    const bills = numberBills(reserved.numbers, offset, ids);
    const retired = { termId, seriesId, bills };
    if (bills.length > 0) await insertRetired(tx, tenantId, retired, reason, stamp);
    offset += count;
  }
  await updateReservation(tx, tenantId, { termId, runNumber }, null);
}

/** Pieces of a range whose numbers have as many digits. */
function byDigits(first: number, last: number): [first: number, last: number][] {
  const pieces: [number, number][] = [];
  for (let from = first; from <= last; ) {
    const to = Math.min(last, 10 ** String(from).length - 1);
    pieces.push([from, to]);
    from = to + 1;
  }
  return pieces;
}

function alreadyGiven(number: string): AppError {
  return new AppError('DUPLICATE', {
    message: `Bill number ${number} is already used. \
Change billNumberFormat in the settings, then post again`,
  });
}
