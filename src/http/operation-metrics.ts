// Jobs, deliveries and workers for Prometheus, as sums over all workspaces.
import { Gauge, type Registry } from 'prom-client';
import { type Database, plainOpening, transact } from '../base/db/pool.ts';
import { type Watched, watchOperations } from '../domain/monitoring/store.ts';

/** /metrics needs no token, so the database is read at most this often, however many calls come. */
const keptMs = 5_000;
/** A worker counts as lost after three missed heartbeats. */
const lostSeconds = 30;

const jobs = { open: ['Scheduled', 'Due', 'Running'], ended: ['Succeeded', 'Failed', 'Cancelled'] };
const deliveries = {
  open: ['Queued', 'Sending', 'Uncertain'],
  ended: ['Sent', 'Delivered', 'Failed'],
};

const messages = { open: ['Waiting'], ended: ['Delivered', 'Dead'] };
const events = { open: ['Unread'], ended: [] };

/** Returns what brings the gauges up to date; it never fails. */
export function createOperationMetrics(
  registry: Registry,
  database: Database,
): () => Promise<void> {
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({
      name: `billwright_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
    });
  const up = gauge('database_up', '1 if the database answers, otherwise 0');
  const counted = gauge('counted_seconds', 'Age of the oldest count of jobs and deliveries');
  const workers = gauge('workers', 'Workers, live and lost (no heartbeat for 30 seconds)', 'state');
  const heartbeat = gauge('worker_heartbeat_seconds', 'Time since the last heartbeat', 'worker');
  const ofJobs = {
    open: gauge('jobs', 'Jobs scheduled for later, due and running', 'state'),
    ended: gauge('jobs_ended', 'Jobs that ended in the last hour', 'state'),
    oldest: gauge('job_oldest_seconds', 'How long the oldest job has been due or running', 'state'),
  };
  const ofDeliveries = {
    open: gauge('deliveries', 'Deliveries queued, being sent and uncertain', 'state'),
    ended: gauge('deliveries_ended', 'Deliveries that ended in the last hour', 'state'),
    oldest: gauge('delivery_oldest_seconds', 'Age of the oldest such delivery', 'state'),
  };
  const ofMessages = {
    open: gauge('webhook_messages', 'Messages to webhooks that wait', 'state'),
    ended: gauge(
      'webhook_messages_ended',
      'Messages to webhooks delivered or given up in the last hour',
      'state',
    ),
    oldest: gauge('webhook_message_oldest_seconds', 'Age of the oldest such message', 'state'),
  };
  const ofEvents = {
    open: gauge('events', 'Events that a webhook has not read yet', 'state'),
    oldest: gauge('event_oldest_seconds', 'Age of the oldest such event', 'state'),
  };

  function show(watched: Watched): void {
    const { operations } = watched;
    const ofKind = (kind: string) => operations.filter((one) => one.kind === kind);
    fill(ofJobs, jobs, ofKind('job'));
    fill(ofDeliveries, deliveries, ofKind('delivery'));
    fill(ofMessages, messages, ofKind('webhook'));
    fill(ofEvents, events, ofKind('event'));
    counted.set(Math.max(0, ...operations.map((one) => one.counted_seconds)));
    heartbeat.reset();
    for (const { worker, seen_seconds } of watched.workers) heartbeat.set({ worker }, seen_seconds);
    const lost = watched.workers.filter((one) => one.seen_seconds > lostSeconds).length;
    workers.set({ state: 'live' }, watched.workers.length - lost);
    workers.set({ state: 'lost' }, lost);
  }

  return seldom(async () => {
    try {
      const options = { opening: plainOpening, readOnly: true };
      show(await transact(database, options, watchOperations));
      up.set(1);
    } catch {
      // The figures are those of the last time; that the database is away is a figure itself.
      up.set(0);
    }
  });
}

type Gauges = { open: Gauge; ended?: Gauge; oldest: Gauge };
type States = { open: readonly string[]; ended: readonly string[] };

/** Every state is always there, with 0 if need be: an alert cannot fire on what is missing. */
function fill(gauges: Gauges, states: States, found: Watched['operations']): void {
  const byState = new Map(found.map((one) => [one.state, one]));
  for (const state of states.open) {
    gauges.open.set({ state }, byState.get(state)?.amount ?? 0);
    // What is scheduled for later is not late.
    const oldest = state === 'Scheduled' ? 0 : (byState.get(state)?.oldest_seconds ?? 0);
    gauges.oldest.set({ state }, Math.max(0, oldest));
  }
  for (const state of states.ended) gauges.ended?.set({ state }, byState.get(state)?.amount ?? 0);
}

/** Callers within keptMs share one run. */
function seldom(run: () => Promise<void>): () => Promise<void> {
  let last: { atMs: number; done: Promise<void> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!last || nowMs - last.atMs > keptMs) last = { atMs: nowMs, done: run() };
    return last.done;
  };
}
