// The daily job of dunning: each subscription with overdue debts goes one step along the dunning
// plan of its pricing context, and leaves it when nothing is overdue.

import type { Tx } from '../../base/db/pool.ts';
import { contextOn } from '../bills/late/late-rules.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { listOpenItems, lockWallets } from '../ledger/items-store.ts';
import { compareAge } from '../ledger/open-item.ts';
import { useCredits } from '../ledger/settle.ts';
import type { ContextPricing } from '../pricing/context.ts';
import type { DunningStep } from '../pricing/dunning-plan.ts';
import type { ChunkDone, RowKey } from '../tenants/daily-store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { listActive } from './arrangements-store.ts';
import { doSteps } from './dunning-steps.ts';
import {
  type DunnedSubscription,
  type Episode,
  hasDunning,
  insertEpisodes,
  insertSteps,
  listOpenEpisodes,
  listToDun,
  lockDunned,
  updateEpisodes,
} from './dunning-store.ts';
import { listHolds } from './holds-store.ts';
import type { Debt, DoneMove, DunningDay, Move } from './move.ts';

/** Subscriptions of one chunk: a payment waits for no more than these. */
const subscriptionsAtOnce = 500;

/** One chunk of subscriptions. */
export async function dunOverdue(
  tx: Tx,
  tenantId: number,
  day: DunningDay,
  after: RowKey | null,
): Promise<ChunkDone> {
  const { localDate } = day;
  if (after === null && !(await hasDunning(tx, tenantId))) return { next: null, outcome: {} };
  const ids = await listToDun(tx, tenantId, {
    day: localDate,
    after: Number(after?.subscriptionId ?? 0),
    limit: subscriptionsAtOnce,
  });
  const last = ids.at(-1);
  const isLast = ids.length < subscriptionsAtOnce || last === undefined;
  const next = isLast ? null : { subscriptionId: last };
  const subscriptions = await lockDunned(tx, tenantId, ids);
  const partyIds = subscriptions.map((one) => one.party_id);
  if (partyIds.length === 0) return { next, outcome: {} };
  await lockWallets(tx, tenantId, partyIds);
  const debts = await debtsOf(tx, tenantId, partyIds, localDate);
  const episodes = await listOpenEpisodes(tx, tenantId, ids);
  const plans = await plansOf(tx, tenantId, subscriptions, localDate);
  const paused = await pausedOf(tx, tenantId, subscriptions, localDate);
  const moves = subscriptions.flatMap((subscription): Move[] => {
    const { subscription_id: id, context_id: contextId } = subscription;
    const episode = episodes.get(id);
    const debt = debts.get(id) ?? noDebt;
    const pricing = plans.get(contextId) ?? {};
    const isPaused = paused.has(id);
    const step = isPaused ? undefined : nextStep(pricing, episode, debt, localDate);
    return episode || step ? [{ subscription, pricing, episode, debt, step }] : [];
  });
  const done = await doSteps(tx, tenantId, moves, day);
  const outcome = await storeMoves(tx, tenantId, done, localDate);
  return { next, outcome };
}

const noDebt: Debt = { amount: 0, oldestDueOn: null, items: [] };

/** By subscription. Credits of a subscription pay its oldest debts first. */
async function debtsOf(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
  day: Temporal.PlainDate,
): Promise<Map<number, Debt>> {
  const items = (await listOpenItems(tx, tenantId, { partyIds: [...new Set(partyIds)] })).filter(
    (item) => item.accountId === ledgerAccounts.receivable && item.issueDate !== 'infinity',
  );
  useCredits(items);
  const debts = new Map<number, Debt>();
  for (const { subscriptionId, billId, kind, open, dueDate } of items.sort(compareAge)) {
    if (subscriptionId === null || open <= 0 || dueDate >= day.toString()) continue;
    const { amount, oldestDueOn, items: before } = debts.get(subscriptionId) ?? noDebt;
    const item = { billId, kind, dueDate, amount: open };
    debts.set(subscriptionId, {
      amount: amount + open,
      oldestDueOn: oldestDueOn ?? dueDate,
      items: [...before, item],
    });
  }
  return debts;
}

/**
 * Subscriptions for which no step is done: a hold or a promise until today or later, or an
 * instalment plan in force.
 */
