// A posted bill is taken back by a credit note for all of it. Where it is to be billed again, its
// subscriptions are as they were before, and a term for them alone is opened for the same days.

import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { insertCreditNote } from '../domain/bills/credit-notes-store.ts';
import { findRun } from '../domain/bills/generate/runs-store.ts';
import { takeBackSurcharges } from '../domain/bills/late/take-back.ts';
import { accountsOfTerm, creditBooking } from '../domain/bills/posting/bill-journals.ts';
import {
  type BilledSubscription,
  copyInputs,
  forgetBilledTerm,
  hasMovedOn,
  listBilled,
  listDemanded,
  listPaid,
  lockBill,
  markCancelled,
  markDraftsStale,
  type PostedBill,
  touchSubscriptions,
} from '../domain/bills/posting/cancel-store.ts';
import { listShares } from '../domain/bills/posting/post-store.ts';
import { restoreSubscriptions } from '../domain/bills/posting/unpost-store.ts';
import { bookOfRun } from '../domain/bills/run-prices.ts';
import { failCancelled } from '../domain/delivery/sending-store.ts';
import { doubtDeliveries } from '../domain/delivery/store.ts';
import { book as bookAll } from '../domain/ledger/book.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { createTerm } from '../domain/terms/create.ts';
import { unlockReadings } from '../domain/terms/readings-store.ts';
import { getTerm, type Term } from '../domain/terms/store.ts';
import { rejectEstimates } from '../domain/terms/substitute-readings-store.ts';
import { dueDateFrom } from '../domain/terms/term.ts';
import { auditStep } from '../jobs/audit-step.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import { wholeStep } from '../jobs/whole-step.ts';
import { numberCreditNote } from './bill-numbers.ts';

export const cancelBillStep = wholeStep({ operation: 'cancel-bill', check, run });

export type Cancelling = { reason: string; rebill: boolean };

type Found = { term: Term; bill: PostedBill; subscriptions: BilledSubscription[] };

async function check(tx: Tx, request: StepRequest): Promise<void> {
  await findCancellable(tx, request);
}

async function findCancellable(tx: Tx, request: StepRequest): Promise<Found> {
  const { tenantId } = request.tenant;
  const billId = request.billId ?? 0;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  const bill = await lockBill(tx, tenantId, billId);
  if (!bill) throw new Error(`bill ${billId} of term ${term.term_id} is gone`);
  const isPosted = ['Posted', 'Published'].includes(bill.status);
  if (!isPosted || !['Posted', 'Published'].includes(term.status)) {
    const what = `The bill is ${bill.status} in a term that is ${term.status}`;
    throw refusal(bill, term, `${what}. Only posted bills can be cancelled.`);
  }
  if (await hasMovedOn(tx, tenantId, billId)) {
    const what =
      'went to another owner, was settled by a deposit, was adjusted, or paid other bills';
    throw refusal(bill, term, `What was owed on ${bill.bill_number} ${what}`);
  }
  const subscriptions = await listBilled(tx, tenantId, billId);
  if ((request.parameters as Cancelling).rebill) assertRebillable(term, bill, subscriptions);
  return { term, bill, subscriptions };
}

/** A term can be opened, and nothing that follows builds on this bill. */
function assertRebillable(
  term: Term,
  bill: PostedBill,
  subscriptions: readonly BilledSubscription[],
): void {
  if (subscriptions.some((one) => one.is_archived)) {
    const what = `The pricing context ${term.context_code} is archived`;
    const message = `${what}: restore it first, or cancel the bill without rebill`;
    throw new AppError('SERVICE_ARCHIVED', { message, field: 'data.rebill' });
  }
  const followed = subscriptions.find((one) => one.is_followed);
  if (followed) {
    const what = `${followed.subscription_number} was billed since`;
    const how = 'cancel later bills first, with rebill, or cancel this one without rebill';
    throw refusal(bill, term, `${what}: ${how}`);
  }
  const read = subscriptions.find((one) => one.reading_term !== null);
  if (read) {
    const what = `${read.reading_term} has posted readings of ${read.subscription_number}`;
    throw refusal(bill, term, `${what}: unpost them first`);
  }
  const batches = new Set(subscriptions.map((one) => one.batch_code));
  if (batches.size > 1) {
    const what = `are in ${counted(batches.size, 'batch', 'batches')} by now`;
    throw refusal(bill, term, `The subscriptions of ${bill.bill_number} ${what}`);
  }
}

function refusal(bill: PostedBill, term: Term, message: string): AppError {
  return new AppError('INVALID_STATE', {
    message,
    field: 'data.billID',
    current: { status: bill.status, term: term.status, stage: term.stage },
    allowed: ['Posted', 'Published'],
  });
}

