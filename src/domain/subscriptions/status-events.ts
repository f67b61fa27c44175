// Events of subscriptions whose state has changed, at once or on the day that was planned.
import { type EventType, eventsOf, type NewEvent } from '../events/events-store.ts';

type Change = { subscription_number: string; before: string; after: string };

/** Undefined if the state is the one before. */
export function statusEvent({ before, after }: Omit<Change, 'subscription_number'>) {
  if (before === after) return undefined;
  const types: Record<string, EventType> = {
    Active: before === 'Pending' ? 'subscription.activated' : 'subscription.reconnected',
    Disconnected: 'subscription.disconnected',
    Closed: 'subscription.closed',
  };
  return types[after];
}

/** In the order of the changes, by type. */
export function statusEvents(changes: readonly Change[]): NewEvent[] {
  const byType = Map.groupBy(changes, statusEvent);
  return [...byType].flatMap(([type, some]) => {
    const numbers = some.map((change) => change.subscription_number);
    return type === undefined ? [] : eventsOf(type, 'connectionNumber', numbers);
  });
}
