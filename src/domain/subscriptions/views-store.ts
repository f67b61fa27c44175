// Reads everything that a page of subscriptions shows, in one exchange with the database.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { ContextType } from '../ledger/accounts.ts';
import type { SubscriptionRow } from './store.ts';

export type SubscriptionView = SubscriptionRow & {
  context_code: string;
  context_type: ContextType;
  charging_type: string;
  post_type: string;
  plan_code: string;
  plan_label: string;
  batch_code: string;
  account_label: string;
  party_name: string;
  party_number: number;
  /** Minor units, as text. */
  wallet_balance: string;
  /** Above zero the party owes it, below zero the workspace does. */
  receivable: string;
  deposit: string;
  disputed: string;
};

export type PartyName = { party_id: number; party_number: number; name: string };
export type PlanName = { plan_id: number; code: string; name: string };

export type RegisterView = {
  position: number;
  register: string;
  unit: string;
  input: string | null;
  openingReading: string | null;
  openingDate: string | null;
  lastReading: string | null;
  lastReadingDate: string | null;
  lastReadingType: string | null;
};

export type MeterView = {
  subscription_id: number;
  number: number;
  meter_type: string;
  brand: string;
  mf: number;
  status: string;
  health: string;
  install_date: string;
  remove_date: string | null;
  registers: RegisterView[];
};

/** A subscription as it is read: what other tables have of it comes as texts. */
type FoundView = SubscriptionRow & {
  /** Code, type, charging type and post type. */
  of_context: [string, ContextType, string, string];
  /** Code and name. */
  of_plan: [string, string];
  batch_code: string;
  account_label: string;
  /** Name and number. */
  of_party: [string, string];
  wallet_balance: string;
  /** Receivable, deposit and disputed. */
  of_balance: [string, string, string] | null;
};

/**
 * Subscriptions in the order of the ids. Queries of their own, not joins: PostgreSQL tries so many
 * orders of nine tables that this took longer than all else, and several machines do it each time.
 */
