// Money of wallets: paid back to the party, or used for what it owes.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { withComponents } from '../bills/billed-parts.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { book, intoWallet, settling } from '../ledger/book.ts';
import { listOpenItems, lockBills, lockWallets } from '../ledger/items-store.ts';
import { type SettlementMethod, settle, useCredits } from '../ledger/settle.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { findUnclearedAmount } from './cheques-store.ts';
import { listPayers } from './payers-store.ts';
import type { Payer, PayerKey, PaymentMethod } from './payment.ts';
import { insertPayments, listReferences } from './payments-store.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

export type WantedRefund = {
  partyId: number;
  reference: string;
  amount: number;
  paymentMethod: PaymentMethod;
  remark: string | null;
};

/** Returns the id of the payment that was made, also of one that was made before. */
export async function refundPayment(
  tx: Tx,
  tenantId: number,
  wanted: WantedRefund,
  { today, stamp }: Posting,
): Promise<{ paymentId: number; isRepeated: boolean }> {
  const { partyId, reference, amount } = wanted;
  const payer = await payerOf(tx, tenantId, { ...noKey, partyId });
  const balances = await lockWallets(tx, tenantId, [partyId]);
  const before = (await listReferences(tx, tenantId, [reference])).get(reference);
  if (before) {
    const isSame = before.party_id === partyId && before.amount === amount;
    if (isSame) return { paymentId: before.id, isRepeated: true };
    const what = `The reference ${reference} belongs to payment ${before.id}`;
    const message = `${what}, which has another party or amount`;
    throw new AppError('DUPLICATE', { message, field: 'data.reference' });
  }
  const balance = balances.get(partyId) ?? 0;
  if (balance < amount) throw new AppError('WALLET_TOO_LOW', { field: 'data.amount' });
  if (balance - (await findUnclearedAmount(tx, tenantId, partyId)) < amount) {
    const message = 'The bank has not paid a cheque of the party yet: clear the payment first';
    throw new AppError('NOT_CLEARED', { message, field: 'data.amount' });
  }
  const paymentId = await takeIds(tx, tenantId, 'payment', 1);
  const details = { paymentId, reference };
  const [journalId = 0] = await book(
    tx,
    tenantId,
    [
      {
        source: 'Refund',
        sourceId: paymentId,
        businessUnitId: payer.businessUnitId,
        postingDate: today,
        description: `Refund ${reference}`,
        entries: [intoWallet(partyId, { kind: 'Refund', amount: -amount }, details)],
        against: [{ accountId: payer.cashAccountId, amount: -amount }],
      },
    ],
    stamp,
  );
  const payment = {
    ...{ paymentId, reference, partyId, amount, journalId, isRefund: true },
    direction: 'Out' as const,
    subscriptionId: null,
    walletAmount: -amount,
    recoveredAmount: 0,
    valueDate: today.toString(),
    paymentMethod: wanted.paymentMethod,
    cashAccountId: payer.cashAccountId,
    bankAccountId: null,
    remark: wanted.remark,
  };
  const stored = await insertPayments(tx, tenantId, [payment], stamp);
  if (stored === 0) throw new AppError('DUPLICATE', { field: 'data.reference' });
  const refunded = eventsOf('payment.refunded', 'paymentID', [paymentId]);
  await insertEvents(tx, tenantId, refunded, stamp.at);
  return { paymentId, isRepeated: false };
}

const noKey: PayerKey = { partyId: null, partyNumber: null, connectionNumber: null, billId: null };

async function payerOf(tx: Tx, tenantId: number, key: PayerKey): Promise<Payer> {
  const [payer] = await listPayers(tx, tenantId, [key]);
  if (!payer) throw new AppError('PARTY_NOT_FOUND', { field: 'data.partyID' });
  return payer;
}

/** Returns what of the wallet was used, in minor units. */
export async function settleWallet(
  tx: Tx,
  tenantId: number,
  partyId: number,
  { today, stamp }: Posting,
): Promise<number> {
  const payer = await payerOf(tx, tenantId, { ...noKey, partyId });
  const balances = await lockWallets(tx, tenantId, [partyId]);
  const all = await listOpenItems(tx, tenantId, { partyIds: [partyId] });
  const receivable = all.filter((item) => item.accountId === ledgerAccounts.receivable);
  const isByComponent = payer.settlementMethod === 'Component Priority';
  const items = isByComponent ? await withComponents(tx, tenantId, receivable) : receivable;
  const offsets = useCredits(items);
  // This call is for everything that is open, so with `Manual` too the oldest item is paid first.
  const given = payer.settlementMethod as SettlementMethod;
  const method = given === 'Manual' ? 'Chronology' : given;
  const paid = settle(items, balances.get(partyId) ?? 0, { method, subscriptionId: null });
  const used = paid.reduce((sum, one) => sum + one.amount, 0);
  const entries = [
    ...offsets.map(({ item, amount }) =>
      settling(item, { kind: 'Offset', effect: 'paid', amount }),
    ),
    ...paid.map(({ item, amount }) => settling(item, { kind: 'Wallet', effect: 'paid', amount })),
    ...(used > 0 ? [intoWallet(partyId, { kind: 'Wallet', amount: -used })] : []),
  ];
  if (entries.length === 0) return 0;
  await lockBills(
    tx,
    tenantId,
    entries.flatMap((entry) => entry.billId ?? []),
  );
  const booking = {
    source: 'Wallet' as const,
    sourceId: partyId,
    businessUnitId: payer.businessUnitId,
    postingDate: today,
    description: 'Wallet used for what is open',
    entries,
  };
  await book(tx, tenantId, [booking], stamp);
  return used;
}
