// Late surcharges of a bill: as printed and, once they are posted, what is paid of them.
import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import type { PresentedBill } from '../../domain/bills/bill-forms.ts';
import type { SurchargeRow } from '../../domain/bills/late/surcharge-store.ts';
import { money } from '../fields.ts';

/** Only of a surcharge that is posted. */
export const surchargeProperties = {
  surchargeID: Type.Optional(Type.Integer()),
  date: Type.Optional(Type.String()),
  paidAmount: Type.Optional(money),
  outstandingAmount: Type.Optional(money),
};

/** What was posted and not taken back, each with the line that was printed for it. */
export function postedSurcharges(
  bill: Pick<PresentedBill, 'surcharges'>,
  rows: readonly SurchargeRow[],
  currencyDecimals: number,
) {
  const major = (minor: bigint) => majorUnits(minor, currencyDecimals);
  return rows.flatMap((row) => {
    const line = bill.surcharges.find(
      (one) => (one.connectionNumber ?? row.subscription_number) === row.subscription_number,
    );
    const amount = BigInt(row.amount) - BigInt(row.credited);
    if (!line || amount === 0n) return [];
    return [
      {
        ...line,
        surchargeID: row.item_id,
        date: wireDay(row.issue_date),
        amount: major(amount),
        paidAmount: major(BigInt(row.paid)),
        outstandingAmount: major(BigInt(row.open)),
      },
    ];
  });
}
