// Disputes: an amount that a customer does not accept waits on the account Disputed.

import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { insertCreditNotes } from '../bills/credit-notes-store.ts';
import { type Creditable, openLines } from '../bills/posting/credit-bill.ts';
import { bookCreditNotes, findCreditable } from '../bills/posting/credit-notes.ts';
import { isOwedByWorkspace, ledgerAccounts } from '../ledger/accounts.ts';
import { type BookedEntry, type Booking, book, settling } from '../ledger/book.ts';
import { lockBills, lockWallets } from '../ledger/items-store.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { lockCreditable } from './creditable.ts';
import {
  anyDispute,
  type DisputedPart,
  type DisputeRow,
  insertDisputes,
  insertResolution,
  listDisputes,
} from './disputes-store.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

export type WantedDispute = { billId: number; amount: number; reason: string };

/** All are made or, where one is refused, none. */
export async function makeDisputes(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedDispute[],
  { today, stamp }: Posting,
): Promise<{ problems: readonly RowProblem[]; disputeIds: number[] }> {
  const list = { list: 'disputes', verb: 'disputed' };
  const { bills, problems: missing } = await lockCreditable(tx, tenantId, wanted, list);
  if (missing.length > 0) return { problems: missing, disputeIds: [] };
  const disputes = wanted.map((one, row) => ({ ...one, row, ...takeOpen(bills, one) }));
  const problems = disputes
    .filter((one) => one.above > 0)
    .map(({ row, billId }): RowProblem => {
      const message = `More than is open on bill ${bills.get(billId)?.billNumber}`;
      return { row, name: 'amount', code: 'AMOUNT_ABOVE_OPEN', message, rejectedValue: null };
    });
  if (problems.length > 0) return { problems, disputeIds: [] };
  const firstId = await takeIds(tx, tenantId, 'dispute', wanted.length);
  const bookings = disputes.map(({ bill, parts, reason, row }): Booking => {
    const head = { source: 'Dispute' as const, sourceId: firstId + row, postingDate: today };
    const { businessUnitId, billNumber, termId } = bill;
    const description = `Bill ${billNumber} is disputed: ${reason}`;
    const entries = entriesOf(bill, parts, { isRaised: true, description: reason });
    return { ...head, businessUnitId, termId, description, entries };
  });
  const journalIds = await book(tx, tenantId, bookings, stamp);
  const rows = disputes.map(({ billId, amount, reason, bill, parts, row }) => ({
    ...{ disputeId: firstId + row, billId, amount, reason, parts, partyId: bill.partyId },
    raisedOn: today.toString(),
    journalId: journalIds[row] ?? 0,
  }));
  await insertDisputes(tx, tenantId, rows, stamp);
  return { problems: [], disputeIds: rows.map((row) => row.disputeId) };
}

/** What is open of the bill, one subscription after the other; it is taken off there. */
function takeOpen(
  bills: ReadonlyMap<number, Creditable>,
  { billId, amount }: WantedDispute,
): { bill: Creditable; parts: DisputedPart[]; above: number } {
  const bill = bills.get(billId);
  if (!bill) throw new Error(`bill ${billId} was not read`);
  let above = amount;
  const parts: DisputedPart[] = [];
  bill.parts = bill.parts.map((part) => {
    const open = part.amount - part.paid - part.credited - part.gone;
    const isOwed = open > 0n && !isOwedByWorkspace(bill.contextType);
    const share = isOwed ? Math.min(above, Number(open)) : 0;
    if (share === 0) return part;
    above -= share;
    parts.push({ subscriptionId: part.subscriptionId, amount: share });
    return { ...part, gone: part.gone + BigInt(share) };
  });
  return { bill, parts, above };
}

