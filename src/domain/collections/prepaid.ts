// The daily job of prepaid subscriptions: what is left is estimated, customers are warned once, and
// a customer with nothing left is disconnected where the service says so.

import type { Tx } from '../../base/db/pool.ts';
import { majorUnits, minorUnitsFrom } from '../../base/money.ts';
import { contextOn } from '../bills/late/late-rules.ts';
import { type NoticeWriter, openNoticeWriter } from '../delivery/notice-text.ts';
import { insertNotices, type NewNotice } from '../delivery/notices-store.ts';
import { insertEvents, type NewEvent } from '../events/events-store.ts';
import { lockWallets } from '../ledger/items-store.ts';
import type { PrepaidRules } from '../pricing/dunning-plan.ts';
import type { ChunkDone, RowKey } from '../tenants/daily-store.ts';
import { findSettings } from '../tenants/store.ts';
import type { DunningDay } from './move.ts';
import {
  listPrepaidBeside,
  listWatchedContexts,
  lockPrepaid,
  type PrepaidBalance,
  type PrepaidSubscription,
  saveBalances,
} from './prepaid-store.ts';
import { switchSupply } from './switch-supply.ts';

/** Subscriptions of one chunk: a payment waits for no more than these. */
const subscriptionsAtOnce = 500;

/** One chunk of prepaid subscriptions. */
export async function watchPrepaid(
  tx: Tx,
  tenantId: number,
  day: DunningDay,
  after: RowKey | null,
): Promise<ChunkDone> {
  const contextIds = await listWatchedContexts(tx, tenantId);
  if (contextIds.length === 0) return { next: null, outcome: {} };
  const subscriptions = await lockPrepaid(tx, tenantId, {
    contextIds,
    after: Number(after?.subscriptionId ?? 0),
    limit: subscriptionsAtOnce,
  });
  const last = subscriptions.at(-1);
  const isLast = subscriptions.length < subscriptionsAtOnce || !last;
  const next = isLast ? null : { subscriptionId: last.subscription_id };
  if (!last) return { next, outcome: {} };
  const partyIds = subscriptions.map((one) => one.party_id);
  const wallets = await lockWallets(tx, tenantId, partyIds);
  const { currency, currency_decimals: currencyDecimals } = await findSettings(tx, tenantId);
  const workspace = { tenantId, currency, currencyDecimals };
  const rules = new Map<number, PrepaidRules | null | undefined>();
  for (const id of contextIds) {
    rules.set(id, (await contextOn(tx, tenantId, id, day.localDate)).prepaid);
  }
  const beside = await listPrepaidBeside(tx, tenantId, {
    contextIds,
    partyIds,
    chunk: subscriptions,
  });
  const needs = needsByParty([...subscriptions, ...beside], day.localDate);
  const balances: PrepaidBalance[] = [];
  const notices: NewNotice[] = [];
  const events: NewEvent[] = [];
  const writers = new Map<number, NoticeWriter | undefined>();
  for (const one of subscriptions) {
    const rule = rules.get(one.context_id);
    if (!rule) continue;
    const left = (wallets.get(one.party_id) ?? 0) - (needs.get(one.party_id) ?? 0);
    const balance = balanceOf(one, left, lowLimit(rule, currencyDecimals), day.localDate);
    await supply(tx, workspace, { one, rule, balance, day });
    balances.push(balance);
    if (one.low_since !== null || balance.lowSince === null) continue;
    events.push(lowEvent(one, left, currencyDecimals));
    if (!one.email) continue;
    const { templateID } = rule;
    if (!writers.has(templateID)) {
      writers.set(templateID, await openNoticeWriter(tx, tenantId, templateID));
    }
    notices.push(...noticeOf(one, left, writers.get(templateID), currencyDecimals));
  }
  await saveBalances(tx, tenantId, balances, day.localDate);
  await insertNotices(tx, tenantId, notices, day.realNow);
  await insertEvents(tx, tenantId, events, day.now);
  return { next, outcome: { watched: balances.length, warned: notices.length } };
}