export async function listViews(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<SubscriptionView[]> {
  const { rows } = await sql<FoundView>`
    select s.subscription_id, s.subscription_number, s.reference_number, s.context_id, s.plan_id,
      s.batch_id, s.account_id, s.party_id, s.status, s.next_change_date, s.connection_date,
      s.disconnection_kind, s.billed_through, s.is_metered, s.has_quantities, s.description,
      s.payment_method, s.project_name, s.address, s.plan_history, s.status_history,
      s.connection_inputs, s.quantities, s.variants, s.add_ons, s.users, s.transfers, s.documents,
      s.created_at, s.created_by, s.modified_at, s.modified_by, s.ts, (
        select array[c.code, c.context_type, c.charging_type, c.post_type]
        from pricing_contexts c
        where c.tenant_id = ${tenantId} and c.context_id = s.context_id
      ) as of_context, (
        select array[l.code, l.name] from plans l
        where l.tenant_id = ${tenantId} and l.plan_id = s.plan_id
      ) as of_plan, (
        select b.code from batches b where b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
      ) as batch_code, (
        select g.label from billing_accounts g
        where g.tenant_id = ${tenantId} and g.account_id = s.account_id
      ) as account_label, (
        select array[p.name, p.party_number::text] from parties p
        where p.tenant_id = ${tenantId} and p.party_id = s.party_id
      ) as of_party, coalesce((
        select w.balance from party_wallets w
        where w.tenant_id = ${tenantId} and w.party_id = s.party_id
      ), 0)::text as wallet_balance, (
        select array[a.receivable::text, a.deposit::text, a.disputed::text]
        from subscription_balances a
        where a.tenant_id = ${tenantId} and a.subscription_id = s.subscription_id
          and a.party_id = s.party_id
      ) as of_balance
    from unnest(${ids}::bigint[]) with ordinality as w (subscription_id, place)
    join subscriptions s
      on s.tenant_id = ${tenantId} and s.subscription_id = w.subscription_id
    order by w.place
  `.execute(tx);
  return rows.map(viewOf);
}

function viewOf({
  of_context: [contextCode, contextType, chargingType, postType],
  of_plan: [planCode, planLabel],
  of_party: [partyName, partyNumber],
  of_balance: balance,
  ...row
}: FoundView): SubscriptionView {
  const [receivable, deposit, disputed] = balance ?? ['0', '0', '0'];
  return {
    ...row,
    context_code: contextCode,
    context_type: contextType,
    charging_type: chargingType,
    post_type: postType,
    plan_code: planCode,
    plan_label: planLabel,
    party_name: partyName,
    party_number: Number(partyNumber),
    receivable,
    deposit,
    disputed,
  };
}

/** Everybody who uses, used or gave away one of the subscriptions. */
export async function listPartyNames(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<PartyName[]> {
  const { rows } = await sql<PartyName>`
    select p.party_id, p.party_number, p.name
    from parties p
    where p.tenant_id = ${tenantId} and p.party_id = any(array(
      select (u ->> 'partyId')::bigint
      from subscriptions s, jsonb_array_elements(s.users) u
      where s.tenant_id = ${tenantId} and s.subscription_id = any(${ids}::bigint[])
      union
      select (t ->> 'fromPartyId')::bigint
      from subscriptions s, jsonb_array_elements(s.transfers) t
      where s.tenant_id = ${tenantId} and s.subscription_id = any(${ids}::bigint[])
    ))
  `.execute(tx);
  return rows;
}

/** Every plan that one of the subscriptions has or had, as base plan or add-on. */
export async function listPlanNames(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<PlanName[]> {
  const { rows } = await sql<PlanName>`
    select l.plan_id, l.code, l.name
    from plans l
    where l.tenant_id = ${tenantId} and l.plan_id = any(array(
      select (step ->> 'planId')::bigint
      from subscriptions s, jsonb_array_elements(s.plan_history || s.add_ons) step
      where s.tenant_id = ${tenantId} and s.subscription_id = any(${ids}::bigint[])
    ))
  `.execute(tx);
  return rows;
}

/** Subscriptions, and the day from which each is shown: -infinity for all its past. */
export type WantedDays = { ids: readonly number[]; since: readonly string[] };

/** The meters of the subscriptions, those that are installed first. */
export async function listMeterViews(
  tx: Tx,
  tenantId: number,
  { ids, since }: WantedDays,
): Promise<MeterView[]> {
  const { rows } = await sql<MeterView>`
    select a.subscription_id, m.number, t.name as meter_type, m.brand, a.mf, m.status, m.health,
      a.install_date, a.remove_date, (
        select json_agg(json_build_object(
            'position', r.position, 'register', k.register, 'unit', k.unit, 'input', r.input,
            'openingReading', first_one.value::text, 'openingDate', first_one.reading_date,
            'lastReading', last_one.value::text, 'lastReadingDate', last_one.reading_date,
            'lastReadingType', last_one.reading_type) order by r.position)
        from assignment_registers r
        join meter_registers k
          on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
          and k.position = r.position
        left join lateral (
          select d.value, d.reading_date
          from readings d
          where d.tenant_id = ${tenantId} and d.assignment_id = r.assignment_id
            and d.position = r.position and d.status = 'Accepted'
            and d.reading_date >= w.since
          order by d.reading_date, d.reading_id
          limit 1
        ) first_one on true
        left join lateral (
          select d.value, d.reading_date, d.reading_type
          from readings d
          where d.tenant_id = ${tenantId} and d.assignment_id = r.assignment_id
            and d.position = r.position and d.status = 'Accepted'
            and d.reading_date >= w.since
          order by d.reading_date desc, d.reading_id desc
          limit 1
        ) last_one on true
        where r.tenant_id = ${tenantId} and r.assignment_id = a.assignment_id
      ) as registers
    from meter_assignments a
    join unnest(${ids}::bigint[], ${since}::date[]) as w (subscription_id, since)
      on w.subscription_id = a.subscription_id
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_types t on t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
    where a.tenant_id = ${tenantId} and a.subscription_id = any(${ids}::bigint[])
      and (a.remove_date is null or a.remove_date > w.since)
    order by a.subscription_id, a.remove_date is not null, a.install_date desc, a.assignment_id
  `.execute(tx);
  return rows;
}

export type LedgerView = {
  subscription_id: number;
  entry_id: number;
  posting_date: string;
  kind: string;
  account: string;
  amount: string;
  reference: string | null;
  description: string | null;
};

/** The newest entries of each subscription, of one party where it is named. */
export async function listLedgerViews(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
  { entriesMax, partyId }: { entriesMax: number; partyId: number | null },
): Promise<LedgerView[]> {
  const { rows } = await sql<LedgerView>`
    select w.subscription_id, e.entry_id, e.posting_date, e.kind, l.name as account,
      e.amount::text as amount, e.reference, e.description
    from unnest(${ids}::bigint[]) as w (subscription_id)
    cross join lateral (
      select n.entry_id, n.posting_date, n.created_at, n.kind, n.ledger_account_id, n.amount,
        n.reference, n.description
      from subledger_entries n
      where n.tenant_id = ${tenantId} and n.subscription_id = w.subscription_id
        and ${partyId === null ? sql`true` : sql`n.party_id = ${partyId}`}
      order by n.posting_date desc, n.created_at desc, n.entry_id desc
      limit ${entriesMax}
    ) e
    join ledger_accounts l
      on l.tenant_id = ${tenantId} and l.ledger_account_id = e.ledger_account_id
    order by w.subscription_id, e.posting_date desc, e.created_at desc, e.entry_id desc
  `.execute(tx);
  return rows;
}

export type ReadingView = {
  subscription_id: number;
  reading_id: number;
  number: number;
  register: string;
  value: string;
  reading_date: string;
  reading_type: string;
  status: string;
  consumption: string | null;
  days: number | null;
  remark: string | null;
  created_by: string;
  modified_by: string;
};

/** The newest readings of the meters of each subscription. */
export async function listReadingViews(
  tx: Tx,
  tenantId: number,
  { ids, since }: WantedDays,
  readingsMax: number,
): Promise<ReadingView[]> {
  const { rows } = await sql<ReadingView>`
    select w.subscription_id, e.reading_id, e.number, e.register, e.value, e.reading_date,
      e.reading_type, e.status, e.consumption, e.days, e.remark, e.created_by, e.modified_by
    from unnest(${ids}::bigint[], ${since}::date[]) as w (subscription_id, since)
    cross join lateral (
      select d.reading_id, m.number, k.register, d.value::text as value, d.reading_date,
        d.reading_type, d.status, trim_scale(d.consumption)::text as consumption, d.days,
        d.remark, d.created_by, d.modified_by
      from meter_assignments a
      join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
      join readings d on d.tenant_id = ${tenantId} and d.assignment_id = a.assignment_id
      join meter_registers k
        on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
        and k.position = d.position
      where a.tenant_id = ${tenantId} and a.subscription_id = w.subscription_id
        and d.reading_date >= w.since
      order by d.reading_date desc, d.reading_id desc
      limit ${readingsMax}
    ) e
    order by w.subscription_id, e.reading_date desc, e.reading_id desc
  `.execute(tx);
  return rows;
}
