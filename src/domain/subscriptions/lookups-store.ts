// What a new or changed subscription refers to, found for any number of them at once.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { type ContextType, ledgerAccounts } from '../ledger/accounts.ts';

export type ContextInUse = {
  context_id: number;
  code: string;
  charging_type: string;
  post_type: string;
  due_date_offset: number;
  /** The one that the context names, or cash where there is no such account. */
  cash_account_id: number;
  context_type: ContextType;
  business_unit_id: number;
  security_deposit: number | null;
  required_documents: string[] | null;
  archived: boolean;
  book_version: number;
  created_at: Temporal.Instant;
};

/**
 * Held until the end: a change of a context or of one of its plans waits, so that the checks of a
 * subscription are still valid when it is stored.
 */
export async function shareContexts(
  tx: Tx,
  tenantId: number,
  keys: { codes: readonly string[] } | { ids: readonly number[] },
): Promise<ContextInUse[]> {
  const named =
    'ids' in keys
      ? sql`c.context_id = any(${keys.ids}::bigint[])`
      : sql`c.code = any(${keys.codes}::text[])`;
  const { rows } = await sql<ContextInUse>`
    select c.context_id, c.code, c.charging_type, c.post_type, c.due_date_offset,
      coalesce((
        select a.ledger_account_id from ledger_accounts a
        where a.tenant_id = ${tenantId} and a.ledger_account_id = c.cash_account_id
          -- An account that is the sum of customers' entries takes no other bookings.
          and not a.is_control
      ), ${ledgerAccounts.cash}) as cash_account_id,
      c.context_type, c.business_unit_id, c.security_deposit, c.required_documents, c.archived,
      c.book_version,
      c.created_at
    from pricing_contexts c
    where c.tenant_id = ${tenantId} and ${named}
    order by c.context_id
    for share of c
  `.execute(tx);
  return rows;
}

export type PlanChoice = {
  plan_id: number;
  context_id: number;
  code: string;
  unique_label: string;
  plan_type: string;
  abstract: boolean;
  custom: boolean;
  visibility: string;
  archived: boolean;
  /** The party a custom plan was made for: its first subscriber that is left. */
  made_for: number | null;
};

/** Plans by code, and add-ons by their labels. */
export async function listPlanChoices(
  tx: Tx,
  tenantId: number,
  wanted: {
    contextIds: readonly number[];
    codes: readonly string[];
    labels: readonly string[];
    /** A subscription that is changing does not speak for itself. */
    exceptSubscription?: number;
  },
): Promise<PlanChoice[]> {
  const { rows } = await sql<PlanChoice>`
    select p.plan_id, p.context_id, p.code, p.unique_label, p.plan_type, p.abstract, p.custom,
      p.visibility, p.archived, case when p.custom then (
        select s.party_id from subscriptions s
        where s.tenant_id = ${tenantId} and s.plan_id = p.plan_id and s.status <> 'Closed'
          and s.subscription_id <> ${wanted.exceptSubscription ?? 0}
        order by s.subscription_id
        limit 1
      ) end as made_for
    from plans p
    where p.tenant_id = ${tenantId} and p.context_id = any(${wanted.contextIds}::bigint[])
      and (p.code = any(${wanted.codes}::text[]) or p.unique_label = any(${wanted.labels}::text[]))
  `.execute(tx);
  return rows;
}

export type BatchChoice = { batch_id: number; context_id: number; code: string; archived: boolean };

export async function listBatchChoices(
  tx: Tx,
  tenantId: number,
  wanted: { contextIds: readonly number[]; codes: readonly string[] },
): Promise<BatchChoice[]> {
  const { rows } = await sql<BatchChoice>`
    select batch_id, context_id, code, archived
    from batches
    where tenant_id = ${tenantId} and context_id = any(${wanted.contextIds}::bigint[])
      and code = any(${wanted.codes}::text[])
    for share
  `.execute(tx);
  return rows;
}

export type PartyInUse = {
  party_id: number;
  party_number: number;
  name: string;
  archived: boolean;
};

/**
 * Locked until the end, in one order for all: no party is archived while it subscribes, and no two
 * calls make the same billing account.
 */
