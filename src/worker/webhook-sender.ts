// Sends events to webhooks, in all workspaces. Messages are claimed in one transaction and their
// outcome is stored in another; nothing is open in the database while a receiver is waited for. A
// worker that dies leaves its claim, which expires, and the message is sent again.
import { inTurns } from '../base/at-once.ts';
import type { Clock } from '../base/clock.ts';
import { isUnavailable } from '../base/db/faults.ts';
import { type Database, plainOpening, type Tx, tenantTransact, transact } from '../base/db/pool.ts';
import { FairTurns } from '../base/fair-turns.ts';
import type { Log } from '../base/log.ts';
import { type Posted, post } from '../base/outside/post.ts';
import { outsideRules } from '../base/outside/rules.ts';
import { signedHeaders } from '../base/outside/signature.ts';
import type { OutsideRules } from '../base/outside/target.ts';
import { tryUnseal } from '../base/secret-key.ts';
import { makeMessages } from '../domain/events/make-messages.ts';
import { retrySeconds } from '../domain/events/messages.ts';
import {
  type AttemptEnd,
  type ClaimedMessage,
  claimMessages,
  endAttempts,
  listWebhooksWithWork,
  type Sender,
  takeSender,
} from '../domain/events/messages-store.ts';
import { noteHealth } from '../domain/events/webhooks-store.ts';
import { findSettings, findStatus, findWorkspaceName } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';
import { restUntilWoken } from './rest.ts';
import { type PreparedMessage, prepareMessages } from './webhook-bodies.ts';

export type WebhookSenderOptions = {
  database: Database;
  clock: Clock;
  log: Log;
  /** The one workspace to send for, instead of all. */
  tenantId?: number;
  rules?: () => OutsideRules;
  pollMs?: number;
  timeoutMs?: number;
  /** After which a message is sent again if its worker is not heard of. */
  claimSeconds?: number;
  /** Seconds until the next attempt, by the number of failures; null after the last. */
  retryAfter?: (failures: number) => number | null;
};

const limits = {
  pollMs: 1_000,
  timeoutMs: 15_000,
  /** Longer than an attempt and the storing of its outcome take. */
  claimSeconds: 60,
  /** Messages that are claimed together. */
  batch: 60,
  /** Messages to one webhook at the same time. */
  atATime: 20,
  /** To one that fails: enough to notice that it is back. */
  failingBatch: 2,
  /** Failed batches after which a webhook counts as failing. */
  failingAfter: 3,
  /** Webhooks at the same time: of all workspaces, of those that fail, and of one workspace. */
  webhooks: 60,
  failingWebhooks: 30,
  ofWorkspace: 5,
  /** Batches after which a webhook lets others go first. */
  rounds: 20,
} as const;

type Work = { tenant_id: number; webhook_id: number; failures: number };

/** Transactions of webhooks never take all connections of a worker. */
const turns = new FairTurns({
  places: 2,
  share: 2,
  waitingMax: 10_000,
  waitMs: 60_000,
  what: 'transactions of webhooks',
});

export function startWebhookSender(options: WebhookSenderOptions): { stop(): Promise<void> } {
  const { log, pollMs = limits.pollMs } = options;
  const busy = new Map<string, { work: Work; done: Promise<void> }>();
  const rest = restUntilWoken();
  let isStopping = false;
  const begin = (work: Work) => {
    const key = `${work.tenant_id}/${work.webhook_id}`;
    const done = serve(options, work, () => isStopping)
      .catch((error) => logFailure(log, error, work))
      .finally(() => {
        busy.delete(key);
        rest.wake();
      });
    busy.set(key, { work, done });
  };
  const look = async () => {
    const found = await findWork(options);
    const running = [...busy.values()].map(({ work }) => work);
    const isFree = (work: Work) => !busy.has(`${work.tenant_id}/${work.webhook_id}`);
    for (const work of chooseWork(found.filter(isFree), running)) begin(work);
  };
  const running = (async () => {
    while (!isStopping) {
      await look().catch((error) => logFailure(log, error, {}));
      if (!isStopping) await rest.wait(pollMs);
    }
    await Promise.all([...busy.values()].map(({ done }) => done));
  })();
  return {
    async stop() {
      isStopping = true;
      rest.wake();
      await running;
    },
  };
}

function logFailure(log: Log, error: unknown, work: Partial<Work>): void {
  if (isUnavailable(error)) log.warn({ err: error }, 'the database does not answer');
  else log.error({ err: error, ...work }, 'webhooks could not be served');
}

