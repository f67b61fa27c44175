// Hands over the mails of one chunk of a job. The program stores that a mail is being sent before
// it hands it over, and the outcome right after, in separate transactions. A worker that dies in
// between leaves at most as many uncertain mails as were in flight at that moment.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Tx, tenantTransact } from '../base/db/pool.ts';
import type { MailMessage } from '../base/mail/message.ts';
import { firstRetrySeconds, type MailResult, mailRetrySeconds } from '../base/mail/result.ts';
import { type MailBreaker, withoutBreaker } from '../domain/delivery/mail-breaker.ts';
import {
  claimDeliveries,
  endSending,
  keepHold,
  listQueuedMails,
  putOff,
  type QueuedMail,
  type SendingEnd,
} from '../domain/delivery/sending-store.ts';
import { holdRunningJob } from '../jobs/job-work-store.ts';
import type { StepJob } from '../jobs/step.ts';
import type { Tools } from '../jobs/tools.ts';
import { type PreparedMail, prepareMails, readMailSource } from './prepare-mails.ts';

export type MailCounts = { sent: number; failed: number; uncertain: number; waiting: number };

/** For the caller that waits for the end of the job. */
export function countsText(counts: Record<string, number>): string {
  const words: [string, string][] = [
    ['sent', 'sent'],
    ['portal', 'in the portal'],
    ['printed', 'printed'],
    ['failed', 'failed'],
    ['uncertain', 'uncertain'],
    ['waiting', 'to be tried again'],
  ];
  const told = words.filter(([name]) => (counts[name] ?? 0) > 0);
  if (told.length === 0) return 'Nothing was left to be sent';
  return told.map(([name, text]) => `${counts[name]} ${text}`).join(', ');
}

/** Rendered ahead while others are on their way. */
const preparedAtOnce = 20;
/** Longer than a database takes to restart. After that, outcomes that were not stored are lost. */
const recordPausesMs = [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000];

/**
 * Sends the mails of these bills that are due, while the transaction locks them. If the worker is
 * stopped, the rest stays queued.
 */
export async function sendMails(
  holding: Tx,
  tools: Tools,
  job: StepJob,
  billIds: readonly number[],
): Promise<MailCounts> {
  const { tenantId } = job.tenant;
  const { mails, source } = await tenantTransact(tools.database, tenantId, async (tx) => {
    const mails = await listQueuedMails(tx, tenantId, billIds, job.now);
    return { mails, source: await readMailSource(tx, tenantId, job.termId ?? 0, mails) };
  });
  const breaker = source.tenant.sandbox ? withoutBreaker : tools.breaker;
  const counts = { sent: 0, failed: 0, uncertain: 0, waiting: 0 };
  const outbound: Outbound = { tools, job, breaker, counts };
  const batches = piecesOf(mails, preparedAtOnce);
  // Documents cost more than anything else here: none is made for a server that takes nothing.
  const prepare = (batch: readonly QueuedMail[] | undefined) =>
    batch && !breaker.isResting() ? prepareMails(tools, tenantId, source, batch) : undefined;
  let coming = prepare(batches[0]);
  for (const [at, batch] of batches.entries()) {
    const ready = await coming;
    if (tools.isStopping()) {
      outbound.counts.waiting += mails.length - at * preparedAtOnce;
      break;
    }
    await keepHold(holding, tenantId);
    coming = prepare(batches[at + 1]);
    // If sending fails, no code awaits this promise any more.
    coming?.catch(() => {});
    if (ready) await sendBatch(outbound, ready);
    else await putOffRest(outbound, batch);
  }
  return outbound.counts;
}

type Outbound = { tools: Tools; job: StepJob; breaker: MailBreaker; counts: MailCounts };

function piecesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const pieces: Item[][] = [];
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size));
  return pieces;
}

type Ready = { mail: QueuedMail; message: MailMessage };

