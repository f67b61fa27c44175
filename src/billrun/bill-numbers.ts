// Numbers of bills as people see them, and that none is given twice. One format never makes a
// number twice, but another one, or the code of another batch, may: 1{number} and {number} both
// make 112.
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { BilledTerm } from '../domain/bills/billed-terms-store.ts';
import {
  findGivenNumber,
  hasNumbersBetween,
  insertRetired,
  listDrafts,
} from '../domain/bills/post-store.ts';
import { findRun, updateReservation } from '../domain/bills/runs-store.ts';
import type { Stamp } from '../domain/ledger/store.ts';
import { formatNumber } from '../domain/tenants/number-format.ts';
import { findSettings } from '../domain/tenants/store.ts';

/** Writes a number of the series as it stands on a bill of the posting. */
export type NumberOf = (number: number) => string;

/** Numbers looked for at once. */
const lookupSize = 1_000;

export async function numberingOf(
  tx: Tx,
  tenantId: number,
  term: BilledTerm,
  postingDate: string,
): Promise<NumberOf> {
  const { bill_number_format: format } = await findSettings(tx, tenantId);
  const date = Temporal.PlainDate.from(postingDate);
  const parts = { serviceCode: term.context_code, batchCode: term.batch_code, date };
  return (number) => formatNumber(format, { ...parts, number });
}

/**
 * Refuses a range of numbers of which one stands on a bill or was retired. Numbers with as many
 * digits are as long and sorted as texts, so that two of them tell whether anything lies between.
 * Where the format stayed as it was there is nothing, and single numbers need not be looked for.
 * What another posting gives at this moment is refused by the index, and seen when the part is
 * tried again.
 */
export async function assertNotGiven(
  tx: Tx,
  tenantId: number,
  numberOf: NumberOf,
  range: { first: number; count: number },
): Promise<void> {
  for (const [first, last] of byDigits(range.first, range.first + range.count - 1)) {
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
 * Takes back what a posting set aside that came to nothing: numbers that wait for a draft are
 * retired, as others may have been given since. The rest of them are retired already.
 */
export async function retireReserved(
  tx: Tx,
  tenantId: number,
  term: BilledTerm,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  const { term_id: termId, run_number: runNumber } = term;
  const reserved = (await findRun(tx, tenantId, { termId, runNumber }))?.reserved;
  if (!reserved) return;
  const numberOf = await numberingOf(tx, tenantId, term, reserved.postingDate);
  let first = reserved.firstNumber;
  for (const [firstId, lastId, count] of reserved.ranges) {
    const { drafts } = await listDrafts(tx, tenantId, termId, { firstId, lastId });
    await assertNotGiven(tx, tenantId, numberOf, { first, count: drafts.length });
    const from = first;
    const bills = drafts.map(({ bill_id: billId }, index) => {
      return { billId, number: numberOf(from + index) };
    });
    if (bills.length > 0) await insertRetired(tx, tenantId, { termId, bills }, reason, stamp);
    first += count;
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
    message: `Bill number ${number} was given before: \
change billNumberFormat in the settings and post again`,
  });
}
