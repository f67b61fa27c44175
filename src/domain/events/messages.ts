// The message that is sent for an event: its text, its id and the pauses between attempts.
import type { EventRow } from './events-store.ts';

/** One thing of an event: the whole of it, or one of those that it is about. */
export type EventPart = { item: number; data: Record<string, unknown> };

/** An event about many things is sent as one message for each of them. */
export function partsOf({ data }: Pick<EventRow, 'data'>): EventPart[] {
  const all = data as Record<string, unknown>;
  const list = Object.entries(all).find(
    ([name, value]) => /(IDs|Numbers)$/.test(name) && Array.isArray(value),
  );
  if (!list) return [{ item: 0, data: all }];
  const [name, ids] = list as [string, unknown[]];
  const { [name]: _, count: __, ...others } = all;
  return ids.map((id, index) => ({
    item: index + 1,
    data: { ...others, [name.slice(0, -1)]: id },
  }));
}

export function isWanted(type: string, types: readonly string[]): boolean {
  return types.length === 0 || types.includes(type);
}

/** The same at every attempt, so that a receiver recognises a message that it has. */
export function messageId(workspace: string, eventId: number, item: number): string {
  const part = item === 0 ? '' : `_${item}`;
  return `evt_${workspace}_${eventId}${part}`;
}

export type MessageParts = {
  id: string;
  event: Pick<EventRow, 'event_id' | 'type' | 'is_bulk'>;
  /** In the time zone of the workspace. */
  timestamp: string;
  workspace: string;
  sequence: number;
  /** The thing that the event is about, with its `ts`. */
  data: object;
};

/** The text that is signed and sent. */
export function messageBody({ event, data, ...parts }: MessageParts): string {
  return JSON.stringify({
    id: parts.id,
    type: event.type,
    timestamp: parts.timestamp,
    workspace: parts.workspace,
    apiVersion: 'v2',
    bulk: event.is_bulk,
    eventID: event.event_id,
    sequence: parts.sequence,
    data,
  });
}

const prefix = 'whsec_';

/** Bytes of a secret that a caller sends: base64 after the prefix, otherwise the text itself. */
export function secretBytes(secret: string): Buffer | undefined {
  if (!secret.startsWith(prefix)) return Buffer.from(secret, 'utf8');
  const text = secret.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

/** Pauses before the attempts after the first; after the last one a message is dead. */
const pauseSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
/** Receivers that failed at the same time are not all tried again at the same time. */
const jitterShare = 0.1;

/** Seconds until the next attempt, by the number of failures in this round; null after the last. */
export function retrySeconds(failures: number, chance = Math.random()): number | null {
  const pause = pauseSeconds[failures - 1];
  return pause === undefined ? null : pause * (1 + jitterShare * chance);
}
