// Episodes of dunning as people see them.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { DunningAction } from '../pricing/dunning-plan.ts';

export type DunningFilter = {
  contextCode: string | null;
  action: DunningAction | null;
  partyNumber: number | null;
};

export type DunningRow = {
  episode_id: number;
  subscription_id: number;
  subscription_number: string;
  party_id: number;
  party_number: number;
  party_name: string;
  context_id: number;
  context_code: string;
  steps_done: number;
  last_action: DunningAction;
  last_step_on: string;
  started_on: string;
  amount: string;
  oldest_due_on: string;
  is_disconnected: boolean;
};

function matches(tenantId: number, { contextCode, action, partyNumber }: DunningFilter): Sql {
  const conditions = [sql`e.tenant_id = ${tenantId} and e.ended_on is null`];
  if (contextCode !== null) conditions.push(sql`c.code = ${contextCode}`);
  if (action !== null) conditions.push(sql`e.last_action = ${action}`);
  if (partyNumber !== null) conditions.push(sql`p.party_number = ${partyNumber}`);
  return sql.join(conditions, sql` and `);
}

const around = (tenantId: number) => sql`
  join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = e.subscription_id
  join parties p on p.tenant_id = ${tenantId} and p.party_id = e.party_id
  join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = e.context_id`;

/** By the id of the episode. */
export async function listDunning(
  tx: Tx,
  tenantId: number,
  filter: DunningFilter,
  window: { offset: number; limit: number; afterId: number },
): Promise<DunningRow[]> {
  const { rows } = await sql<DunningRow>`
    select e.episode_id, e.subscription_id, s.subscription_number, e.party_id, p.party_number,
      p.name as party_name, e.context_id, c.code as context_code, e.steps_done, e.last_action,
      e.last_step_on, e.started_on, e.amount::text as amount, e.oldest_due_on, e.is_disconnected
    from dunning_episodes e
    ${around(tenantId)}
    where ${matches(tenantId, filter)} and e.episode_id > ${window.afterId}
    order by e.episode_id
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

export async function countDunning(
  tx: Tx,
  tenantId: number,
  filter: DunningFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from dunning_episodes e
    ${around(tenantId)}
    where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export type StepRow = {
  episode_id: number;
  step_number: number;
  action: DunningAction;
  done_on: string;
  amount: string;
  fee: string | null;
  /** Of the mail of a reminder: Queued, Sent or another. */
  mail: string | null;
  notice_id: number | null;
  problem: string | null;
};

export async function listSteps(
  tx: Tx,
  tenantId: number,
  episodeIds: readonly number[],
): Promise<StepRow[]> {
  const { rows } = await sql<StepRow>`
    select a.episode_id, a.step_number, a.action, a.done_on, a.amount::text as amount,
      a.fee::text as fee, n.status as mail, a.notice_id, a.problem
    from dunning_actions a
    left join notices n on n.tenant_id = ${tenantId} and n.notice_id = a.notice_id
    where a.tenant_id = ${tenantId} and a.episode_id = any(${episodeIds}::bigint[])
    order by a.episode_id, a.step_number
  `.execute(tx);
  return rows;
}
