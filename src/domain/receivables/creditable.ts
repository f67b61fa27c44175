// Bills that rows of a call credit or dispute, locked with the wallets of their parties.

import type { Tx } from '../../base/db/pool.ts';
import { AppError, type RowProblem } from '../../base/errors.ts';
import type { Creditable } from '../bills/posting/credit-bill.ts';
import { findCreditable } from '../bills/posting/credit-notes.ts';
import { lockBills, lockWallets } from '../ledger/items-store.ts';
import { listBillOwners } from './payments-store.ts';

/** Refuses a bill that is not posted, also one that was cancelled while this waited for it. */
export async function lockCreditable(
  tx: Tx,
  tenantId: number,
  wanted: readonly { billId: number }[],
  { list, verb }: { list: string; verb: string },
): Promise<{ bills: Map<number, Creditable>; problems: RowProblem[] }> {
  const billIds = [...new Set(wanted.map((one) => one.billId))];
  const owners = await listBillOwners(tx, tenantId, billIds);
  await lockWallets(tx, tenantId, [...owners.values()]);
  await lockBills(tx, tenantId, billIds);
  const bills = await findCreditable(tx, tenantId, billIds);
  const problems = wanted.flatMap(({ billId }, row): RowProblem[] => {
    if (bills.has(billId)) return [];
    const message = `No bill has the id ${billId}`;
    return [{ row, name: 'billID', code: 'BILL_NOT_FOUND', message, rejectedValue: billId }];
  });
  if (problems.length > 0) return { bills, problems };
  wanted.forEach(({ billId }, row) => {
    const bill = bills.get(billId);
    const isPosted = bill?.status === 'Posted' || bill?.status === 'Published';
    if (bill && isPosted && owners.get(billId) === bill.partyId) return;
    const what = `Bill ${bill?.billNumber ?? billId} is ${bill?.status}`;
    throw new AppError('INVALID_STATE', {
      message: `${what}: only posted and published bills can be ${verb}`,
      field: `${list}[${row}].billID`,
      current: { status: bill?.status ?? null },
      allowed: ['Posted', 'Published'],
    });
  });
  return { bills, problems };
}