async function run(tx: Tx, job: StepJob): Promise<Finish> {
  const { tenantId, timezone } = job.tenant;
  const found = await findCancellable(tx, job);
  const { term, bill } = found;
  const { reason, rebill } = job.parameters as Cancelling;
  const stamp = { at: job.now, by: job.requestedBy };
  const today = dateIn(job.now, timezone);
  const creditNoteId = await takeNumbers(tx, tenantId, 'credit-note', 1);
  const { number, seriesId, seriesNumber } = await numberCreditNote(tx, tenantId, today);
  const { journalId, toWallet } = await book(tx, job, found, { creditNoteId, number, today });
  if (rebill) {
    const options = { today: today.toString(), stamp };
    await restoreSubscriptions(tx, tenantId, { billId: bill.bill_id }, options);
  } else {
    await forgetBilledTerm(tx, tenantId, {
      billId: bill.bill_id,
      termId: term.term_id,
      isLookedAt: !term.bills_after_period,
    });
  }
  const drafts = { billId: bill.bill_id, contextId: term.context_id };
  await markDraftsStale(tx, tenantId, drafts, job.now);
  await touchSubscriptions(tx, tenantId, bill.bill_id, stamp);
  await markCancelled(tx, tenantId, bill.bill_id, stamp);
  // No other job of the term runs: the worker that was sending the bill is gone.
  await doubtDeliveries(tx, tenantId, [bill.bill_id], job.now);
  await failCancelled(tx, tenantId, term.term_id, job.now);
  const again = rebill ? await openAgain(tx, job, found, today) : null;
  await insertCreditNote(
    tx,
    tenantId,
    {
      creditNoteId,
      number,
      seriesId,
      seriesNumber,
      billId: bill.bill_id,
      partyId: bill.party_id,
      amount: bill.bill_amount,
      toWallet,
      issueDate: today.toString(),
      reason,
      journalId,
      rebillTermId: again?.termId ?? null,
    },
    stamp,
  );
  await auditStep(tx, job, {
    subject: 'bill',
    subjectId: bill.bill_id,
    before: { status: bill.status, billNumber: bill.bill_number },
    after: { status: 'Cancelled', creditNote: number, reason, rebillTermID: again?.termId ?? null },
  });
  const message = `Bill ${bill.bill_number} is cancelled by credit note ${number}`;
  const rest = again ? `; term ${again.termId} (${again.label}) bills it again` : '';
  return { message: `${message}${rest}`, creditNote: number, rebillTermID: again?.termId ?? null };
}

/**
 * The mirror of what posting booked, and what had been paid back into the wallet. A deposit that
 * the bill demanded is demanded by the next one again.
 */
async function book(
  tx: Tx,
  job: StepJob,
  { term, bill }: Found,
  note: { creditNoteId: number; number: string; today: Temporal.PlainDate },
): Promise<{ journalId: number | null; toWallet: number }> {
  const { tenantId } = job.tenant;
  const run = await findRun(tx, tenantId, { termId: term.term_id, runNumber: term.run_number });
  if (!run) throw new Error(`term ${term.term_id} has no run ${term.run_number}`);
  const pinned = await bookOfRun(tx, job.tenant, term, run);
  const accountOf = await accountsOfTerm(tx, tenantId, pinned, term);
  const { reason, rebill } = job.parameters as Cancelling;
  const paid = await listPaid(tx, tenantId, bill.bill_id, { withDeposits: rebill });
  const deposits = rebill ? await listDemanded(tx, tenantId, bill.bill_id) : [];
  const head = {
    sourceId: note.creditNoteId,
    termId: term.term_id,
    businessUnitId: bill.business_unit_id ?? term.business_unit_id,
    postingDate: note.today,
    description: `Credit note ${note.number}: ${reason}`,
  };
  const shares = await listShares(tx, tenantId, [bill.bill_id]);
  const booking = creditBooking(head, bill, {
    shares,
    paid,
    deposits,
    accountOf,
    contextType: term.context_type,
    reference: note.number,
  });
  const reference = note.number;
  const surcharges = await takeBackSurcharges(tx, tenantId, [bill.bill_id], { reference });
  const entries = [...booking.entries, ...surcharges.flatMap((one) => one.entries)];
  const against = [...(booking.against ?? []), ...surcharges.flatMap((one) => one.against)];
  const toWallet =
    paid.reduce((sum, one) => sum - one.amount, 0) +
    surcharges.reduce((sum, one) => sum + one.toWallet, 0);
  if (entries.length === 0 && against.length === 0) return { journalId: null, toWallet };
  const stamp = { at: job.now, by: job.requestedBy };
  const [journalId = null] = await bookAll(tx, tenantId, [{ ...booking, entries, against }], stamp);
  return { journalId, toWallet };
}

/**
 * A term for the days of the bill: its readings are free to be corrected and posted again, and what
 * was given by hand or uploaded is there.
 */
async function openAgain(
  tx: Tx,
  job: StepJob,
  { term, bill, subscriptions }: Found,
  today: Temporal.PlainDate,
): Promise<{ termId: number; label: string }> {
  const { tenantId } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const endDate = Temporal.PlainDate.from(term.end_date);
  const startDate = Temporal.PlainDate.from(term.start_date);
  const dueDate = dueDateFrom(today, term);
  const ids = subscriptions.map((one) => one.subscription_id);
  const { standIns } = await unlockReadings(tx, tenantId, term.term_id, ids);
  await rejectEstimates(tx, tenantId, term.term_id, standIns, stamp);
  const created = await createTerm(
    tx,
    tenantId,
    {
      contextCode: term.context_code,
      batchCode: subscriptions[0]?.batch_code ?? null,
      billingPeriodId: term.billing_period_id,
      postType: null,
      type: term.term_type === 'Final' ? 'Final' : 'OffCycle',
      // Documents and charts name the month, as those of the cancelled bill do.
      label: term.label,
      startDate,
      endDate,
      dueDate: Temporal.PlainDate.compare(dueDate, startDate) < 0 ? startDate : dueDate,
      subscriptionNumbers: subscriptions.map((one) => one.subscription_number),
      replacesBillId: bill.bill_id,
    },
    stamp,
  );
  await copyInputs(tx, tenantId, { from: term.term_id, to: created.termId }, ids);
  return { termId: created.termId, label: created.label };
}
