// What posted bills of a party have measured and billed, by subscription and month.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { StoredUsage } from './bill-forms.ts';

export type BilledUsageRow = {
  subscription_number: string;
  /** YYYY-MM: of the last billed day. */
  month: string;
  usage: readonly StoredUsage[] | null;
  readings:
    | readonly { meterNumber: number; register?: string | null; consumption: string }[]
    | null;
};

export type UsageFilter = {
  partyId: number;
  subscriptionNumber: string | null;
  statuses: readonly string[];
  /** The first month, as YYYY-MM-DD. */
  since: string;
  limit: number;
};

/** Newest first. A bill of several subscriptions has a section for each. */
export async function listBilledUsage(
  tx: Tx,
  tenantId: number,
  filter: UsageFilter,
): Promise<BilledUsageRow[]> {
  const { rows } = await sql<BilledUsageRow>`
    select coalesce(part.section ->> 'connectionNumber', s.subscription_number)
        as subscription_number,
      to_char(b.last_day, 'YYYY-MM') as month,
      coalesce(part.section, k.document) -> 'usage' as usage,
      coalesce(part.section, k.document) -> 'meterReadings' as readings
    from (
      select n.bill_id, n.subscription_id, coalesce(n.billed_to, t.end_date) as last_day
      from bills n
      join terms t on t.tenant_id = ${tenantId} and t.term_id = n.term_id
      where n.tenant_id = ${tenantId} and n.party_id = ${filter.partyId}
        and n.status = any(${[...filter.statuses]}::text[])
        and t.end_date >= ${filter.since}::date
      order by n.bill_id desc
      limit ${filter.limit}
    ) b
    join bill_contents k on k.tenant_id = ${tenantId} and k.bill_id = b.bill_id
    left join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = b.subscription_id
    left join lateral json_array_elements(k.document -> 'sections') as part (section)
      on b.subscription_id is null
    where ${filter.subscriptionNumber}::text is null
      or coalesce(part.section ->> 'connectionNumber', s.subscription_number)
        = ${filter.subscriptionNumber}
    order by b.bill_id desc
  `.execute(tx);
  return rows;
}