function lowLimit({ lowBalance }: PrepaidRules, decimals: number): number {
  return minorUnitsFrom(String(lowBalance), decimals) ?? 0;
}

/**
 * What the subscriptions of each party owe, and the average of their last bills for each day that
 * is not billed yet. They draw on one wallet, so what is left is left for all of them. Minor units.
 */
function needsByParty(
  subscriptions: readonly PrepaidSubscription[],
  day: Temporal.PlainDate,
): Map<number, number> {
  const needs = new Map<number, number>();
  for (const one of subscriptions) {
    const { party_id: partyId, receivable } = one;
    needs.set(partyId, (needs.get(partyId) ?? 0) + receivable + usedOf(one, day));
  }
  return needs;
}

function usedOf(one: PrepaidSubscription, day: Temporal.PlainDate): number {
  const { billed_through: billed, billed_amount: amount, billed_days: days } = one;
  const unbilled = billed === null ? 0 : Temporal.PlainDate.from(billed).until(day).days - 1;
  const isKnown = days > 0 && unbilled > 0;
  return isKnown ? Number((BigInt(amount) * BigInt(unbilled)) / BigInt(days)) : 0;
}

function lowEvent(on: PrepaidSubscription, left: number, decimals: number): NewEvent {
  const { party_id: partyID, party_number: partyNumber, subscription_number: number } = on;
  const amountLeft = majorUnits(BigInt(left), decimals);
  return {
    type: 'wallet.low',
    data: { partyID, partyNumber, connectionNumber: number, amountLeft },
  };
}

function balanceOf(
  one: PrepaidSubscription,
  left: number,
  limit: number,
  day: Temporal.PlainDate,
): PrepaidBalance {
  const today = day.toString();
  return {
    subscriptionId: one.subscription_id,
    amountLeft: left,
    lowSince: left < limit ? (one.low_since ?? today) : null,
    emptySince: left <= 0 ? (one.empty_since ?? today) : null,
    isDisconnected: one.is_disconnected,
  };
}

type Supplied = {
  one: PrepaidSubscription;
  rule: PrepaidRules;
  balance: PrepaidBalance;
  day: DunningDay;
};

/** Disconnects when the days of grace are over, and connects again after a top-up. */
async function supply(
  tx: Tx,
  workspace: { tenantId: number; currency: string; currencyDecimals: number },
  { one, rule, balance, day }: Supplied,
): Promise<void> {
  const { emptySince } = balance;
  const number = one.subscription_number;
  const job = 'prepaid';
  if (one.is_disconnected && emptySince === null) {
    const wanted = { number, to: 'Active', reason: 'Topped up', job } as const;
    const problem = await switchSupply(tx, workspace, wanted, day);
    if (problem === null) balance.isDisconnected = false;
    return;
  }
  if (one.is_disconnected || emptySince === null || rule.disconnect !== 1) return;
  const days = Temporal.PlainDate.from(emptySince).until(day.localDate).days;
  if (days < (rule.graceDays ?? 0)) return;
  const reason = 'The prepaid balance is used up';
  const wanted = { number, to: 'Disconnected', reason, job } as const;
  const problem = await switchSupply(tx, workspace, wanted, day);
  if (problem === null) balance.isDisconnected = true;
}

function noticeOf(
  on: PrepaidSubscription,
  left: number,
  write: NoticeWriter | undefined,
  decimals: number,
): NewNotice[] {
  if (!write || !on.email) return [];
  const text = write({
    partyName: on.party_name,
    partyNumber: on.party_number,
    connectionNumber: on.subscription_number,
    serviceCode: on.context_code,
    serviceLabel: on.context_name,
    dueDate: null,
    outstandingAmount: majorUnits(BigInt(on.receivable), decimals),
    creditBalance: majorUnits(BigInt(Math.max(0, left)), decimals),
  } as never);
  const key = {
    partyId: on.party_id,
    subscriptionId: on.subscription_id,
    contextId: on.context_id,
  };
  return [{ kind: 'LowBalance', ...key, recipient: on.email, ...text }];
}