export async function lockPartiesInUse(
  tx: Tx,
  tenantId: number,
  keys: { ids: readonly number[]; numbers: readonly number[] },
): Promise<PartyInUse[]> {
  const { rows } = await sql<PartyInUse>`
    select party_id, party_number, name, archived
    from parties
    where tenant_id = ${tenantId} and (
      party_id = any(${keys.ids}::bigint[]) or party_number = any(${keys.numbers}::bigint[])
    )
    order by party_id
    for no key update
  `.execute(tx);
  return rows;
}

export type TakenInput = { contextId: number; name: string; value: string };

export type Taken = {
  numbers: Set<string>;
  references: Set<string>;
  /** As `inputKey` writes them. */
  inputs: Set<string>;
};

export function inputKey(input: TakenInput): string {
  return JSON.stringify([input.contextId, input.name, input.value]);
}

/** Of the given numbers, references and unique inputs, those that subscriptions have already. */
export async function findTaken(
  tx: Tx,
  tenantId: number,
  wanted: {
    numbers: readonly string[];
    references: readonly string[];
    inputs: readonly TakenInput[];
  },
): Promise<Taken> {
  const { rows } = await sql<{ kind: string; text: string; context_id: number; name: string }>`
    select 'number' as kind, subscription_number as text, context_id, '' as name
    from subscriptions
    where tenant_id = ${tenantId} and subscription_number = any(${wanted.numbers}::text[])
    union all
    select 'reference', reference_number, context_id, ''
    from subscriptions
    where tenant_id = ${tenantId} and reference_number = any(${wanted.references}::text[])
    union all
    select 'input', u.value, u.context_id, u.name
    from unnest(
      ${wanted.inputs.map((one) => one.contextId)}::bigint[],
      ${wanted.inputs.map((one) => one.name)}::text[],
      ${wanted.inputs.map((one) => one.value)}::text[]
    ) as w (context_id, name, value)
    join subscription_unique_inputs u
      on u.tenant_id = ${tenantId} and u.context_id = w.context_id and u.name = w.name
      and u.value = w.value
  `.execute(tx);
  const texts = (kind: string) =>
    new Set(rows.filter((row) => row.kind === kind).map((row) => row.text));
  const inputs = rows
    .filter((row) => row.kind === 'input')
    .map((row) => inputKey({ contextId: row.context_id, name: row.name, value: row.text }));
  return { numbers: texts('number'), references: texts('reference'), inputs: new Set(inputs) };
}

export async function listTakenNumbers(
  tx: Tx,
  tenantId: number,
  numbers: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ subscription_number: string }>`
    select subscription_number
    from subscriptions
    where tenant_id = ${tenantId} and subscription_number = any(${numbers}::text[])
  `.execute(tx);
  return new Set(rows.map((row) => row.subscription_number));
}

/**
 * From when on the newest posted bill is priced again by the next one, and the plan it ended with:
 * nothing where bills are made after their days. Days that it caught up on are not priced again.
 */
export async function findLastBilling(
  tx: Tx,
  tenantId: number,
  subscriptionId: number,
): Promise<{ priced_from: string; plan_code: string } | undefined> {
  const { rows } = await sql<{ priced_from: string; plan_code: string }>`
    select greatest(o.billed_from, t.start_date) as priced_from, o.plan_code
    from (
      select b.term_id, b.billed_from, b.billed_to, l.code as plan_code
      from bills b
      join plans l on l.tenant_id = ${tenantId} and l.plan_id = b.plan_id
      where b.tenant_id = ${tenantId} and b.subscription_id = ${subscriptionId}
        and b.status in ('Posted', 'Published')
      union all
      select b.term_id, p.previously_billed_to + 1, p.billed_to, e.section ->> 'tariffCode'
      from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        and b.status in ('Posted', 'Published')
      join bill_contents k on k.tenant_id = ${tenantId} and k.bill_id = b.bill_id
      cross join lateral json_array_elements(k.document -> 'sections') as e (section)
      where p.tenant_id = ${tenantId} and p.subscription_id = ${subscriptionId}
        and (e.section ->> 'connectionID')::bigint = p.subscription_id
    ) o
    join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = t.context_id
      and not c.bills_after_period
    where o.billed_to is not null
    order by o.billed_to desc
    limit 1
  `.execute(tx);
  return rows[0];
}
