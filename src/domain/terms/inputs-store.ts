// What was taken into a term before its bills are made: manual values and uploaded use.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type ManualValue = {
  subscriptionId: number;
  component: string;
  /** Null takes back what was uploaded before. */
  value: string | null;
};

/** How many rows differ from before, and how many were removed. */
export type Saved = { changed: number; removed: number };

/** Replaces earlier values of the same subscription and component. */
export async function saveManualValues(
  tx: Tx,
  tenantId: number,
  termId: number,
  values: readonly ManualValue[],
  stamp: Stamp,
): Promise<Saved> {
  const rows = JSON.stringify(values);
  const { count: removed } = await sql`
    delete from manual_values m
    using json_to_recordset(${rows}::json)
      as r ("subscriptionId" bigint, component text, value text)
    where m.tenant_id = ${tenantId} and m.term_id = ${termId}
      and m.subscription_id = r."subscriptionId" and m.component = r.component
      and r.value is null
  `.execute(tx);
  const { count: saved } = await sql`
    insert into manual_values as m (
      tenant_id, term_id, subscription_id, component, value, modified_at, modified_by
    )
    select own.tenant_id, ${termId}, r."subscriptionId", r.component, r.value::numeric,
      ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${rows}::json)
      as r ("subscriptionId" bigint, component text, value text)
    where r.value is not null
    on conflict (tenant_id, term_id, subscription_id, component) do update
      set value = excluded.value, modified_at = excluded.modified_at,
        modified_by = excluded.modified_by
      where m.value <> excluded.value
  `.execute(tx);
  return { changed: saved, removed };
}

export type UploadedUse = {
  subscriptionId: number;
  input: string;
  /** YYYY-MM-DD; null is of the whole term. */
  date: string | null;
  /** Null takes back what was uploaded before. */
  quantity: string | null;
};

/** As for manual values. A use of the whole term has the date infinity: it has a key too. */
export async function saveUsage(
  tx: Tx,
  tenantId: number,
  termId: number,
  usage: readonly UploadedUse[],
  stamp: Stamp,
): Promise<Saved> {
  const rows = JSON.stringify(usage);
  const { count: removed } = await sql`
    delete from term_usage u
    using json_to_recordset(${rows}::json)
      as r ("subscriptionId" bigint, input text, date date, quantity text)
    where u.tenant_id = ${tenantId} and u.term_id = ${termId}
      and u.subscription_id = r."subscriptionId" and u.input = r.input
      and u.usage_date = coalesce(r.date, 'infinity') and r.quantity is null
  `.execute(tx);
  const { count: saved } = await sql`
    insert into term_usage as u (
      tenant_id, term_id, subscription_id, input, usage_date, quantity, modified_at, modified_by
    )
    select own.tenant_id, ${termId}, r."subscriptionId", r.input, coalesce(r.date, 'infinity'),
      r.quantity::numeric, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join json_to_recordset(${rows}::json)
      as r ("subscriptionId" bigint, input text, date date, quantity text)
    where r.quantity is not null
    on conflict (tenant_id, term_id, subscription_id, input, usage_date) do update
      set quantity = excluded.quantity, modified_at = excluded.modified_at,
        modified_by = excluded.modified_by
      where u.quantity <> excluded.quantity
  `.execute(tx);
  return { changed: saved, removed };
}

/** Of a term that is cancelled. */
export async function deleteInputs(tx: Tx, tenantId: number, termId: number): Promise<void> {
  await sql`
    delete from manual_values where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
  await sql`
    delete from term_usage where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
}

/** Bills of the term that have no number yet; returns how many there were. */
export function deleteDrafts(tx: Tx, tenantId: number, termId: number): Promise<number> {
  return deleteBills(tx, tenantId, termId, sql`true`);
}

/**
 * Deletes drafts calculated from readings that the term has locked, of one subscription or of all;
 * a bill of several goes if one of them was read. They are made again when the term is generated.
 * Drafts on hold stay until then, so that they are still held. Readings are looked up for each
 * bill: a plan made while the tables were small must not scan all of them.
 */
export function deleteReadDrafts(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionId: number | null,
): Promise<number> {
  const isRead = (of: Sql) => sql`exists (
    select from term_readings l
    where l.tenant_id = ${tenantId} and l.term_id = ${termId} and l.subscription_id = ${of}
      and (${subscriptionId}::bigint is null or l.subscription_id = ${subscriptionId})
    offset 0
  )`;
  const hasReadPart = sql`exists (
    select from bill_parts p
    where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      and ${isRead(sql`p.subscription_id`)}
    offset 0
  )`;
  const isMeant = sql`not b.is_held and case when b.subscription_id is null
    then ${hasReadPart} else ${isRead(sql`b.subscription_id`)} end`;
  return deleteBills(tx, tenantId, termId, isMeant);
}

async function deleteBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  isMeant: Sql,
): Promise<number> {
  const { rows } = await sql<{ bill_id: number }>`
    select b.bill_id from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${termId}
      and b.status in ('Draft', 'Error', 'Hold') and ${isMeant}
    for update of b
  `.execute(tx);
  const ids = `{${rows.map((row) => row.bill_id).join(',')}}`;
  await sql`
    delete from bill_parts where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
  `.execute(tx);
  // What the last run had is kept, so that the next one can be held against it.
  await sql`
    insert into superseded_bills (tenant_id, term_id, bill_id, first_run, last_run, unit_id,
      subscription_id, status, current_charges, bill_amount, hash, document, frozen)
    select g.tenant_id, g.term_id, g.bill_id, g.first_run, t.run_number, g.unit_id,
      g.subscription_id, g.status, g.current_charges, g.bill_amount, g.hash, k.document, k.frozen
    from bills g
    join bill_contents k on k.tenant_id = ${tenantId} and k.bill_id = g.bill_id
    join terms t on t.tenant_id = ${tenantId} and t.term_id = g.term_id
    where g.tenant_id = ${tenantId} and g.bill_id = any(${ids}::bigint[])
  `.execute(tx);
  // Bills go before their contents: a bill is never without them.
  await sql`
    delete from bills where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
  `.execute(tx);
  await sql`
    delete from bill_contents where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
  `.execute(tx);
  return rows.length;
}
