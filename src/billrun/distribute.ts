// Step 9: published bills go to their customers. A chunk writes down which of its bills go where,
// and sends them; what is to be printed goes into one file when all chunks are done.

import { type Tx, tenantTransact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { getBillOfTerm } from '../domain/bills/store.ts';
import { chooseRoutes, type Route } from '../domain/delivery/choose-channels.ts';
import { failCancelled } from '../domain/delivery/sending-store.ts';
import { getTemplateVersions } from '../domain/delivery/settings-store.ts';
import {
  type AddressedBill,
  cutPublished,
  doubtDeliveries,
  failWaiting,
  hastenDeliveries,
  insertDeliveries,
  listAddressedBills,
  type NewDelivery,
  replaceDeliveries,
  type UnderWay,
} from '../domain/delivery/store.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import type { Channel } from '../domain/tenants/channels.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import { getTerm, type Term, updateTermStage } from '../domain/terms/store.ts';
import type { TermStage } from '../domain/terms/term.ts';
import { chunkSizeFor } from '../jobs/chunks.ts';
import type {
  Chunk,
  ChunkResult,
  Finish,
  Plan,
  Step,
  StepJob,
  StepRequest,
  Worked,
} from '../jobs/step.ts';
import type { Tools } from '../jobs/tools.ts';
import { printBills } from './print-bills.ts';
import { scheduleRetry, scheduleRetryLater } from './retry-deliveries.ts';
import { countsText, type MailCounts, sendMails } from './send-mails.ts';
import { missingText } from './term-state.ts';

const chunkSize = 200;

export const distributeBillsStep: Step = {
  operation: 'distribute-bills',
  check,
  prepare,
  work,
  finish,
  setAside,
  failed: scheduleRetryLater,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  const term = await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' });
  if (term.status !== 'Published') {
    throw new AppError('TERM_NOT_PUBLISHED', {
      message: missingText(term),
      current: { status: term.status, stage: term.stage },
      allowed: ['Published'],
    });
  }
  if (request.billId !== null) await assertPublished(tx, tenantId, term, request.billId);
  const { delivery_channels: channels } = await findSettings(tx, tenantId);
  if (channels.length === 0) throw new AppError('NO_DELIVERY_CHANNEL');
}

async function assertPublished(
  tx: Tx,
  tenantId: number,
  term: Term,
  billId: number,
): Promise<void> {
  const { status } = await getBillOfTerm(tx, tenantId, term, billId);
  if (status === 'Published') return;
  throw new AppError('INVALID_STATE', {
    message: `Bill ${billId} is ${status}. Only published bills are sent.`,
    field: 'billId',
    current: status,
    allowed: ['Published'],
  });
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  await showStage(tx, job, 'Distributing');
  const { billId } = job;
  return cutPublished(tx, tenantId, { termId, billId }, chunkSizeFor(job, chunkSize));
}

/** Sending a single bill does not change the stage of its term. */
async function showStage(tx: Tx, job: StepJob, stage: TermStage): Promise<void> {
  if (job.billId !== null) return;
  const stamp = { at: job.now, by: job.requestedBy };
  await updateTermStage(tx, job.tenant.tenantId, job.termId ?? 0, { stage }, stamp);
}

type Outcome = MailCounts & { portal: number; refused: number };

async function work(tx: Tx, job: StepJob, chunk: Chunk, tools: Tools): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const { billIds, portal, refused, uncertain } = await tenantTransact(
    tools.database,
    tenantId,
    (own) => addressBills(own, job, chunk, tools),
  );
  const mails = await sendMails(tx, tools, job, billIds);
  const outcome: Outcome = { ...mails, uncertain: mails.uncertain + uncertain, portal, refused };
  return { done: billIds.length, outcome };
}

/** Stored before anything is sent: which bills go where, as their parties can be reached now. */
async function addressBills(tx: Tx, job: StepJob, chunk: Chunk, tools: Tools) {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const stamp = { at: job.now, by: job.requestedBy };
  const term = await getTerm(tx, tenantId, termId);
  const { delivery_channels: ofWorkspace } = await findSettings(tx, tenantId);
  const wanted = { termId, billId: job.billId };
  const bills = await listAddressedBills(tx, tenantId, wanted, chunk);
  const billIds = bills.map((bill) => bill.bill_id);
  // The worker that had this chunk before has died.
  const uncertain = await doubtDeliveries(tx, tenantId, billIds, job.now);
  await hastenDeliveries(tx, tenantId, billIds, job.now);
  const ways = bills.map((bill) => waysOf(job, bill, ofWorkspace as Channel[]));
  const replaced = ways.flatMap((way) => way.replaced);
  await replaceDeliveries(tx, tenantId, replaced, job.now);
  const routes = ways.flatMap((way) => way.routes.map((route) => ({ bill: way.bill, route })));
  const templates = await getTemplateVersions(tx, tenantId, term.context_id);
  const { email_template_id: templateId, email_template_version: version } = templates;
  const template = templateId === null || version === null ? null : { templateId, version };
  if (routes.length > 0) {
    const firstId = await takeNumbers(tx, tenantId, 'delivery', routes.length);
    const rows = routes.map(({ bill, route }, index) => ({
      ...newDelivery(route),
      deliveryId: firstId + index,
      billId: bill.bill_id,
      messageId: messageIdOf(tools, job, bill, route),
    }));
    const request = { termId, jobId: job.jobId, template };
    await insertDeliveries(tx, tenantId, request, rows, stamp);
  }
  const count = (status: string) =>
    routes.filter(({ route }) => newDelivery(route).status === status).length;
  return { billIds, portal: count('Delivered'), refused: count('Failed'), uncertain };
}

