// A clerk says whose money a line is, or that it is nothing of the workspace's. The decision is
// remembered: later money of the same payer is suggested to the same party.

import type { Tx } from '../../base/db/pool.ts';
import { AppError, type RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { book } from '../ledger/book.ts';
import { listPayers } from '../receivables/payers-store.ts';
import type { PayerKey, WantedAllocation } from '../receivables/payment.ts';
import { makePayments } from '../receivables/take-payments.ts';
import { type KnownAccount, listKnownAccounts } from './files-store.ts';
import { learntKeys } from './keys.ts';
import { findLine, type StoredLine, updateDecided } from './lines-store.ts';
import { saveLearnt } from './matching-store.ts';
import { linePayment, movedThrough } from './post-lines.ts';

export type LineDecision = {
  bankLineId: number;
  /** Null: the line is ignored. */
  payer: PayerKey | null;
  allocations: readonly WantedAllocation[];
  reason: string | null;
};

export type Decided = {
  before: StoredLine;
  paymentId: number | null;
  problems: readonly RowProblem[];
};

export async function decideLine(
  tx: Tx,
  tenantId: number,
  decision: LineDecision,
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<Decided> {
  const { bankLineId, payer } = decision;
  const line = await findLine(tx, tenantId, bankLineId);
  if (!line) {
    const message = `No bank line has the id ${bankLineId}`;
    throw new AppError('BANK_LINE_NOT_FOUND', { message, field: 'data.bankLineID' });
  }
  assertOpen(line, payer !== null);
  const accounts = await listKnownAccounts(tx, tenantId);
  const account = accounts.find((one) => one.bank_account_id === line.bank_account_id);
  if (!account) throw new Error(`no bank account ${line.bank_account_id}`);
  const place = { line, account };
  if (payer === null) return ignore(tx, tenantId, place, decision, options.stamp);
  return assign(tx, tenantId, place, { ...decision, payer }, options);
}

function assertOpen({ status, amount, bank_line_id: id }: StoredLine, isPaid: boolean): void {
  const refuse = (message: string) => {
    throw new AppError('INVALID_STATE', { message, current: status, field: 'data.bankLineID' });
  };
  if (status === 'Posted') refuse(`Bank line ${id} is already posted as a payment`);
  if (status === 'Duplicate') refuse(`Bank line ${id} repeats another one`);
  if (status === 'Received') refuse(`Bank line ${id} is still being posted; try again soon`);
  if (isPaid && amount <= 0) {
    refuse(`Bank line ${id} is not money received; reverse the payment and ignore the line`);
  }
}

type Place = { line: StoredLine; account: KnownAccount };

async function ignore(
  tx: Tx,
  tenantId: number,
  { line, account }: Place,
  { reason }: LineDecision,
  stamp: Stamp,
): Promise<Decided> {
  const wanted = line.in_suspense ? [movedThrough(line, account, -line.amount)] : [];
  await book(tx, tenantId, wanted, stamp);
  const given = { status: 'Ignored', paymentId: null, reason } as const;
  await store(tx, tenantId, line, given, stamp);
  return { before: line, paymentId: null, problems: [] };
}

/** The money leaves Suspense for the customer, with the day of the bank as its value date. */
async function assign(
  tx: Tx,
  tenantId: number,
  { line, account }: Place,
  { payer, allocations, reason }: LineDecision & { payer: PayerKey },
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<Decided> {
  const from = line.in_suspense ? { againstAccountId: ledgerAccounts.suspense } : {};
  const wanted = linePayment(line, account, { payer, allocations, ...from });
  const [by] = await listPayers(tx, tenantId, [payer]);
  if (by?.isPaidByWorkspace) {
    const message = 'The payer is a vendor or an employee: money received cannot be paid out';
    throw new AppError('INVALID_STATE', { message, field: 'data.payer' });
  }
  const made = await makePayments(tx, tenantId, [wanted], options);
  const [paymentId = 0] = made.paymentIds;
  if (made.problems.length > 0 || !by) {
    return { before: line, paymentId: null, problems: made.problems };
  }
  const { stamp } = options;
  await store(tx, tenantId, line, { status: 'Posted', paymentId, reason }, stamp);
  await saveLearnt(tx, tenantId, learntKeys(line), by, stamp);
  return { before: line, paymentId, problems: [] };
}

async function store(
  tx: Tx,
  tenantId: number,
  line: StoredLine,
  given: { status: 'Posted' | 'Ignored'; paymentId: number | null; reason: string | null },
  stamp: Stamp,
): Promise<void> {
  const row = { id: line.bank_line_id, inSuspense: false, journalId: null, suggestions: [] };
  const count = await updateDecided(tx, tenantId, [{ ...row, ...given }], {
    from: line.status,
    stamp,
  });
  if (count === 1) return;
  const message = `Bank line ${line.bank_line_id} was decided by another call meanwhile`;
  throw new AppError('INVALID_STATE', { message, field: 'data.bankLineID' });
}