/** From Receivable to Disputed, or back. */
function entriesOf(
  { billId, partyId }: Pick<Creditable, 'billId' | 'partyId'>,
  parts: readonly DisputedPart[],
  { isRaised, description }: { isRaised: boolean; description: string },
): BookedEntry[] {
  const { receivable, disputed } = ledgerAccounts;
  return parts.flatMap(({ subscriptionId, amount: share }) => {
    const amount = isRaised ? share : -share;
    const item = { billId, itemId: null, accountId: receivable, partyId, subscriptionId };
    const held = { billId, accountId: disputed, partyId, subscriptionId, amount, description };
    return [
      settling(item, { kind: 'Dispute', effect: 'disputed', amount }, { description }),
      { ...held, kind: 'Dispute' as const },
    ];
  });
}

export type WantedResolution = {
  disputeId: number;
  outcome: 'Upheld' | 'Rejected';
  remark: string | null;
};

/** The amount is owed again with its old due date or, if the customer was right, credited. */
export async function resolveDispute(
  tx: Tx,
  tenantId: number,
  { disputeId, outcome, remark }: WantedResolution,
  { today, stamp }: Posting,
): Promise<{ dispute: DisputeRow; creditNoteNumber: string | null }> {
  const dispute = await lockDispute(tx, tenantId, disputeId);
  const { bill_id: billId, party_id: partyId, parts } = dispute;
  const bill = (await findCreditable(tx, tenantId, [billId])).get(billId);
  if (!bill) throw new Error(`bill ${billId} is gone`);
  const description = `Dispute of bill ${dispute.bill_number} ${outcome.toLowerCase()}`;
  const back = { isRaised: false, description: remark ?? description };
  const booking: Booking = {
    ...{ source: 'Dispute', sourceId: disputeId, description, postingDate: today },
    ...{ businessUnitId: bill.businessUnitId, termId: bill.termId },
    entries: entriesOf({ billId, partyId }, parts, back),
  };
  const [journalId = 0] = await book(tx, tenantId, [booking], stamp);
  const note = outcome === 'Upheld' ? await credit(tx, tenantId, dispute, { today, stamp }) : null;
  const creditNoteId = note?.creditNoteId ?? null;
  const resolvedOn = today.toString();
  const resolution = { disputeId, outcome, remark, resolvedOn, journalId, creditNoteId };
  await insertResolution(tx, tenantId, resolution, stamp);
  return { dispute, creditNoteNumber: note?.number ?? null };
}

/**
 * With the wallet of the party and the bill; read again, because another call may have ended it.
 */
async function lockDispute(tx: Tx, tenantId: number, disputeId: number): Promise<DisputeRow> {
  const field = 'data.disputeID';
  const find = async () => {
    const window = { offset: 0, limit: 1, beforeId: null };
    return (await listDisputes(tx, tenantId, { ...anyDispute, disputeId }, window))[0];
  };
  const found = await find();
  if (!found) throw new AppError('DISPUTE_NOT_FOUND', { field });
  await lockWallets(tx, tenantId, [found.party_id]);
  await lockBills(tx, tenantId, [found.bill_id]);
  const dispute = await find();
  if (dispute?.status === 'Open') return dispute;
  const day = wireDay(dispute?.resolved_on ?? '');
  throw new AppError('INVALID_STATE', {
    message: `The dispute was ${dispute?.status.toLowerCase()} on ${day}`,
    field,
    current: { status: dispute?.status ?? null },
    allowed: ['Open'],
  });
}

/** For the amount of the dispute, by the components that are open. */
async function credit(tx: Tx, tenantId: number, dispute: DisputeRow, posting: Posting) {
  const { bill_id: billId, parts, reason } = dispute;
  const bill = (await findCreditable(tx, tenantId, [billId])).get(billId);
  if (!bill) throw new Error(`bill ${billId} is gone`);
  const lines = parts.flatMap((part) => openLines(bill, part));
  const note = { bill, lines, reason, reference: null, cancelsBill: false };
  const [made] = await bookCreditNotes(tx, tenantId, [note], posting);
  if (!made) throw new Error(`bill ${billId} was not credited`);
  await insertCreditNotes(tx, tenantId, [made], posting.stamp);
  return made;
}