async function sendBatch(outbound: Outbound, prepared: readonly PreparedMail[]): Promise<void> {
  const { tools, breaker } = outbound;
  const waiting: Ready[] = [];
  const unsent: Omit<SendingEnd, 'attempts'>[] = [];
  for (const one of prepared) {
    if ('message' in one) waiting.push(one);
    else unsent.push(endOf(outbound, one.mail, { outcome: 'Permanent', detail: one.problem }));
  }
  if (unsent.length > 0) {
    await store(outbound, (tx, tenantId, at) => putOff(tx, tenantId, unsent, at));
  }
  const flight = newFlight();
  try {
    while (waiting.length > 0 || flight.size() > 0) {
      const mayGo = breaker.mayTry() && !tools.isStopping();
      const room = mayGo ? tools.mailsAtOnce - flight.flying() : 0;
      if (room === 0 && flight.size() === 0) break;
      const next = waiting.splice(0, room);
      for (const { ready, attempts } of await takeOff(outbound, flight, next)) {
        flight.add(handOver(outbound, ready, attempts));
      }
      await flight.landing();
    }
  } finally {
    await land(outbound, flight);
  }
  const rest = waiting.map(({ mail }) => mail);
  if (tools.isStopping()) outbound.counts.waiting += rest.length;
  else await putOffRest(outbound, rest);
}

/** Stores the outcomes of the mails that have ended, and that the next ones are being sent. */
async function takeOff(
  outbound: Outbound,
  flight: Flight,
  next: readonly Ready[],
): Promise<{ ready: Ready; attempts: number }[]> {
  const ended = flight.ended();
  const ids = next.map(({ mail }) => mail.delivery_id);
  const claimed = await store(outbound, async (tx, tenantId, at) => {
    await endFlights(tx, outbound, ended, at);
    return claimDeliveries(tx, tenantId, ids, at);
  });
  flight.forget(ended);
  return next.flatMap((ready) => {
    const attempts = claimed.get(ready.mail.delivery_id);
    return attempts === undefined ? [] : [{ ready, attempts }];
  });
}

/**
 * The end of the job plans when mails are tried again. If another worker took the chunk over and
 * this one learns the outcome of a mail only later, no job retries it: the next request sends it.
 */
async function endFlights(
  tx: Tx,
  { job }: Outbound,
  ended: readonly SendingEnd[],
  at: Temporal.Instant,
): Promise<void> {
  const { tenantId } = job.tenant;
  const isWaiting = ended.some(({ status }) => status === 'Queued');
  const isTooLate = isWaiting && !(await holdRunningJob(tx, tenantId, job.jobId));
  const ends = ended.map((end): SendingEnd => {
    if (!isTooLate || end.status !== 'Queued') return end;
    return { ...end, status: 'Failed', nextAttemptAt: null };
  });
  await endSending(tx, tenantId, ends, at);
}

/** Waits for all mails that are being sent and stores their outcomes, even if the chunk failed. */
async function land(outbound: Outbound, flight: Flight): Promise<void> {
  await flight.allLanded();
  const ended = flight.ended();
  if (ended.length === 0) return;
  for (const pauseMs of recordPausesMs) {
    try {
      await store(outbound, (tx, _, at) => endFlights(tx, outbound, ended, at));
      return;
    } catch (error) {
      outbound.tools.log.warn(
        { err: error, mails: ended.length },
        'mails were sent, but their outcome could not be stored',
      );
      await sleep(pauseMs);
    }
  }
  throw new Error(`${ended.length} mails were sent, but their outcome could not be stored`);
}

/** The error may name folders of this machine, which do not help the reader of a delivery. */
const notHandedOver = 'The mail could not be handed over; see the log for the reason';

