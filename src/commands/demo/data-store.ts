// The rows of the demo, made inside PostgreSQL from nothing but their numbers: a million
// subscriptions must not travel.
//
// Five neighbouring households hold nine subscriptions: each has electricity, the first three have
// water, the first is a flat of the housing society. Subscription n has the id n, and so have its
// meter and the meter's place.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../../domain/ledger/accounts.ts';
import { book, opening as openItem } from '../../domain/ledger/book.ts';
import { blocks, firstNames, meterBrands, seasons, societies, surnames } from './people.ts';

export type DemoBlock = { first: number; last: number };

/** Twelve whole months, the last of which is not billed yet. Dates as YYYY-MM-DD. */
export type DemoYear = { start: string; end: string; today: string };

/** Of the catalogue: context, batch and plan ids by code. */
export type DemoKeys = { contexts: string; batches: string; plans: string };

export async function findDemoKeys(tx: Tx, tenantId: number): Promise<DemoKeys> {
  const { rows } = await sql<{ contexts: object; batches: object; plans: object }>`
    select
      (select jsonb_object_agg(code, context_id) from pricing_contexts
        where tenant_id = ${tenantId}) as contexts,
      (select jsonb_object_agg(c.code || '/' || b.code, b.batch_id)
        from batches b
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
        where b.tenant_id = ${tenantId}) as batches,
      (select jsonb_object_agg(code, plan_id) from plans
        where tenant_id = ${tenantId}) as plans
  `.execute(tx);
  const [row] = rows;
  return {
    contexts: JSON.stringify(row?.contexts ?? {}),
    batches: JSON.stringify(row?.batches ?? {}),
    plans: JSON.stringify(row?.plans ?? {}),
  };
}

/** n, household, and which of the three a subscription is. */
function numbered({ first, last }: DemoBlock): Sql {
  return sql`(
    select n, g * 5 + case when r < 5 then r when r < 8 then r - 5 else 0 end + 1 as household,
      case when r < 5 then 'ELEC' when r < 8 then 'WATER' else 'SOC' end as context,
      r >= 5 and r < 8 and n % 4 = 0 as is_by_taps
    from generate_series(${first}::bigint, ${last}::bigint) n,
      lateral (select (n - 1) / 9 as g, (n - 1) % 9 as r) place
  )`;
}

function stamped({ at, by }: Stamp): Sql {
  return sql`${at}, ${by}, ${at}, ${by}, ${at.epochMilliseconds}::bigint`;
}

const addressOf = sql`jsonb_build_object(
  'title', null, 'shopNo', null,
  'buildingNo', ((household - 1) % 90 + 1)::text || chr(65 + (household % 4)::integer),
  'buildingName', null,
  'street', 'Street ' || ((household - 1) / 90 % 40 + 1),
  'block', (${blocks}::text[])[1 + (household / 450) % ${blocks.length}],
  'society', (${societies}::text[])[1 + (household / 1350) % ${societies.length}],
  'city', 'Lahore', 'countryId', 586)`;

