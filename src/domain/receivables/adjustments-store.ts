import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { ContextType } from '../ledger/accounts.ts';
import type { AdjustmentKind } from './adjustment.ts';
import type { Known } from './references.ts';

/** A subscription that is adjusted, with the components of its context as they are now. */
export type AdjustedSubscription = {
  subscription_id: number;
  subscription_number: string;
  party_id: number;
  context_type: ContextType;
  business_unit_id: number;
  components: { name: string; type?: string; account?: string | null }[];
};

export async function listAdjusted(
  tx: Tx,
  tenantId: number,
  numbers: readonly string[],
): Promise<Map<string, AdjustedSubscription>> {
  const { rows } = await sql<AdjustedSubscription>`
    select s.subscription_id, s.subscription_number, s.party_id, c.context_type,
      c.business_unit_id, coalesce((
        select v.definition -> 'components' from pricing_context_versions v
        where v.tenant_id = ${tenantId} and v.context_id = s.context_id
        order by v.version desc
        limit 1
      ), '[]') as components
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and s.subscription_number = any(${numbers}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_number, row]));
}

export type KnownAdjustment = Known & {
  subscription_id: number;
  kind: AdjustmentKind;
  amount: number;
};

export async function listAdjustmentReferences(
  tx: Tx,
  tenantId: number,
  references: readonly string[],
): Promise<Map<string, KnownAdjustment>> {
  const { rows } = await sql<KnownAdjustment>`
    select reference, adjustment_id as id, subscription_id, kind, amount from adjustments
    where tenant_id = ${tenantId} and reference = any(${references}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.reference, row]));
}

export type NewAdjustment = {
  adjustmentId: number;
  reference: string;
  partyId: number;
  subscriptionId: number;
  billId: number | null;
  component: string;
  kind: AdjustmentKind;
  amount: number;
  walletAmount: number;
  postingDate: string;
  reason: string;
  journalId: number;
};

/** Returns how many references were free. */
export async function insertAdjustments(
  tx: Tx,
  tenantId: number,
  adjustments: readonly NewAdjustment[],
  stamp: Stamp,
): Promise<number> {
  const rows = adjustments.toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
  const { count } = await sql`
    insert into adjustments (tenant_id, adjustment_id, reference, party_id, subscription_id,
      bill_id, component, kind, amount, wallet_amount, posting_date, reason, journal_id,
      created_at, created_by)
    select own.tenant_id, r."adjustmentId", r.reference, r."partyId", r."subscriptionId",
      r."billId", r.component, r.kind, r.amount, r."walletAmount", r."postingDate", r.reason,
      r."journalId", ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "adjustmentId" bigint, reference text, "partyId" bigint, "subscriptionId" bigint,
      "billId" bigint, component text, kind text, amount bigint, "walletAmount" bigint,
      "postingDate" date, reason text, "journalId" bigint
    )
    on conflict (tenant_id, reference) do nothing
  `.execute(tx);
  return count;
}
