// The events of a workspace as they come, read through the API like any program does.
import { setTimeout as sleep } from 'node:timers/promises';
import { BillingError, type Client, type DataOf } from '../../../sdk/client.ts';

export type ListenedEvent = DataOf<'getEvents'>['events'][number];

export type Listening = {
  billing: Client;
  logIn: () => Promise<void>;
  signal: AbortSignal;
  warn: (sentence: string) => void;
};

const pageSize = 100;
const pollMs = 1_000;
const pauseMaxMs = 30_000;

/** The id of the newest event. Undefined if there is none. */
export function newestEvent(listening: Listening): Promise<number | undefined> {
  return repeated(listening, newest);
}

/**
 * Events after `first`, or all of them. Ends when the signal is aborted. A server that does not
 * answer is asked again and again.
 */
export async function* eventsAfter(
  first: number | undefined,
  listening: Listening,
): AsyncGenerator<ListenedEvent> {
  const { signal } = listening;
  let since = first;
  while (!signal.aborted) {
    const events = await repeated(listening, (billing) => after(billing, since));
    for (const event of events ?? []) {
      since = event.eventID;
      yield event;
    }
    if (events && events.length < pageSize) await pause(pollMs, signal);
  }
}

async function newest(billing: Client): Promise<number | undefined> {
  const { headers } = await billing.getEvents({ page: { pageNumber: 0, size: 1 } });
  const count = Number(headers.get('x-total-count') ?? 0);
  if (count === 0) return undefined;
  const { data } = await billing.getEvents({ page: { pageNumber: count - 1, size: 1 } });
  return data.events[0]?.eventID;
}

async function after(billing: Client, since: number | undefined): Promise<ListenedEvent[]> {
  const page = { pageNumber: 0, size: pageSize };
  const { data } = await billing.getEvents({ page, ...(since ? { sinceEventID: since } : {}) });
  return data.events;
}

/** Undefined if the signal was aborted meanwhile. */
async function repeated<T>(
  { billing, logIn, signal, warn }: Listening,
  ask: (billing: Client) => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await ask(billing);
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (error instanceof BillingError && error.statusCode === 401) {
        if (failures > 1) throw error;
        await logIn();
        continue;
      }
      const pauseMs = Math.min(pollMs * 2 ** failures, pauseMaxMs);
      warn(`The server does not answer (${reasonOf(error)}). Trying again`);
      await pause(pauseMs, signal);
    }
  }
  return undefined;
}

/** Not so a refusal that the next call would get too. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof BillingError)) return true;
  return error.error.retryable || error.statusCode === 401 || error.statusCode >= 500;
}

export function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: string; message: string };
  if (cause instanceof Error && cause !== error) return reasonOf(cause);
  return code ?? message;
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