async function findWork({ database, clock, tenantId }: WebhookSenderOptions): Promise<Work[]> {
  const found = await turns.run(tenantId ?? 0, () =>
    transact(database, { opening: plainOpening }, (tx) => listWebhooksWithWork(tx, clock.now())),
  );
  return found.filter((work) => tenantId === undefined || work.tenant_id === tenantId);
}

/**
 * Which webhooks are served next. Workspaces take turns, one webhook each, so that one with many
 * webhooks delays no other; webhooks that fail never take all places.
 */
export function chooseWork(found: readonly Work[], running: readonly Work[]): Work[] {
  const isFailing = (work: Work) => work.failures >= limits.failingAfter;
  const counts = Map.groupBy(running, (work) => work.tenant_id);
  const taken = new Map([...counts].map(([tenantId, list]) => [tenantId, list.length]));
  let places = limits.webhooks - running.length;
  let failingPlaces = limits.failingWebhooks - running.filter(isFailing).length;
  const queues = shuffled([...Map.groupBy(found, (work) => work.tenant_id).values()].map(shuffled));
  const chosen: Work[] = [];
  for (let round = 0; queues.some((queue) => round < queue.length); round += 1) {
    for (const queue of queues) {
      const work = queue[round];
      if (!work || places <= 0 || (isFailing(work) && failingPlaces <= 0)) continue;
      const own = taken.get(work.tenant_id) ?? 0;
      if (own >= limits.ofWorkspace) continue;
      taken.set(work.tenant_id, own + 1);
      places -= 1;
      if (isFailing(work)) failingPlaces -= 1;
      chosen.push(work);
    }
  }
  return chosen;
}

