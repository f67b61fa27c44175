// Security deposits: demanded as an open item, held once they are paid, and paid back.

import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { openItemsAccount } from '../ledger/accounts.ts';
import { type Booking, book, intoDeposit, opening } from '../ledger/book.ts';
import { lockWallets } from '../ledger/items-store.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { findUnclearedDeposit } from './cheques-store.ts';
import {
  type DepositSubscription,
  findDemanded,
  findDepositSubscription,
  findHeld,
} from './deposits-store.ts';
import type { PaymentMethod } from './payment.ts';
import { insertPayments, listReferences } from './payments-store.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

export type WantedDeposit = {
  connectionNumber: string;
  /** Minor units. */
  amount: number;
  reference: string;
  reason: string;
};

/** Returns the id of the demand, also of one that was made before. */
export async function demandDeposit(
  tx: Tx,
  tenantId: number,
  wanted: WantedDeposit & { dueDate: Temporal.PlainDate },
  { today, stamp }: Posting,
): Promise<{ depositId: number; isRepeated: boolean }> {
  const { amount, reference, reason: description } = wanted;
  const on = await lockSubscription(tx, tenantId, wanted.connectionNumber);
  const { subscription_id: subscriptionId, party_id: partyId } = on;
  const before = await findDemanded(tx, tenantId, reference);
  if (before) {
    const isSame = before.subscription_id === subscriptionId && before.amount === amount;
    if (isSame) return { depositId: before.item_id, isRepeated: true };
    throw duplicate(reference);
  }
  if (on.status === 'Closed') {
    const message = `${wanted.connectionNumber} is closed: no deposit can be demanded`;
    const current = { status: on.status };
    throw new AppError('INVALID_STATE', { message, field: 'data.connectionNumber', current });
  }
  const owner = { partyId, subscriptionId, billId: null };
  const item = { ...owner, accountId: openItemsAccount(on.context_type) };
  const demanded = { kind: 'Deposit', amount } as const;
  const opens = { kind: 'Deposit', dueDate: wanted.dueDate.toString() } as const;
  const details = { reference, description };
  const booking: Booking = {
    ...{ source: 'Deposit', sourceId: subscriptionId, postingDate: today },
    businessUnitId: on.business_unit_id,
    description: `Deposit ${reference} demanded: ${description}`,
    entries: [opening(item, demanded, opens, details), intoDeposit(owner, demanded, details)],
  };
  await book(tx, tenantId, [booking], stamp).catch((error: unknown) =>
    rethrowViolation(error, { open_items_deposit_key: () => duplicate(reference) }),
  );
  const made = await findDemanded(tx, tenantId, reference);
  return { depositId: made?.item_id ?? 0, isRepeated: false };
}

/** Pays held money back. Returns the id of the payment, also of one that was made before. */
export async function refundDeposit(
  tx: Tx,
  tenantId: number,
  wanted: WantedDeposit & { paymentMethod: PaymentMethod },
  { today, stamp }: Posting,
): Promise<{ paymentId: number; isRepeated: boolean }> {
  const { amount, reference, reason: remark, paymentMethod } = wanted;
  const on = await lockSubscription(tx, tenantId, wanted.connectionNumber);
  const { subscription_id: subscriptionId, party_id: partyId } = on;
  const before = (await listReferences(tx, tenantId, [reference])).get(reference);
  if (before) {
    const isSame = before.party_id === partyId && before.amount === amount;
    if (isSame) return { paymentId: before.id, isRepeated: true };
    throw duplicate(reference);
  }
  const held = await findHeld(tx, tenantId, on);
  if (held < amount) {
    const message = `More than the deposit that is held of ${wanted.connectionNumber}`;
    throw new AppError('AMOUNT_ABOVE_OPEN', { message, field: 'data.amount' });
  }
  const uncleared = await findUnclearedDeposit(tx, tenantId, { partyId, subscriptionId });
  if (held - uncleared < amount) {
    const message =
      'The deposit was paid by a cheque that the bank has not paid yet: clear-payment comes first';
    throw new AppError('NOT_CLEARED', { message, field: 'data.amount' });
  }
  const paymentId = await takeIds(tx, tenantId, 'payment', 1);
  const { cash_account_id: cashAccountId, business_unit_id: businessUnitId } = on;
  const details = { paymentId, reference, description: remark };
  const back = { kind: 'Refund', amount: -amount } as const;
  const booking: Booking = {
    ...{ source: 'Refund', sourceId: paymentId, businessUnitId, postingDate: today },
    description: `Deposit refunded, ${reference}: ${remark}`,
    entries: [intoDeposit({ partyId, subscriptionId }, back, details)],
    against: [{ accountId: cashAccountId, amount: -amount }],
  };
  const [journalId = 0] = await book(tx, tenantId, [booking], stamp);
  const payment = {
    ...{ paymentId, reference, partyId, subscriptionId, amount, journalId, cashAccountId, remark },
    ...{ direction: 'Out' as const, isRefund: true, walletAmount: 0, recoveredAmount: 0 },
    ...{ valueDate: today.toString(), paymentMethod, bankAccountId: null },
  };
  const stored = await insertPayments(tx, tenantId, [payment], stamp);
  if (stored === 0) throw duplicate(reference);
  return { paymentId, isRepeated: false };
}

/** With the wallet of its owner, so that the deposit is not paid or applied meanwhile. */
async function lockSubscription(
  tx: Tx,
  tenantId: number,
  connectionNumber: string,
): Promise<DepositSubscription> {
  const found = await findDepositSubscription(tx, tenantId, connectionNumber);
  if (!found) {
    const message = `No subscription has the number ${connectionNumber}`;
    throw new AppError('SUBSCRIPTION_NOT_FOUND', { message, field: 'data.connectionNumber' });
  }
  await lockWallets(tx, tenantId, [found.party_id]);
  const again = await findDepositSubscription(tx, tenantId, connectionNumber);
  if (again?.party_id === found.party_id) return again;
  const message = `${connectionNumber} was just transferred to another owner; send the call again`;
  throw new AppError('INVALID_STATE', { message, field: 'data.connectionNumber' });
}

function duplicate(reference: string): AppError {
  const message = `The reference ${reference} was used for another party or amount`;
  return new AppError('DUPLICATE', { message, field: 'data.reference' });
}
