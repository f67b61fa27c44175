// A payment is taken back: a cheque bounced, or it was booked by mistake.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import {
  type BookedEntry,
  book,
  type ItemKey,
  intoWallet,
  opening,
  settling,
} from '../ledger/book.ts';
import { lockWallets } from '../ledger/items-store.ts';
import type { JournalLine } from '../ledger/journal.ts';
import {
  findPayment,
  findWalletPart,
  insertReversal,
  listSettled,
  listWalletUses,
  type PaymentRow,
  type SettledRow,
} from './payments-store.ts';

export type WantedReversal = {
  paymentId: number;
  reason: string;
  /** A fee that the payer owes for it. */
  fee: { component: string; amount: number } | null;
};

export async function reversePayment(
  tx: Tx,
  tenantId: number,
  wanted: WantedReversal,
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<PaymentRow> {
  const payment = await lockPayment(tx, tenantId, wanted.paymentId);
  const { payment_id: paymentId, party_id: partyId, reference } = payment;
  const settled = await listSettled(tx, tenantId, paymentId);
  const details = { paymentId, reference, description: wanted.reason };
  const unsettled = settled.map((row) => {
    const undone = { kind: 'Reversal', effect: 'paid', amount: -row.amount } as const;
    return settling(itemOf(row, partyId), undone, { ...details, isPayment: true });
  });
  const fromWallet = await walletEntries(tx, tenantId, payment, { today, details });
  const { entries: feeEntries, against: income } = feeOf(payment, wanted, today);
  const side = payment.direction === 'In' ? -1 : 1;
  const [journalId = 0] = await book(
    tx,
    tenantId,
    [
      {
        source: 'Reversal',
        sourceId: paymentId,
        businessUnitId: payment.business_unit_id,
        postingDate: today,
        description: `Payment ${reference} reversed: ${wanted.reason}`,
        entries: [...unsettled, ...fromWallet, ...feeEntries],
        against: [
          { accountId: payment.cash_account_id, amount: side * payment.amount },
          { accountId: ledgerAccounts.badDebt, amount: payment.recovered_amount },
          ...income,
        ],
      },
    ],
    stamp,
  );
  const reversed = eventsOf('payment.reversed', 'paymentID', [paymentId]);
  await insertEvents(tx, tenantId, reversed, stamp.at);
  const date = today.toString();
  await insertReversal(tx, tenantId, { paymentId, date, reason: wanted.reason, journalId }, stamp);
  return payment;
}

/** With the wallet of its party, so that nothing of it is used meanwhile. */
export async function lockPayment(
  tx: Tx,
  tenantId: number,
  paymentId: number,
): Promise<PaymentRow> {
  const field = 'data.paymentID';
  const found = await findPayment(tx, tenantId, paymentId);
  if (!found) throw new AppError('PAYMENT_NOT_FOUND', { field });
  if (found.is_refund) {
    const message = `Payment ${found.reference} is a refund: take a new payment instead`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  await lockWallets(tx, tenantId, [found.party_id]);
  const payment = await findPayment(tx, tenantId, paymentId);
  if (!payment || payment.is_reversed) {
    const message = `Payment ${found.reference} was already reversed`;
    throw new AppError('ALREADY_REVERSED', { message, field });
  }
  return payment;
}

type Details = { paymentId: number; reference: string; description: string };

export function itemOf(row: SettledRow, partyId: number): ItemKey {
  return {
    billId: row.bill_id,
    itemId: row.item_id,
    accountId: row.account_id,
    subscriptionId: row.subscription_id,
    partyId,
  };
}

/**
 * What had gone into the wallet: first what is left there, then uses of the wallet are undone, the
 * newest first, and what is still missing is owed from today.
 */
async function walletEntries(
  tx: Tx,
  tenantId: number,
  payment: PaymentRow,
  { today, details }: { today: Temporal.PlainDate; details: Details },
): Promise<BookedEntry[]> {
  const { payment_id: paymentId, party_id: partyId, subscription_id: subscriptionId } = payment;
  const part = await findWalletPart(tx, tenantId, paymentId);
  if (part <= 0) return [];
  const balances = await lockWallets(tx, tenantId, [partyId]);
  const inWallet = Math.min(part, balances.get(partyId) ?? 0);
  let missing = part - inWallet;
  const undone: BookedEntry[] = [];
  const uses = missing > 0 ? await listWalletUses(tx, tenantId, partyId) : [];
  for (const use of uses) {
    const amount = Math.min(missing, use.amount);
    if (amount === 0) break;
    missing -= amount;
    const { reference, description } = details;
    const back = { kind: 'Wallet', effect: 'paid', amount: -amount } as const;
    undone.push(settling(itemOf(use, partyId), back, { reference, description }));
  }
  const owner = { accountId: ledgerAccounts.receivable, partyId, subscriptionId, billId: null };
  const moved = { kind: 'Reversal', amount: missing } as const;
  const opens = { kind: 'Reversal', dueDate: today.toString() } as const;
  return [
    ...(inWallet > 0
      ? [intoWallet(partyId, { kind: 'Reversal', amount: -inWallet }, details)]
      : []),
    ...undone,
    ...(missing > 0 ? [opening(owner, moved, opens, { ...details, isPayment: true })] : []),
  ];
}

function feeOf(
  { party_id: partyId, subscription_id: subscriptionId, reference }: PaymentRow,
  { fee }: WantedReversal,
  today: Temporal.PlainDate,
): { entries: BookedEntry[]; against: JournalLine[] } {
  if (!fee) return { entries: [], against: [] };
  const { component, amount } = fee;
  const owner = { accountId: ledgerAccounts.receivable, partyId, subscriptionId, billId: null };
  const opens = { kind: 'Fee', dueDate: today.toString(), component } as const;
  const details = { reference, description: component };
  return {
    entries: [opening(owner, { kind: 'Fee', amount }, opens, details)],
    against: [{ accountId: ledgerAccounts.income, component, amount: -amount }],
  };
}
