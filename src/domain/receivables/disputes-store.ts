import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export const disputeStatuses = ['Open', 'Upheld', 'Rejected'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

/** What of a dispute is for one subscription of the bill, in minor units. */
export type DisputedPart = { subscriptionId: number; amount: number };

export type NewDispute = {
  disputeId: number;
  billId: number;
  partyId: number;
  amount: number;
  parts: readonly DisputedPart[];
  reason: string;
  raisedOn: string;
  journalId: number;
};

export async function insertDisputes(
  tx: Tx,
  tenantId: number,
  disputes: readonly NewDispute[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into disputes (tenant_id, dispute_id, bill_id, party_id, amount, parts, reason,
      raised_on, journal_id, created_at, created_by)
    select own.tenant_id, r."disputeId", r."billId", r."partyId", r.amount, r.parts, r.reason,
      r."raisedOn", r."journalId", ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(disputes)}::jsonb) as r (
      "disputeId" bigint, "billId" bigint, "partyId" bigint, amount bigint, parts jsonb,
      reason text, "raisedOn" date, "journalId" bigint
    )
  `.execute(tx);
}

export type DisputeRow = {
  dispute_id: number;
  bill_id: number;
  bill_number: string | null;
  party_id: number;
  party_number: number;
  party_name: string;
  amount: number;
  parts: DisputedPart[];
  reason: string;
  status: DisputeStatus;
  raised_on: string;
  resolved_on: string | null;
  resolved_by: string | null;
  remark: string | null;
  credit_note_number: string | null;
  created_at: Temporal.Instant;
  created_by: string;
};

export type DisputeFilter = {
  disputeId: number | null;
  billId: number | null;
  partyId: number | null;
  partyNumber: number | null;
  status: DisputeStatus | null;
};

export const anyDispute: DisputeFilter = {
  disputeId: null,
  billId: null,
  partyId: null,
  partyNumber: null,
  status: null,
};

function matches(tenantId: number, filter: DisputeFilter): Sql {
  const conditions = [sql`d.tenant_id = ${tenantId}`];
  const { disputeId, billId, partyId, partyNumber, status } = filter;
  if (disputeId !== null) conditions.push(sql`d.dispute_id = ${disputeId}`);
  if (billId !== null) conditions.push(sql`d.bill_id = ${billId}`);
  if (partyId !== null) conditions.push(sql`d.party_id = ${partyId}`);
  if (partyNumber !== null) {
    conditions.push(sql`d.party_id = (select p.party_id from parties p
      where p.tenant_id = ${tenantId} and p.party_number = ${partyNumber})`);
  }
  if (status !== null) conditions.push(sql`coalesce(r.outcome, 'Open') = ${status}`);
  return sql.join(conditions, sql` and `);
}

const withResolution = (tenantId: number) => sql`left join dispute_resolutions r
  on r.tenant_id = ${tenantId} and r.dispute_id = d.dispute_id`;

export async function countDisputes(
  tx: Tx,
  tenantId: number,
  filter: DisputeFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from disputes d ${withResolution(tenantId)}
    where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The newest first. */
export async function listDisputes(
  tx: Tx,
  tenantId: number,
  filter: DisputeFilter,
  { offset, limit, beforeId }: { offset: number; limit: number; beforeId: number | null },
): Promise<DisputeRow[]> {
  const isBefore = beforeId === null ? sql`` : sql`and d.dispute_id < ${beforeId}`;
  const { rows } = await sql<DisputeRow>`
    select d.dispute_id, d.bill_id, b.bill_number, d.party_id, p.party_number,
      p.name as party_name, d.amount, d.parts, d.reason, coalesce(r.outcome, 'Open') as status,
      d.raised_on, r.resolved_on, r.created_by as resolved_by, r.remark, n.credit_note_number,
      d.created_at, d.created_by
    from disputes d
    ${withResolution(tenantId)}
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = d.party_id
    left join credit_notes n on n.tenant_id = ${tenantId} and n.credit_note_id = r.credit_note_id
    where ${matches(tenantId, filter)} ${isBefore}
    order by d.dispute_id desc
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

export async function insertResolution(
  tx: Tx,
  tenantId: number,
  resolution: {
    disputeId: number;
    outcome: 'Upheld' | 'Rejected';
    remark: string | null;
    resolvedOn: string;
    journalId: number;
    creditNoteId: number | null;
  },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into dispute_resolutions (tenant_id, dispute_id, outcome, remark, resolved_on,
      journal_id, credit_note_id, created_at, created_by)
    values (${tenantId}, ${resolution.disputeId}, ${resolution.outcome}, ${resolution.remark},
      ${resolution.resolvedOn}::date, ${resolution.journalId}, ${resolution.creditNoteId},
      ${stamp.at}, ${stamp.by})
  `.execute(tx);
}