async function handOver(
  outbound: Outbound,
  { mail, message }: Ready,
  attempts: number,
): Promise<SendingEnd> {
  const { tools, breaker } = outbound;
  const result = await tools.mailer.send(message).catch((error: Error): MailResult => {
    tools.log.error(
      { err: error, deliveryId: mail.delivery_id },
      'a mail could not be handed over',
    );
    return { outcome: 'Temporary', detail: notHandedOver };
  });
  breaker.note(result.outcome === 'Temporary');
  return { ...endOf(outbound, mail, result), attempts };
}

/**
 * The mail server accepts no mails at the moment: these are tried later, and given up like others.
 * If the server accepted mails recently, these have only waited, and do not count as failed.
 */
async function putOffRest(outbound: Outbound, rest: readonly QueuedMail[]): Promise<void> {
  if (rest.length === 0) return;
  const detail = 'The mail server accepts no mails at the moment';
  const isAlive = outbound.breaker.isAlive();
  const ends = rest.map((mail) =>
    isAlive
      ? queuedAgain(outbound, mail, detail, firstRetrySeconds)
      : endOf(outbound, mail, { outcome: 'Temporary', detail }),
  );
  await store(outbound, (tx, tenantId, at) => putOff(tx, tenantId, ends, at));
}

type MailEnd = Omit<SendingEnd, 'attempts'>;

function endOf(outbound: Outbound, mail: QueuedMail, { outcome, detail }: MailResult): MailEnd {
  const { counts } = outbound;
  const common = { deliveryId: mail.delivery_id, reason: detail, failures: 0, nextAttemptAt: null };
  if (outcome === 'Sent') {
    counts.sent += 1;
    return { ...common, status: 'Sent' };
  }
  if (outcome === 'Uncertain') {
    counts.uncertain += 1;
    return { ...common, status: 'Uncertain', reason: `It may have arrived: ${detail}` };
  }
  const failures = mail.failures + 1;
  const seconds = outcome === 'Temporary' ? mailRetrySeconds(failures) : null;
  if (seconds === null) {
    counts.failed += 1;
    const reason =
      outcome === 'Temporary' ? `Given up after ${failures} failures: ${detail}` : detail;
    return { ...common, status: 'Failed', reason, failures };
  }
  return queuedAgain(outbound, { ...mail, failures }, detail, seconds);
}

function queuedAgain(
  { job, counts }: Outbound,
  { delivery_id: deliveryId, failures }: QueuedMail,
  reason: string,
  seconds: number,
): MailEnd {
  counts.waiting += 1;
  const nextAttemptAt = job.now.add({ seconds });
  return { deliveryId, status: 'Queued', reason, failures, nextAttemptAt };
}

function store<T>(
  { tools, job }: Outbound,
  work: (tx: Tx, tenantId: number, at: Temporal.Instant) => Promise<T>,
): Promise<T> {
  const { tenantId } = job.tenant;
  return tenantTransact(tools.database, tenantId, (tx) => work(tx, tenantId, job.now));
}

type Flight = {
  add(sending: Promise<SendingEnd>): void;
  flying(): number;
  /** Includes mails that have ended and whose outcome is not stored yet. */
  size(): number;
  /** Mails that have ended, until their outcome is stored. */
  ended(): SendingEnd[];
  forget(ends: readonly SendingEnd[]): void;
  /** Waits until a mail has ended. */
  landing(): Promise<void>;
  allLanded(): Promise<void>;
};

/** Mails on their way. */
function newFlight(): Flight {
  const flying = new Set<Promise<void>>();
  const landed: SendingEnd[] = [];
  return {
    add(sending) {
      const landing = sending.then((end) => {
        flying.delete(landing);
        landed.push(end);
      });
      flying.add(landing);
    },
    flying: () => flying.size,
    size: () => flying.size + landed.length,
    ended: () => [...landed],
    forget(ends) {
      const gone = new Set(ends);
      landed.splice(0, landed.length, ...landed.filter((end) => !gone.has(end)));
    },
    landing: async () => {
      if (landed.length === 0 && flying.size > 0) await Promise.race(flying);
    },
    allLanded: async () => {
      await Promise.all(flying);
    },
  };
}
