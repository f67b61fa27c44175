// Cancels a posted bill by a credit note for the part that is not credited yet. To bill its days
// again, its subscriptions are put back as they were before, and a term for them alone is opened.

import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { type CreditNote, insertCreditNotes } from '../domain/bills/credit-notes-store.ts';
import { takeBackSurcharges } from '../domain/bills/late/take-back.ts';
import {
  type BilledSubscription,
  copyInputs,
  forgetBilledTerm,
  hasMovedOn,
  listBilled,
  lockBill,
  markCancelled,
  markDraftsStale,
  type PostedBill,
  touchSubscriptions,
} from '../domain/bills/posting/cancel-store.ts';
import { restOf } from '../domain/bills/posting/credit-bill.ts';
import { bookCreditNotes, findCreditable } from '../domain/bills/posting/credit-notes.ts';
import { listDemanded } from '../domain/bills/posting/creditable-store.ts';
import { restoreSubscriptions } from '../domain/bills/posting/unpost-store.ts';
import { failCancelled } from '../domain/delivery/sending-store.ts';
import { doubtDeliveries } from '../domain/delivery/store.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import { isOwedByWorkspace } from '../domain/ledger/accounts.ts';
import { createTerm } from '../domain/terms/create.ts';
import { unlockReadings } from '../domain/terms/readings-store.ts';
import { getTerm, type Term } from '../domain/terms/store.ts';
import { rejectEstimates } from '../domain/terms/substitute-readings-store.ts';
import { dueDateFrom } from '../domain/terms/term.ts';
import { auditStep } from '../jobs/audit-step.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import { wholeStep } from '../jobs/whole-step.ts';

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
    const what = 'went to another owner, was settled by a deposit, or paid other bills';
    throw refusal(bill, term, `What was owed on ${bill.bill_number} ${what}`);
  }
  if (bill.disputed !== 0) {
    throw refusal(bill, term, `${bill.bill_number} is in dispute: resolve the dispute first`);
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
  const note = await credit(tx, job, found, today);
  const { number } = note;
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
  const cancelled = eventsOf('bill.cancelled', 'billID', [bill.bill_id]);
  await insertEvents(tx, tenantId, cancelled, stamp.at);
  // No other job of the term runs: the worker that was sending the bill is gone.
  await doubtDeliveries(tx, tenantId, [bill.bill_id], job.now);
  await failCancelled(tx, tenantId, term.term_id, job.now);
  const again = rebill ? await openAgain(tx, job, found, today) : null;
  const rebillTermId = again?.termId ?? null;
  await insertCreditNotes(tx, tenantId, [{ ...note, rebillTermId }], stamp);
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
 * Credits what is left of the bill and of its surcharges; what had been paid goes into the wallet.
 * A deposit that the bill demanded is demanded by the next one again.
 */
async function credit(
  tx: Tx,
  job: StepJob,
  { term, bill }: Found,
  today: Temporal.PlainDate,
): Promise<CreditNote> {
  const { tenantId } = job.tenant;
  const { reason, rebill } = job.parameters as Cancelling;
  const creditable = (await findCreditable(tx, tenantId, [bill.bill_id])).get(bill.bill_id);
  if (!creditable) throw new Error(`bill ${bill.bill_id} is gone`);
  if (isOwedByWorkspace(creditable.contextType) && creditable.paid.length > 0) {
    const message = `${bill.bill_number} was paid to the party: reverse the payments first`;
    throw refusal(bill, term, message);
  }
  const lines = restOf(creditable);
  const [surcharges] = await takeBackSurcharges(tx, tenantId, [bill.bill_id]);
  const deposits = rebill ? await listDemanded(tx, tenantId, bill.bill_id) : [];
  const besides = { deposits, surcharges };
  const note = { bill: creditable, lines, reason, reference: null, cancelsBill: true, besides };
  const stamp = { at: job.now, by: job.requestedBy };
  const [made] = await bookCreditNotes(tx, tenantId, [note], { today, stamp });
  if (!made) throw new Error(`bill ${bill.bill_id} was not credited`);
  return made;
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