/**
 * The channels by which a bill is sent. Usually these are its channels without those by which it
 * was, or may have been, sent. If sending again was requested, they are all of its channels without
 * those by which it is being sent now. Queued deliveries to an address that is no longer used are
 * then replaced, except those that an earlier attempt of this job made.
 */
function waysOf(job: StepJob, bill: AddressedBill, ofWorkspace: readonly Channel[]) {
  const { email, contacts, delivery_channels: channels } = bill;
  const all = chooseRoutes({ email, contacts, channels }, ofWorkspace);
  const without = (done: readonly Channel[]) =>
    all.filter(({ channel }) => !done.includes(channel));
  const isAgain = job.billId !== null || job.parameters.resend === true;
  if (!isAgain) return { bill, routes: without(bill.known), replaced: [] };
  const isReplaced = ({ status, jobId, channel, recipient }: UnderWay) =>
    status === 'Queued' &&
    jobId !== job.jobId &&
    !all.some((route) => route.channel === channel && route.recipient === recipient);
  const replaced = bill.under_way.filter(isReplaced);
  const kept = bill.under_way.filter((one) => !replaced.includes(one));
  return {
    bill,
    routes: without(kept.map(({ channel }) => channel)),
    replaced: replaced.map(({ deliveryId }) => deliveryId),
  };
}

/** Mails and prints wait for their turn; a bill is in the portal by being published. */
function newDelivery({ channel, recipient, problem }: Route) {
  const common = { channel, recipient, reason: null, isSent: false };
  if (problem !== undefined) {
    return { ...common, status: 'Failed', reason: problem } satisfies Partial<NewDelivery>;
  }
  switch (channel) {
    case 'Email':
    case 'Print':
      return { ...common, status: 'Queued' } satisfies Partial<NewDelivery>;
    case 'Portal':
      return { ...common, status: 'Delivered', isSent: true } satisfies Partial<NewDelivery>;
    default: {
      const reason = `No gateway is configured for ${channel}`;
      return { ...common, status: 'Failed', reason } satisfies Partial<NewDelivery>;
    }
  }
}

/**
 * The Message-ID of a mail. It is the same in every attempt of a request for a bill and channel. A
 * mail to an address where an earlier one may have arrived takes over its id: if both arrive, mail
 * programs show one. A failed mail counts too, because it may have arrived before it failed.
 */
function messageIdOf(tools: Tools, job: StepJob, bill: AddressedBill, route: Route): string {
  const last = bill.mails.findLast(({ recipient }) => recipient === route.recipient);
  if (last && last.status !== 'Sent') return last.messageId;
  const channel = route.channel.toLowerCase();
  const local = `bill-${bill.bill_id}.${channel}.${job.jobId}.${job.tenant.tenantId}`;
  return `<${local}@${tools.mailDomain}>`;
}

async function setAside(tx: Tx, job: StepJob, chunk: Chunk, reason: string): Promise<ChunkResult> {
  const { tenantId } = job.tenant;
  const wanted = { termId: job.termId ?? 0, billId: job.billId };
  const bills = await listAddressedBills(tx, tenantId, wanted, chunk);
  const billIds = bills.map((bill) => bill.bill_id);
  const uncertain = await doubtDeliveries(tx, tenantId, billIds, job.now);
  const given = { termId: wanted.termId, range: chunk };
  const failed = await failWaiting(tx, tenantId, given, `Given up: ${reason}`, job.now);
  const outcome: Outcome = { sent: 0, failed, uncertain, waiting: 0, portal: 0, refused: 0 };
  return { done: 0, outcome };
}

async function finish(tx: Tx, job: StepJob, worked: Worked, tools: Tools): Promise<Finish> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  const printed = await printBills(tx, job, tools);
  await getTerm(tx, tenantId, termId, { lock: 'update' });
  await failCancelled(tx, tenantId, termId, job.now);
  if (worked.setAside.length === 0) {
    await scheduleRetry(tx, job);
    await showStage(tx, job, 'Distributed');
    const events = job.billId === null ? eventsOf('term.distributed', 'termID', [termId]) : [];
    await insertEvents(tx, tenantId, events, job.now);
  }
  const outcomes = worked.outcomes as Outcome[];
  const sum = (pick: keyof Outcome) => outcomes.reduce((total, one) => total + one[pick], 0);
  const counts = {
    sent: sum('sent'),
    portal: sum('portal'),
    printed: printed.printed,
    failed: sum('failed') + sum('refused') + printed.failed,
    uncertain: sum('uncertain'),
    waiting: sum('waiting'),
  };
  return { message: countsText(counts), ...counts, files: printed.files };
}
