// The late payment surcharge of a bill is waived: it is credited, and not posted again.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeBackSurcharges } from '../bills/late/take-back.ts';
import { book } from '../ledger/book.ts';
import { lockBills, lockWallets } from '../ledger/items-store.ts';
import { listBillOwners } from './payments-store.ts';

/** Returns what was waived, and what of it had been paid and is in the wallet now. */
export async function waiveSurcharge(
  tx: Tx,
  tenantId: number,
  { billId, reason }: { billId: number; reason: string },
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<{ amount: number; toWallet: number }> {
  const field = 'data.billID';
  const owner = (await listBillOwners(tx, tenantId, [billId])).get(billId);
  if (owner === undefined) {
    const message = `No posted bill has the id ${billId}`;
    throw new AppError('BILL_NOT_FOUND', { message, field });
  }
  await lockWallets(tx, tenantId, [owner]);
  await lockBills(tx, tenantId, [billId]);
  const [taken] = await takeBackSurcharges(tx, tenantId, [billId]);
  if (!taken) {
    const message = `Bill ${billId} has no surcharge that could be waived`;
    throw new AppError('INVALID_STATE', { message, field, current: { surcharge: 0 } });
  }
  const { businessUnitId, entries, against, toWallet } = taken;
  const head = { source: 'Surcharge', sourceId: billId, postingDate: today } as const;
  const description = `Late payment surcharge waived: ${reason}`;
  await book(tx, tenantId, [{ ...head, businessUnitId, description, entries, against }], stamp);
  const amount = against.reduce((sum, line) => sum + line.amount, 0);
  return { amount, toWallet };
}
