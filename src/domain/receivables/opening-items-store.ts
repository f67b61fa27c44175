// Rows of open items that a migration brings, and whose they are.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { ContextType } from '../ledger/accounts.ts';
import { mainBusinessUnit } from '../ledger/journal.ts';
import type { OpeningKind } from './opening-item.ts';
import type { Known } from './references.ts';

/** The party of an item, and the subscription if one was named. */
export type Holder = {
  party_id: number;
  is_archived: boolean;
  subscription_id: number | null;
  /** Names of components of the subscription's pricing context, as it is now. */
  components: string[];
};

type HolderKey = { partyNumber: number | null; connectionNumber: string | null };

/** In the order of the keys; undefined where a key names none, or the two of it do not agree. */
export async function listHolders(
  tx: Tx,
  tenantId: number,
  keys: readonly HolderKey[],
): Promise<(Holder | undefined)[]> {
  const { rows } = await sql<Holder & { place: number }>`
    select k.place, p.party_id, p.archived as is_archived, k.subscription_id,
      coalesce((
        select jsonb_agg(c ->> 'name')
        from (
          select v.definition from pricing_context_versions v
          where v.tenant_id = ${tenantId} and v.context_id = k.context_id
          order by v.version desc
          limit 1
        ) v, jsonb_array_elements(coalesce(v.definition -> 'components', '[]')) c
      ), '[]') as components
    from (
      select n.place, n.party_number, n.connection_number, s.subscription_id, s.context_id,
        coalesce(s.party_id, o.party_id) as party_id
      from unnest(
        ${keys.map((key) => key.partyNumber)}::bigint[],
        ${keys.map((key) => key.connectionNumber)}::text[]
      ) with ordinality as n (party_number, connection_number, place)
      left join subscriptions s on s.tenant_id = ${tenantId}
        and s.subscription_number = n.connection_number
      left join parties o on o.tenant_id = ${tenantId} and o.party_number = n.party_number
        and n.connection_number is null
      offset 0
    ) k
    join parties p on p.tenant_id = ${tenantId} and p.party_id = k.party_id
      and coalesce(p.party_number = k.party_number, true)
  `.execute(tx);
  const byPlace = new Map(rows.map(({ place, ...holder }) => [Number(place), holder]));
  return keys.map((_, index) => byPlace.get(index + 1));
}

/** What a reference brought. */
export type KnownOpening = Known & {
  kind: OpeningKind;
  party_id: number;
  subscription_id: number | null;
  due_date: string;
  amount: number;
};

export async function listOpeningReferences(
  tx: Tx,
  tenantId: number,
  references: readonly string[],
): Promise<Map<string, KnownOpening>> {
  const { rows } = await sql<KnownOpening>`
    select 0 as id, reference, kind, party_id, subscription_id, due_date, amount
    from opening_items
    where tenant_id = ${tenantId} and reference = any(${references}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.reference, row]));
}

export type NewOpening = Omit<KnownOpening, 'id'> & {
  component: string | null;
  issue_date: string;
  description: string;
};

/** Returns how many references were free. */
export async function insertOpeningItems(
  tx: Tx,
  tenantId: number,
  batchId: number,
  items: readonly NewOpening[],
  stamp: Stamp,
): Promise<number> {
  if (items.length === 0) return 0;
  const rows = items.toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
  const { count } = await sql`
    insert into opening_items (tenant_id, reference, batch_id, kind, party_id, subscription_id,
      component, issue_date, due_date, amount, description, created_at, created_by)
    select own.tenant_id, r.reference, ${batchId}::bigint, r.kind, r.party_id, r.subscription_id,
      r.component, r.issue_date, r.due_date, r.amount, r.description, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      reference text, kind text, party_id bigint, subscription_id bigint, component text,
      issue_date date, due_date date, amount bigint, description text
    )
    on conflict (tenant_id, reference) do nothing
  `.execute(tx);
  return count;
}

/** An item with what it is booked by. */
export type OpeningRow = NewOpening & {
  context_type: ContextType | null;
  business_unit_id: number;
};

/** Of a batch, in the order of parties, those after one. */
export async function listOpeningItems(
  tx: Tx,
  tenantId: number,
  { batchId, after, limit }: { batchId: number; after: OpeningRow | undefined; limit: number },
): Promise<OpeningRow[]> {
  const { rows } = await sql<OpeningRow>`
    select i.reference, i.kind, i.party_id, i.subscription_id, i.component, i.issue_date,
      i.due_date, i.amount, i.description, c.context_type,
      coalesce(c.business_unit_id, ${mainBusinessUnit}) as business_unit_id
    from (
      select * from opening_items i
      where i.tenant_id = ${tenantId} and i.batch_id = ${batchId}
        and (i.party_id, i.reference) > (${after?.party_id ?? 0}::bigint, ${after?.reference ?? ''})
      order by i.party_id, i.reference
      limit ${limit}
    ) i
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = i.subscription_id
    left join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    order by i.party_id, i.reference
  `.execute(tx);
  return rows;
}