async function pausedOf(
  tx: Tx,
  tenantId: number,
  subscriptions: readonly DunnedSubscription[],
  day: Temporal.PlainDate,
): Promise<Set<number>> {
  const ids = subscriptions.map((one) => one.subscription_id);
  const partyIds = subscriptions.map((one) => one.party_id);
  const ofParty = await listHolds(tx, tenantId, 'Party', partyIds);
  const ofOne = await listHolds(tx, tenantId, 'Subscription', ids);
  const arrangements = await listActive(tx, tenantId, partyIds);
  const isOn = (hold: { until: string } | undefined) =>
    hold !== undefined && hold.until >= day.toString();
  const promised = arrangements
    .filter((one) => one.kind === 'Promise' && one.until_date >= day.toString())
    .map((one) => one.party_id);
  const planned = arrangements.map((one) => one.subscription_id);
  return new Set(
    subscriptions
      .filter(
        ({ subscription_id: id, party_id: partyId }) =>
          isOn(ofParty.get(partyId)) ||
          isOn(ofOne.get(id)) ||
          promised.includes(partyId) ||
          planned.includes(id),
      )
      .map((one) => one.subscription_id),
  );
}

async function plansOf(
  tx: Tx,
  tenantId: number,
  subscriptions: readonly DunnedSubscription[],
  day: Temporal.PlainDate,
): Promise<Map<number, ContextPricing>> {
  const contextIds = [...new Set(subscriptions.map((one) => one.context_id))];
  const plans = new Map<number, ContextPricing>();
  for (const id of contextIds) plans.set(id, await contextOn(tx, tenantId, id, day));
  return plans;
}

/** One step a night at most, so that a debt that is found late is not disconnected at once. */
function nextStep(
  { dunning }: ContextPricing,
  episode: Episode | undefined,
  { oldestDueOn }: Debt,
  day: Temporal.PlainDate,
): DunningStep | undefined {
  if (!dunning || oldestDueOn === null) return undefined;
  const days = Temporal.PlainDate.from(oldestDueOn).until(day).days;
  const step = dunning.steps[episode?.steps_done ?? 0];
  return step && step.daysAfterDue <= days ? step : undefined;
}

async function storeMoves(
  tx: Tx,
  tenantId: number,
  moves: readonly DoneMove[],
  day: Temporal.PlainDate,
): Promise<Record<string, number>> {
  const begun = moves.filter((move) => !move.episode);
  const firstId =
    begun.length === 0 ? 0 : await takeNumbers(tx, tenantId, 'dunning-episode', begun.length);
  const idOf = new Map(begun.map((move, index) => [move, firstId + index]));
  const episodeOf = (move: DoneMove) => move.episode?.episode_id ?? idOf.get(move) ?? 0;
  const newEpisodes = begun.flatMap((move) => {
    const { subscription: on, debt, step, isDisconnected } = move;
    if (!step || debt.oldestDueOn === null) return [];
    return [
      {
        episodeId: episodeOf(move),
        subscriptionId: on.subscription_id,
        partyId: on.party_id,
        contextId: on.context_id,
        action: step.action,
        amount: debt.amount,
        oldestDueOn: debt.oldestDueOn,
        isDisconnected,
      },
    ];
  });
  const changes = moves.flatMap(({ episode, debt, step, isDisconnected }) =>
    episode
      ? [
          {
            episodeId: episode.episode_id,
            amount: debt.amount,
            oldestDueOn: debt.oldestDueOn,
            stepsDone: episode.steps_done + (step ? 1 : 0),
            action: step?.action ?? null,
            isDisconnected,
          },
        ]
      : [],
  );
  const steps = moves.flatMap((move) => {
    const { step, episode, debt, noticeId, fee, problem } = move;
    const stepNumber = (episode?.steps_done ?? 0) + 1;
    const own = { episodeId: episodeOf(move), stepNumber, amount: debt.amount };
    return step ? [{ ...own, action: step.action, noticeId, fee, problem }] : [];
  });
  await insertEpisodes(tx, tenantId, newEpisodes, day);
  await updateEpisodes(tx, tenantId, changes, day);
  await insertSteps(tx, tenantId, steps, day);
  const ended = changes.filter((change) => change.oldestDueOn === null).length;
  return { steps: steps.length, ended };
}
