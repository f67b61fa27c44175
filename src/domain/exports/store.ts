// What is exported, row by row in the order of ids, under the names of the columns.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { isInReach } from '../readings/list-store.ts';

export type ExportRow = { id: number } & Record<string, string | number | boolean | null>;
export type Window = { afterId: number; limit: number };

const address = (alias: string) =>
  sql.raw(`${alias}.address ->> 'title' as "addressTitle",
    ${alias}.address ->> 'shopNo' as "shopNo",
    ${alias}.address ->> 'buildingNo' as "buildingNo",
    ${alias}.address ->> 'buildingName' as "buildingName", ${alias}.address ->> 'street' as street,
    ${alias}.address ->> 'block' as block, ${alias}.address ->> 'society' as society,
    ${alias}.address ->> 'city' as city, ${alias}.address ->> 'countryId' as "countryId"`);

export async function listParties(
  tx: Tx,
  tenantId: number,
  { afterId, limit }: Window,
): Promise<ExportRow[]> {
  const contact = (type: string) => sql`(
    select c ->> 'contactValue' from jsonb_array_elements(p.contacts) c
    where c ->> 'contactType' = ${type} limit 1
  )`;
  const { rows } = await sql<ExportRow>`
    select p.party_id as id, p.party_number as "partyNumber", p.kind as "userType", p.name, p.email,
      p.country, ${contact('Mobile')} as mobile, ${contact('Phone')} as phone,
      ${contact('WhatsApp')} as "whatsApp", ${contact('Email')} as "otherEmail",
      ${contact('Fax')} as fax, ${contact('Other')} as "otherContact",
      p.identity_number as "identityNumber", p.tax_number as "taxNumber", p.language,
      ${address('p')}
    from parties p
    where p.tenant_id = ${tenantId} and p.party_id > ${afterId} and ${isExported(tenantId)}
    order by p.party_id
    limit ${limit}
  `.execute(tx);
  return rows;
}

/** The owner of a subscription is exported with it: without its owner it could not be imported. */
function isExported(tenantId: number): Sql {
  return sql`(not p.archived or exists (
    select from subscriptions s where s.tenant_id = ${tenantId} and s.party_id = p.party_id
  ))`;
}

export async function listMeters(
  tx: Tx,
  tenantId: number,
  { afterId, limit }: Window,
): Promise<ExportRow[]> {
  const { rows } = await sql<ExportRow>`
    select m.meter_id as id, m.number, m.brand, t.name as "meterType",
      ${day(sql`m.purchase_date`)} as "purchaseDate", m.mf, m.status, m.health as "meterHealth"
    from meters m
    join meter_types t on t.tenant_id = ${tenantId} and t.meter_type_id = m.meter_type_id
    where m.tenant_id = ${tenantId} and m.meter_id > ${afterId}
    order by m.meter_id
    limit ${limit}
  `.execute(tx);
  return rows;
}

function day(date: Sql): Sql {
  return sql`to_char(${date}, 'DD/MM/YYYY')`;
}

/** First and last day of what is exported. */
export type Days = { from: Temporal.PlainDate | null; to: Temporal.PlainDate | null };

/** Which they are is found before anything is looked up for them. */
export async function listReadings(
  tx: Tx,
  tenantId: number,
  { afterId, limit }: Window,
  days: Days,
): Promise<ExportRow[]> {
  const { rows } = await sql<ExportRow>`
    select r.reading_id as id, s.subscription_number as "connectionNumber", m.number, g.register,
      g.unit, r.value::text as value, ${day(sql`r.reading_date`)} as "readingDate",
      r.reading_time as "readingTime", r.reading_type as "readingType", r.status,
      r.consumption::text as consumption, r.days, array_to_string(r.flags, ' ') as flags, r.source,
      r.remark, r.image_url as "imageUrl", r.external_reference as "externalRef",
      case when r.rollover then '1' end as rollover
    from (
      select * from readings r
      where r.tenant_id = ${tenantId} and r.reading_id > ${afterId} and ${within(days)}
        and ${afterId > 0 ? sql`true` : isInReach(tenantId, days)}
      order by r.reading_id
      limit ${limit}
    ) r
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_registers g on g.tenant_id = ${tenantId} and g.meter_type_id = m.meter_type_id
      and g.position = r.position
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = a.subscription_id
    order by r.reading_id
  `.execute(tx);
  return rows;
}

function within({ from, to }: Days): Sql {
  const conditions = [
    from ? sql`r.reading_date >= ${from}` : sql`true`,
    to ? sql`r.reading_date <= ${to}` : sql`true`,
  ];
  return sql.join(conditions, sql` and `);
}

