// Subscriptions with overdue debts, and the episodes of their collection.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { ContextType } from '../ledger/accounts.ts';
import type { DunningAction } from '../pricing/dunning-plan.ts';

/** Whether a pricing context has a dunning plan, or a debt is collected by an earlier one. */
export async function hasDunning(tx: Tx, tenantId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
        select from pricing_context_versions v
        where v.tenant_id = ${tenantId} and jsonb_typeof(v.definition -> 'dunning') = 'object'
      ) or exists (
        select from dunning_episodes e where e.tenant_id = ${tenantId} and e.ended_on is null
      ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/** The next subscriptions that have something overdue or are in an episode, by id. */
export async function listToDun(
  tx: Tx,
  tenantId: number,
  { day, after, limit }: { day: Temporal.PlainDate; after: number; limit: number },
): Promise<number[]> {
  const { rows } = await sql<{ subscription_id: number }>`
    select subscription_id from (
      (select distinct b.subscription_id from bills b
        where b.tenant_id = ${tenantId} and b.subscription_id > ${after}
          and b.overdue_on is not null and not b.is_settled
        order by b.subscription_id limit ${limit})
      union
      (select distinct p.subscription_id from bills b
        join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
        where b.tenant_id = ${tenantId} and b.subscription_id is null
          and b.overdue_on is not null and not b.is_settled and p.subscription_id > ${after}
        order by p.subscription_id limit ${limit})
      union
      (select distinct i.subscription_id from open_items i
        where i.tenant_id = ${tenantId} and i.subscription_id > ${after} and not i.is_settled
          and i.due_date < ${day}
        order by i.subscription_id limit ${limit})
      union
      (select e.subscription_id from dunning_episodes e
        where e.tenant_id = ${tenantId} and e.subscription_id > ${after} and e.ended_on is null
        order by e.subscription_id limit ${limit})
    ) found
    order by subscription_id
    limit ${limit}
  `.execute(tx);
  return rows.map((row) => row.subscription_id);
}

export type DunnedSubscription = {
  subscription_id: number;
  subscription_number: string;
  party_id: number;
  party_number: number;
  party_name: string;
  email: string | null;
  context_id: number;
  context_code: string;
  context_name: string;
  context_type: ContextType;
  business_unit_id: number;
};

/** Locks subscriptions in the order of their ids, before the wallets of their owners. */
export async function lockDunned(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<DunnedSubscription[]> {
  const { rows } = await sql<DunnedSubscription>`
    select s.subscription_id, s.subscription_number, s.party_id, p.party_number,
      p.name as party_name, p.email, s.context_id, c.code as context_code,
      c.name as context_name, c.context_type, c.business_unit_id
    from subscriptions s
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and s.subscription_id = any(${ids}::bigint[])
    order by s.subscription_id
    for no key update of s
  `.execute(tx);
  return rows;
}

export type Episode = {
  episode_id: number;
  subscription_id: number;
  steps_done: number;
  is_disconnected: boolean;
};

/** By subscription. */
export async function listOpenEpisodes(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
): Promise<Map<number, Episode>> {
  const { rows } = await sql<Episode>`
    select episode_id, subscription_id, steps_done, is_disconnected from dunning_episodes
    where tenant_id = ${tenantId} and subscription_id = any(${subscriptionIds}::bigint[])
      and ended_on is null
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_id, row]));
}

export type NewEpisode = {
  episodeId: number;
  subscriptionId: number;
  partyId: number;
  contextId: number;
  action: DunningAction;
  amount: number;
  oldestDueOn: string;
  isDisconnected: boolean;
};

export async function insertEpisodes(
  tx: Tx,
  tenantId: number,
  episodes: readonly NewEpisode[],
  day: Temporal.PlainDate,
): Promise<void> {
  if (episodes.length === 0) return;
  await sql`
    insert into dunning_episodes (tenant_id, episode_id, subscription_id, party_id, context_id,
      steps_done, last_action, last_step_on, started_on, amount, oldest_due_on, is_disconnected)
    select own.tenant_id, r."episodeId", r."subscriptionId", r."partyId", r."contextId", 1,
      r.action, ${day}::date, ${day}::date, r.amount, r."oldestDueOn", r."isDisconnected"
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(episodes)}::jsonb) as r (
      "episodeId" bigint, "subscriptionId" bigint, "partyId" bigint, "contextId" bigint,
      action text, amount bigint, "oldestDueOn" date, "isDisconnected" boolean
    )
  `.execute(tx);
}

export type EpisodeChange = {
  episodeId: number;
  amount: number;
  /** Null if nothing is overdue any more: the episode has ended. */
  oldestDueOn: string | null;
  stepsDone: number;
  /** Null if no step was done. */
  action: DunningAction | null;
  isDisconnected: boolean;
};

export async function updateEpisodes(
  tx: Tx,
  tenantId: number,
  changes: readonly EpisodeChange[],
  day: Temporal.PlainDate,
): Promise<void> {
  if (changes.length === 0) return;
  const ids = changes.map((change) => change.episodeId);
  await sql`
    update dunning_episodes e
    set amount = r.amount, oldest_due_on = coalesce(r."oldestDueOn", e.oldest_due_on),
      steps_done = r."stepsDone", last_action = coalesce(r.action, e.last_action),
      last_step_on = case when r.action is null then e.last_step_on else ${day}::date end,
      is_disconnected = r."isDisconnected",
      ended_on = case when r."oldestDueOn" is null then ${day}::date end
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as r (
      "episodeId" bigint, amount bigint, "oldestDueOn" date, "stepsDone" smallint, action text,
      "isDisconnected" boolean
    )
    where e.tenant_id = ${tenantId} and e.episode_id = any(${ids}::bigint[])
      and e.episode_id = r."episodeId"
  `.execute(tx);
}

export type DoneStep = {
  episodeId: number;
  stepNumber: number;
  action: DunningAction;
  amount: number;
  noticeId: number | null;
  fee: number | null;
  problem: string | null;
};

export async function insertSteps(
  tx: Tx,
  tenantId: number,
  steps: readonly DoneStep[],
  day: Temporal.PlainDate,
): Promise<void> {
  if (steps.length === 0) return;
  await sql`
    insert into dunning_actions (tenant_id, episode_id, step_number, action, done_on, amount,
      notice_id, fee, problem)
    select own.tenant_id, r."episodeId", r."stepNumber", r.action, ${day}::date, r.amount,
      r."noticeId", r.fee, r.problem
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as r (
      "episodeId" bigint, "stepNumber" smallint, action text, amount bigint, "noticeId" bigint,
      fee bigint, problem text
    )
  `.execute(tx);
}