/** Parties, each with one account. */
export async function insertHouseholds(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into parties (tenant_id, party_id, party_number, kind, name, email, country, contacts,
      address, language, search_text, created_at, created_by, modified_at, modified_by, ts)
    select own.tenant_id, household, 100000 + household, 'Customer', name, email, 'PK',
      jsonb_build_array(jsonb_build_object('contactType', 'Mobile', 'contactValue', mobile)),
      ${addressOf}, 'en',
      lower(concat_ws(E'\n', name, 100000 + household, coalesce(email, ''), mobile)),
      ${stamped(stamp)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join (select distinct household from ${numbered(block)} s) h,
      lateral (
        select (${firstNames}::text[])[1 + household % ${firstNames.length}]
          || ' ' || (${surnames}::text[])[1 + household * 7 / 3 % ${surnames.length}] as name,
          '+92300' || lpad((household * 7919 % 10000000)::text, 7, '0') as mobile
      ) known,
      lateral (
        select case when household % 11 <> 0
          then replace(lower(name), ' ', '.') || household || '@example.com' end as email
      ) reached
    order by household
  `.execute(tx);
  await sql`
    insert into billing_accounts (tenant_id, account_id, party_id, label, created_at, created_by,
      modified_at, modified_by, ts)
    select own.tenant_id, household, household,
      'House ' || (a ->> 'buildingNo') || ', ' || (a ->> 'street'), ${stamped(stamp)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join (select distinct household from ${numbered(block)} s) h,
      lateral (select ${addressOf}) x (a)
    order by household
  `.execute(tx);
}

/** The dozen whose year of bills and payments is made: see year.ts. All have electricity. */
const isOfYear = sql`(n % 18 = 10 and n <= 216)`;

/** One in fifty is cut off, a month and more before the end of the year. */
const isCut = sql`n % 53 = 17`;

export async function insertSubscriptionRows(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  { year, keys }: { year: DemoYear; keys: DemoKeys },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into subscriptions (tenant_id, subscription_id, subscription_number, context_id,
      plan_id, batch_id, account_id, party_id, status, connection_date, disconnection_kind,
      billed_through, is_metered, has_quantities, payment_method, address, plan_history,
      status_history, connection_inputs, quantities, users, search_text,
      created_at, created_by, modified_at, modified_by, ts)
    select own.tenant_id, n, number, (${keys.contexts}::jsonb ->> context)::bigint, plan_id,
      (${keys.batches}::jsonb ->> (context || '/' || batch))::bigint, household, household,
      case when ${isCut} then 'Disconnected' else 'Active' end, ${year.start}::date,
      case when ${isCut} then 'Temporary' end,
      case when ${isOfYear} then null when ${isCut} then cut_date - 1 else month_start - 1 end,
      context <> 'SOC' and not is_by_taps, context = 'SOC' or is_by_taps,
      case when n % 3 = 0 then 'Online' else 'Bank' end, ${addressOf},
      jsonb_build_array(jsonb_build_object('planId', plan_id, 'fromDate', ${year.start}::text)),
      jsonb_build_array(jsonb_build_object('status', 'Active', 'fromDate', ${year.start}::text))
        || case when ${isCut} then jsonb_build_array(jsonb_build_object('status', 'Disconnected',
          'fromDate', cut_date::text, 'kind', 'Temporary', 'reason', 'Unpaid bills'))
          else '[]' end,
      inputs, quantities,
      jsonb_build_array(jsonb_build_object(
        'partyId', household, 'role', 'Owner', 'fromDate', ${year.start}::text)),
      lower(number), ${stamped(stamp)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join ${numbered(block)} s,
      lateral (
        select context || '-' || lpad(n::text, 8, '0') as number,
          date_trunc('month', ${year.end}::date)::date as month_start,
          (date_trunc('month', ${year.end}::date) - interval '1 month')::date as cut_date,
          (${keys.plans}::jsonb ->> case
            when context = 'SOC' then 'SOC-FLAT'
            when is_by_taps then 'WAT-TAP'
            when context = 'WATER' then 'WAT-MET'
            when n % 6 = 0 then 'RES-A1-PRV'
            else 'RES-A1' end)::bigint as plan_id,
          case when ${isOfYear} then 'B03' when context = 'ELEC' and n % 2 = 0 then 'B02'
            else 'B01' end as batch
      ) taken,
      lateral ${inputsOf()} given
    order by n
  `.execute(tx);
}

/** Custom fields and agreed quantities, by context. */
function inputsOf(): Sql {
  return sql`(
    select
      case
        when context = 'ELEC' then jsonb_build_array(
          jsonb_build_object('name', 'sanctionedLoad', 'value', (2 + n % 7)::text),
          jsonb_build_object('name', 'phase', 'value',
            case when n % 7 > 3 then 'Three' else 'Single' end))
        when context = 'WATER' then jsonb_build_array(
          jsonb_build_object('name', 'pipeSize', 'value',
            (array['15', '15', '20', '25'])[1 + n % 4]),
          jsonb_build_object('name', 'category', 'value',
            case when n % 12 = 0 then 'Commercial' else 'Residential' end))
        else jsonb_build_array(
          jsonb_build_object('name', 'areaSqFt', 'value', (650 + n * 37 % 1200)::text),
          jsonb_build_object('name', 'constructionCost', 'value',
            (900000 + n * 977 % 600000)::text),
          jsonb_build_object('name', 'occupancy', 'value',
            (array['Owner', 'Owner', 'Tenant', 'Vacant'])[1 + n % 4]))
      end as inputs,
      case
        when context = 'SOC' then jsonb_build_array(jsonb_build_object(
          'name', 'parkingSlots', 'value', (n % 3)::text, 'fromDate', connected.day))
        when is_by_taps then jsonb_build_array(jsonb_build_object(
          'name', 'taps', 'value', (2 + n % 4)::text, 'fromDate', connected.day))
        else '[]'
      end as quantities
    from (
      select date_trunc('month', month_start - interval '11 months')::date::text as day
    ) connected
  )`;
}

export async function insertMeterRows(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  year: DemoYear,
  stamp: Stamp,
): Promise<void> {
  const metered = sql`${numbered(block)} s where context <> 'SOC' and not is_by_taps`;
  await sql`
    insert into meters (tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf,
      status, search_text, created_at, created_by, modified_at, modified_by, ts)
    select own.tenant_id, n, 700000000 + n, brand, case when context = 'ELEC' then 1 else 3 end,
      ${year.start}::date - 30, 1, 'Active', (700000000 + n) || E'\n' || lower(brand),
      ${stamped(stamp)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join (
      select *, (${meterBrands}::text[])[1 + n % ${meterBrands.length}] as brand from ${metered}
    ) m
    order by n
  `.execute(tx);
  await sql`
    insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id,
      install_date, mf, created_at, created_by, modified_at, modified_by, ts)
    select own.tenant_id, n, n, n, ${year.start}::date, 1, ${stamped(stamp)}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join ${metered}
    order by n
  `.execute(tx);
  await sql`
    insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
    select own.tenant_id, n, 1, n, case when context = 'ELEC' then 'energy' else 'water' end
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join ${metered}
    order by n
  `.execute(tx);
}

/** Used in a month that is an ordinary one: kWh, or tenths of a cubic metre. */
const usualUse = sql`case
  when context = 'ELEC' then 120 + n * 37 % 380 else 120 + n * 13 % 300 end`;

/** Percent of an ordinary month, added up from the first month on, for each context. */
function growth(year: DemoYear): { ELEC: number[]; WATER: number[] } {
  const month = Temporal.PlainDate.from(year.start).month;
  const added = (season: readonly number[]) => {
    let sum = 0;
    const sums = season.map((_, index) => (sum += season[(month - 1 + index) % 12] ?? 0));
    return [0, ...sums];
  };
  return { ELEC: added(seasons.ELEC), WATER: added(seasons.WATER) };
}

/** What a register had counted after m months, in its own unit. */
function counted(year: DemoYear, months: Sql): Sql {
  const sums = growth(year);
  return sql`case
    when context = 'ELEC' then n * 53 % 40000
      + ${usualUse} * (${sums.ELEC}::integer[])[1 + ${months}] / 100
    else (n * 31 % 20000 + ${usualUse} * (${sums.WATER}::integer[])[1 + ${months}] / 100) / 10.0
    end`;
}

/** One reading at the installation and one at the end of each month; the last may be missing. */
export async function insertReadingRows(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  year: DemoYear,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
      reading_type, status, consumption, days, source,
      created_at, created_by, modified_at, modified_by)
    select own.tenant_id, (n - 1) * 13 + m + 1, n, 1,
      case when m = 0 then began.month else began.month + (m || ' months')::interval
        - interval '1 day' end,
      trim_scale(${counted(year, sql`m`)}),
      case when m = 0 then 'Installation' else 'Actual' end, 'Accepted',
      case when m > 0
        then trim_scale(${counted(year, sql`m`)} - ${counted(year, sql`(m - 1)`)}) end,
      case when m > 0 then
        extract(day from began.month + (m || ' months')::interval - interval '1 day')
      end,
      case when m > 0 then 'Round' end, ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join ${numbered(block)} s, (select ${year.start}::date as month) began,
      generate_series(0, 12) m
    where context <> 'SOC' and not is_by_taps and not (m = 12 and n % 97 = 5)
    order by n, m
  `.execute(tx);
}

/** What was billed of the eleven months before the last one. */
export async function insertUsageHistories(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  year: DemoYear,
): Promise<void> {
  await sql`
    insert into usage_histories (tenant_id, subscription_id, terms)
    select own.tenant_id, n, array_agg(json_build_object(
        'termId', null,
        'label', to_char(began.month + ((m - 1) || ' months')::interval, 'Mon-YYYY'),
        'endDate', (began.month + (m || ' months')::interval - interval '1 day')::date::text,
        'days', extract(day from began.month + (m || ' months')::interval - interval '1 day'),
        'amount', used * case when context = 'ELEC' then 2500 else 4000 end,
        'usage', json_build_object(case when context = 'ELEC' then 'energy' else 'water' end,
          json_build_object('quantity', used::text, 'type', 'Actual'))
      ) order by m desc)
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join ${numbered(block)} s, (select ${year.start}::date as month) began,
      generate_series(1, 11) m,
      lateral (
        select trim_scale(${counted(year, sql`m`)} - ${counted(year, sql`(m - 1)`)}) as used
      ) billed
    where context <> 'SOC' and not is_by_taps and not ${isOfYear}
    group by own.tenant_id, n
    order by n
  `.execute(tx);
}

/** One household in seven owes for electricity from before. */
export async function postOpeningBalances(
  tx: Tx,
  tenantId: number,
  block: DemoBlock,
  year: DemoYear,
  stamp: Stamp,
): Promise<void> {
  const { rows } = await sql<{ n: number; household: number; amount: number }>`
    select s.subscription_id as n, s.party_id as household,
      50000 + s.subscription_id * 7919 % 250000 as amount
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and c.code = 'ELEC' and s.subscription_id % 7 = 3
      and s.subscription_id between ${block.first} and ${block.last}
    order by s.subscription_id
  `.execute(tx);
  const total = rows.reduce((sum, row) => sum + row.amount, 0);
  if (total === 0) return;
  const { receivable: accountId, opening } = ledgerAccounts;
  const entries = rows.map(({ household: partyId, n: subscriptionId, amount }) =>
    openItem(
      { accountId, partyId, subscriptionId, billId: null },
      { kind: 'Opening', amount },
      { kind: 'Opening', dueDate: year.start },
      { description: 'Brought forward' },
    ),
  );
  const booking = {
    source: 'Opening' as const,
    sourceId: block.first,
    businessUnitId: 1,
    postingDate: Temporal.PlainDate.from(year.start),
    description: 'Balances brought forward',
    entries,
    against: [{ accountId: opening, amount: -total }],
  };
  await book(tx, tenantId, [booking], stamp);
}

/** Numbers that the demo took are not handed out again. */
export async function raiseCounters(tx: Tx, tenantId: number, total: number): Promise<void> {
  const households = (total / 9) * 5;
  await sql`
    insert into counters as c (tenant_id, series, last_number)
    values (${tenantId}, 'party', ${households}),
      (${tenantId}, 'party-number', 100000 + ${households}::bigint),
      (${tenantId}, 'account', ${households}),
      (${tenantId}, 'subscription', ${total}),
      (${tenantId}, 'subscription-number', ${total}),
      (${tenantId}, 'meter', ${total}),
      (${tenantId}, 'assignment', ${total}),
      (${tenantId}, 'reading', ${total}::bigint * 13)
    on conflict (tenant_id, series) do update
      set last_number = greatest(c.last_number, excluded.last_number)
  `.execute(tx);
}

/** The planner must not believe that the tables are still empty. */
export async function analyzeDemo(tx: Tx): Promise<void> {
  await sql
    .raw(`analyze parties, billing_accounts, subscriptions, meters, meter_assignments,
    assignment_registers, readings, usage_histories, subscription_counts, row_blocks`)
    .execute(tx);
}
