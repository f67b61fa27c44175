// Lines that were received are posted: as payments where they are certain, else to Suspense, where
// they wait for a clerk. A chunk is one transaction, so each line is posted once.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { type Booking, book } from '../ledger/book.ts';
import type { WantedPayment } from '../receivables/payment.ts';
import { makePayments } from '../receivables/take-payments.ts';
import { type Decision, type OpenLine, paymentReference } from './bank-line.ts';
import { type KnownAccount, listKnownAccounts } from './files-store.ts';
import { type DecidedLine, listReceived, updateDecided } from './lines-store.ts';
import { matchLines } from './match.ts';

/** Lines that are posted in one transaction. */
export const chunkLines = 1_000;

export type LineRange = { firstId: number; lastId: number };

/** Returns how many lines were posted or set aside. */
export async function postLines(
  tx: Tx,
  tenantId: number,
  { bankFileId, range }: { bankFileId: number; range: LineRange },
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<number> {
  const lines = await listReceived(tx, tenantId, bankFileId, range);
  if (lines.length === 0) return 0;
  const accounts = new Map(
    (await listKnownAccounts(tx, tenantId)).map((one) => [one.bank_account_id, one]),
  );
  const matched = await matchLines(tx, tenantId, lines);
  const rows = lines.map((line, index): Row => {
    const account = accounts.get(line.bank_account_id);
    if (!account) throw new Error(`no bank account ${line.bank_account_id}`);
    return { line, account, decision: matched[index] ?? { status: 'Unmatched', reason: null } };
  });
  const paid = await payRows(tx, tenantId, rows, { today, stamp });
  const left = paid.rows.filter(({ line, decision }) => isForSuspense(line, decision));
  const journals = await bookToSuspense(tx, tenantId, left, stamp);
  const decided = paid.rows.map(
    ({ line, decision }): DecidedLine => ({
      id: line.bank_line_id,
      status: decision.status,
      paymentId: paid.ids.get(line) ?? null,
      inSuspense: journals.has(line),
      journalId: journals.get(line) ?? null,
      suggestions: decision.status === 'Suggested' ? decision.suggestions : [],
      reason: decision.status === 'Posted' ? null : decision.reason,
    }),
  );
  const count = await updateDecided(tx, tenantId, decided, { from: 'Received', stamp });
  if (count !== decided.length) throw new Error('lines were posted by another worker meanwhile');
  return count;
}

type Row = { line: OpenLine; account: KnownAccount; decision: Decision };

/** Rounds in which refused rows are taken out: each refuses at least one. */
const roundsMax = 5;

/** A payer that is refused, because it has just changed, becomes a line for a clerk. */
async function payRows(
  tx: Tx,
  tenantId: number,
  all: readonly Row[],
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<{ rows: Row[]; ids: Map<OpenLine, number> }> {
  const rows = [...all];
  for (let round = 0; round < roundsMax; round += 1) {
    const certain = rows.filter(({ decision }) => decision.status === 'Posted');
    if (certain.length === 0) return { rows, ids: new Map() };
    const made = await makePayments(tx, tenantId, certain.map(paymentOf), options);
    if (made.problems.length === 0) {
      const ids = certain.map(({ line }, index) => [line, made.paymentIds[index] ?? 0] as const);
      return { rows, ids: new Map(ids) };
    }
    if (made.problems.some(({ name }) => name === 'reference')) {
      throw new Error('a reference of a bank line was used meanwhile');
    }
    for (const { row, message } of made.problems) {
      const refused = certain[row];
      const at = refused ? rows.indexOf(refused) : -1;
      const decision: Decision = { status: 'Unmatched', reason: message };
      if (refused && at >= 0) rows[at] = { ...refused, decision };
    }
  }
  throw new Error('payments of bank lines are refused again and again');
}

function paymentOf({ line, account, decision }: Row): WantedPayment {
  if (decision.status !== 'Posted') throw new Error('only certain lines are paid in');
  const { payer, by } = decision;
  return linePayment(line, account, by ? { payer, by } : { payer });
}

/** The day of the line before, which most often is that of the next one too. */
let lastDay: { text: string; day: Temporal.PlainDate } | undefined;

function dayOf(text: string): Temporal.PlainDate {
  if (lastDay?.text !== text) lastDay = { text, day: Temporal.PlainDate.from(text) };
  return lastDay.day;
}

/** The payment that a line becomes. */
export function linePayment(
  line: OpenLine,
  account: KnownAccount,
  wanted: Pick<WantedPayment, 'payer'> &
    Partial<Pick<WantedPayment, 'allocations' | 'againstAccountId' | 'by'>>,
): WantedPayment {
  return {
    allocations: [],
    ...wanted,
    reference: paymentReference(line.fingerprint),
    amount: line.amount,
    valueDate: dayOf(line.line_date),
    paymentMethod: 'Bank',
    bankAccountId: line.bank_account_id,
    cashAccountId: account.cash_account_id,
    remark: line.text ?? line.reference,
  };
}

function isForSuspense(line: OpenLine, { status }: Decision): boolean {
  return line.amount > 0 && (status === 'Suggested' || status === 'Unmatched');
}

/** One journal for each day and account; returns the journal of each line. */
async function bookToSuspense(
  tx: Tx,
  tenantId: number,
  rows: readonly Row[],
  stamp: Stamp,
): Promise<Map<OpenLine, number>> {
  const groups = [...Map.groupBy(rows, ({ line, account }) => groupKey(line, account)).values()];
  const journalIds = await book(tx, tenantId, groups.map(suspenseBooking), stamp);
  return new Map(
    groups.flatMap((group, index) => group.map(({ line }) => [line, journalIds[index] ?? 0])),
  );
}

function groupKey({ line_date: date }: OpenLine, account: KnownAccount): string {
  return `${date} ${account.bank_account_id}`;
}

function suspenseBooking(group: readonly Row[]): Booking {
  const [first] = group;
  if (!first) throw new Error('a group of lines has one at least');
  const total = group.reduce((sum, { line }) => sum + line.amount, 0);
  return movedThrough(first.line, first.account, total);
}

/** Above zero into Suspense, below zero out of it. */
export function movedThrough(line: OpenLine, account: KnownAccount, amount: number): Booking {
  return {
    source: 'BankLine',
    sourceId: line.bank_line_id,
    businessUnitId: account.business_unit_id,
    postingDate: Temporal.PlainDate.from(line.line_date),
    description: amount > 0 ? 'Money of unknown payers' : `Bank line ${line.bank_line_id} ignored`,
    entries: [],
    against: [
      { accountId: account.cash_account_id, amount },
      { accountId: ledgerAccounts.suspense, amount: -amount },
    ],
  };
}
