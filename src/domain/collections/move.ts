// What a night of dunning does with a subscription.

import type { OverdueItem } from '../delivery/notice-text.ts';
import type { ContextPricing } from '../pricing/context.ts';
import type { DunningStep } from '../pricing/dunning-plan.ts';
import type { DunnedSubscription, Episode } from './dunning-store.ts';

export type DunningDay = {
  localDate: Temporal.PlainDate;
  today: Temporal.PlainDate;
  now: Temporal.Instant;
  realNow: Temporal.Instant;
};

/** What is overdue of a subscription, in minor units. */
export type Debt = {
  amount: number;
  oldestDueOn: string | null;
  /** The oldest first. */
  items: readonly OverdueItem[];
};

/** What a night does with a subscription. */
export type Move = {
  subscription: DunnedSubscription;
  pricing: ContextPricing;
  episode: Episode | undefined;
  debt: Debt;
  step: DunningStep | undefined;
};

/** A move with what its step did. */
export type DoneMove = Move & {
  noticeId: number | null;
  fee: number | null;
  problem: string | null;
  isDisconnected: boolean;
};