/** Several workers begin at different places, so that they seldom meet. */
function shuffled<T>(list: readonly T[]): T[] {
  const start = Math.floor(Math.random() * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Sends batches to one webhook until nothing is due, or others have waited long enough. */
async function serve(
  options: WebhookSenderOptions,
  { tenant_id: tenantId, webhook_id: webhookId }: Work,
  isStopping: () => boolean,
): Promise<void> {
  const { database, clock } = options;
  const write = <T>(work: (tx: Tx) => Promise<T>) =>
    turns.run(tenantId, () => tenantTransact(database, tenantId, work));
  for (let round = 0; round < limits.rounds && !isStopping(); round += 1) {
    const claim = await write((tx) => claimBatch(tx, options, tenantId, webhookId));
    if (!claim || claim.messages.length === 0) return;
    const { messages, sender, claimedUntil } = claim;
    const { timeoutMs = limits.timeoutMs } = options;
    const lastBegin = claimedUntil.subtract({ milliseconds: timeoutMs });
    const prepareSome = (some: readonly ClaimedMessage[]) =>
      write((tx) => prepare(tx, tenantId, some, clock.now()));
    const ready = await prepareAll(messages, prepareSome, options.log);
    const inTurn = inTurns(limits.atATime);
    // A worker that is asked to stop begins no further message, nor one that late: the claim
    // expires, as after a kill, and whoever claims the message next sends it.
    const sent: SentMessage[] = [];
    const send = async (message: ClaimedMessage) => {
      if (isStopping() || Temporal.Instant.compare(clock.now(), lastBegin) > 0) return;
      const posted = await sendOne(options, sender, ready.get(message.sequence));
      sent.push({ message, posted });
    };
    await Promise.all(messages.map((message) => inTurn(() => send(message))));
    await write((tx) => storeOutcomes(tx, tenantId, { sender, sent }, options));
    if (messages.length < batchOf(sender)) return;
  }
}

type Batch = { sender: Sender; messages: ClaimedMessage[]; claimedUntil: Temporal.Instant };
/** Nothing was posted of an event that is no longer kept. */
type SentMessage = { message: ClaimedMessage; posted: Posted | undefined };

function batchOf({ failures }: Sender): number {
  return failures >= limits.failingAfter ? limits.failingBatch : limits.batch;
}

async function claimBatch(
  tx: Tx,
  { clock, claimSeconds = limits.claimSeconds }: WebhookSenderOptions,
  tenantId: number,
  webhookId: number,
): Promise<Batch | undefined> {
  if ((await findStatus(tx, tenantId)) !== 'Active') return undefined;
  const sender = await takeSender(tx, tenantId, webhookId);
  if (!sender) return undefined;
  const now = clock.now();
  await makeMessages(tx, tenantId, sender, now);
  const claimedUntil = now.add({ seconds: claimSeconds });
  const limit = batchOf(sender);
  const messages = await claimMessages(tx, tenantId, webhookId, { now, claimedUntil, limit });
  return { sender, messages, claimedUntil };
}

type Ready = ReadonlyMap<number, PreparedMessage | 'Unreadable'>;

/** One message that cannot be made keeps none of the others from being sent. */
async function prepareAll(
  messages: readonly ClaimedMessage[],
  prepareSome: (some: readonly ClaimedMessage[]) => Promise<PreparedMessage[]>,
  log: Log,
): Promise<Ready> {
  try {
    return new Map((await prepareSome(messages)).map((one) => [one.sequence, one]));
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const [message] = messages;
    if (messages.length === 1 && message) {
      log.error({ err: error, eventId: message.event_id }, 'a message could not be made');
      return new Map([[message.sequence, 'Unreadable']]);
    }
    const ready = new Map<number, PreparedMessage | 'Unreadable'>();
    for (const one of messages) {
      for (const [key, value] of await prepareAll([one], prepareSome, log)) ready.set(key, value);
    }
    return ready;
  }
}

async function prepare(
  tx: Tx,
  tenantId: number,
  messages: readonly ClaimedMessage[],
  now: Temporal.Instant,
): Promise<PreparedMessage[]> {
  const workspace = await findWorkspaceName(tx, tenantId);
  const tenant = { ...tenantFrom(tenantId, await findSettings(tx, tenantId)), workspace };
  return prepareMessages(tx, tenant, messages, now);
}

async function sendOne(
  { clock, rules = outsideRules, timeoutMs = limits.timeoutMs }: WebhookSenderOptions,
  sender: Sender,
  message: PreparedMessage | 'Unreadable' | undefined,
): Promise<Posted | undefined> {
  if (!message) return undefined;
  if (message === 'Unreadable') {
    return { outcome: 'Failed', status: null, detail: 'The message could not be made' };
  }
  const { id, body } = message;
  const at = clock.now();
  const secrets = liveSecrets(sender, at);
  if (secrets.length === 0) return { outcome: 'Failed', status: null, detail: unreadable };
  const signed = signedHeaders({ id, body, at }, secrets);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Billwright',
    ...signed,
  };
  return post({ url: sender.url, headers, body, timeoutMs }, rules());
}

const unreadable =
  'The secret was encrypted with another key than that of the worker (SECRET_KEY_FILE)';

/** The old secret signs too, until its time is up. None if the key of this worker is another. */
function liveSecrets(sender: Sender, at: Temporal.Instant): Buffer[] {
  const { secret, old_secret: old, old_secret_until: until } = sender;
  const isOldLive = old !== null && until !== null && Temporal.Instant.compare(at, until) < 0;
  const current = tryUnseal(secret);
  const further = current && isOldLive ? tryUnseal(old) : undefined;
  return [current, further].filter((one) => one !== undefined);
}

const goneStatus = 410;

async function storeOutcomes(
  tx: Tx,
  tenantId: number,
  { sender, sent }: { sender: Sender; sent: readonly SentMessage[] },
  { clock, retryAfter = retrySeconds }: WebhookSenderOptions,
): Promise<void> {
  if (sent.length === 0) return;
  const now = clock.now();
  const ends = sent.map(({ message, posted: result }): AttemptEnd => {
    const { sequence, attempts: attempt } = message;
    const { status: httpStatus = null, detail = 'The event is no longer kept' } = result ?? {};
    const base = { sequence, attempt, httpStatus, detail };
    if (isDelivered(result)) {
      return { ...base, outcome: 'Delivered', status: 'Delivered', nextAttemptAt: null };
    }
    const seconds = result === undefined ? null : retryAfter(message.failures + 1);
    const outcome = result?.outcome === 'Refused' ? 'Refused' : 'Failed';
    if (seconds === null) return { ...base, outcome, status: 'Dead', nextAttemptAt: null };
    const next = now.add({ milliseconds: Math.ceil(seconds * 1_000) }).toString();
    return { ...base, outcome, status: 'Queued', nextAttemptAt: next };
  });
  await endAttempts(tx, tenantId, sender.webhook_id, ends, now);
  await noteHealth(tx, tenantId, sender.webhook_id, {
    succeeded: sent.some(({ posted }) => isDelivered(posted)),
    error: ends.findLast(({ outcome }) => outcome !== 'Delivered')?.detail ?? null,
    isGone: sent.some(({ posted }) => posted?.status === goneStatus),
    at: now,
  });
}

function isDelivered(posted: Posted | undefined): boolean {
  const status = posted?.status ?? 0;
  return status >= 200 && status < 300;
}