/** With the installed meter and the last billed day: another system continues from there. */
export async function listSubscriptions(
  tx: Tx,
  tenantId: number,
  { afterId, limit }: Window,
): Promise<(ExportRow & { inputs: Named[]; quantities: Named[] })[]> {
  const { rows } = await sql<ExportRow & { inputs: Named[]; quantities: Named[] }>`
    select s.subscription_id as id, s.subscription_number as "connectionNumber",
      s.reference_number as "connectionRefNo", c.code as "serviceCode", n.code as "tariffCode",
      b.code as "batchCode", c.post_type as "postType", p.party_number as "partyNumber",
      p.name as "partyName", o.label as "connectionGroupLabel",
      ${day(sql`s.connection_date`)} as "connectionDate",
      ${day(sql`s.billed_through`)} as "billedThrough", s.status, s.description,
      s.payment_method as "paymentMethod", s.project_name as "projectName", (
        select string_agg(a.unique_label, '|')
        from jsonb_array_elements(s.add_ons) i
        join plans a on a.tenant_id = ${tenantId} and a.plan_id = (i ->> 'planId')::bigint
        where i ->> 'toDate' is null
      ) as addons, h.number as "meterNumber", ${day(sql`h.reading_date`)} as "installDate",
      h.value as "initialReading", h.input as "meteredInput", h.register,
      ${address('s')}, s.connection_inputs as inputs, s.quantities
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    join plans n on n.tenant_id = ${tenantId} and n.plan_id = s.plan_id
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = s.party_id
    join billing_accounts o on o.tenant_id = ${tenantId} and o.account_id = s.account_id
    left join lateral (${hanging(tenantId)}) h on true
    where s.tenant_id = ${tenantId} and s.subscription_id > ${afterId}
    order by s.subscription_id
    limit ${limit}
  `.execute(tx);
  return rows;
}

export type Named = { name: string; value: string };

function hanging(tenantId: number): Sql {
  return sql`
    select m.number, r.input, g.register, e.value::text as value, e.reading_date
    from assignment_registers r
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
      and a.remove_date is null
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
    join meter_registers g on g.tenant_id = ${tenantId} and g.meter_type_id = m.meter_type_id
      and g.position = r.position
    left join lateral (${billedUpTo(tenantId)}) e on true
    where r.tenant_id = ${tenantId} and r.subscription_id = s.subscription_id
    order by r.input is null, a.assignment_id, r.position
    limit 1
  `;
}

/**
 * The reading up to which a register was billed: that of the last posted bill, else the last one up
 * to the last billed day, else the first. If the last billed day is unknown, the last reading.
 */
function billedUpTo(tenantId: number): Sql {
  const accepted = sql`
    select l.value, l.reading_date from readings l
    where l.tenant_id = ${tenantId} and l.assignment_id = r.assignment_id
      and l.position = r.position and l.status = 'Accepted'`;
  return sql`
    select f.value, f.reading_date from (
      (select 1 as choice, o.value, o.reading_date
      from term_readings o
      join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
      where o.tenant_id = ${tenantId} and o.assignment_id = r.assignment_id
        and o.position = r.position and t.status in ('Posted', 'Published')
        and t.start_date <= s.billed_through
      order by o.reading_date desc
      limit 1)
      union all
      (select 2, a.* from (${accepted}) a
      where s.billed_through is null or a.reading_date <= s.billed_through
      order by a.reading_date desc
      limit 1)
      union all
      (select 3, a.* from (${accepted}) a order by a.reading_date limit 1)
    ) f
    order by f.choice
    limit 1
  `;
}

/** Names of the custom fields and agreed quantities that the services define. */
export async function listInputNames(
  tx: Tx,
  tenantId: number,
): Promise<{ inputs: string[]; quantities: string[] }> {
  const names = (list: string) => sql`array(
    select distinct i ->> 'name'
    from pricing_context_versions v, jsonb_array_elements(v.definition -> ${sql.lit(list)}) i
    where v.tenant_id = ${tenantId}
      and jsonb_typeof(v.definition -> ${sql.lit(list)}) = 'array'
    order by 1
  )`;
  const { rows } = await sql<{ inputs: string[]; quantities: string[] }>`
    select ${names('connectionInputs')} as inputs, ${names('unmeteredInputs')} as quantities
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { inputs: [], quantities: [] };
}

export async function countTable(
  tx: Tx,
  tenantId: number,
  table: 'parties' | 'meters' | 'subscriptions',
): Promise<number> {
  const isListed = table === 'parties' ? isExported(tenantId) : sql`true`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.ref(table)} p
    where p.tenant_id = ${tenantId} and ${isListed}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function countReadings(tx: Tx, tenantId: number, days: Days): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from readings r where r.tenant_id = ${tenantId} and ${within(days)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
