// Refunds and write-offs that wait for a second person.
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';

export type ApprovalKind = 'Refund' | 'DepositRefund' | 'Adjustments';
export type ApprovalStatus = 'Waiting' | 'Approved' | 'Rejected';

export type WantedApproval = {
  kind: ApprovalKind;
  reference: string;
  amount: number;
  request: object;
};

/** Returns the id, also of one that waits already. */
export async function insertApproval(
  tx: Tx,
  tenantId: number,
  { kind, reference, amount, request }: WantedApproval,
  stamp: Stamp,
): Promise<number> {
  const id = await takeNumbers(tx, tenantId, 'approval', 1);
  const { count } = await sql`
    insert into approvals (tenant_id, approval_id, kind, reference, amount, request, requested_at,
      requested_by)
    values (${tenantId}, ${id}, ${kind}, ${reference}, ${amount},
      ${JSON.stringify(request)}::jsonb, ${stamp.at}, ${stamp.by})
    on conflict (tenant_id, kind, reference) where status = 'Waiting' do nothing
  `.execute(tx);
  if (count > 0) return id;
  const { rows } = await sql<{ approval_id: number }>`
    select approval_id from approvals
    where tenant_id = ${tenantId} and kind = ${kind} and reference = ${reference}
      and status = 'Waiting'
  `.execute(tx);
  return rows[0]?.approval_id ?? id;
}

export type ApprovalRow = {
  approval_id: number;
  kind: ApprovalKind;
  reference: string;
  amount: string;
  request: object;
  status: ApprovalStatus;
  requested_at: Temporal.Instant;
  requested_by: string;
  decided_at: Temporal.Instant | null;
  decided_by: string | null;
  reason: string | null;
};

const columns = sql.raw(`approval_id, kind, reference, amount::text as amount, request, status,
  requested_at, requested_by, decided_at, decided_by, reason`);

export async function lockApproval(
  tx: Tx,
  tenantId: number,
  approvalId: number,
): Promise<ApprovalRow | undefined> {
  const { rows } = await sql<ApprovalRow>`
    select ${columns} from approvals
    where tenant_id = ${tenantId} and approval_id = ${approvalId}
    for no key update
  `.execute(tx);
  return rows[0];
}

export async function updateDecided(
  tx: Tx,
  tenantId: number,
  { approvalId, status, reason }: { approvalId: number; status: ApprovalStatus; reason: string },
  stamp: Stamp,
): Promise<void> {
  await sql`
    update approvals
    set status = ${status}, decided_at = ${stamp.at}, decided_by = ${stamp.by}, reason = ${reason}
    where tenant_id = ${tenantId} and approval_id = ${approvalId}
  `.execute(tx);
}

export type ApprovalFilter = { approvalId: number | null; status: ApprovalStatus | null };

/** The newest first. */
export async function listApprovals(
  tx: Tx,
  tenantId: number,
  filter: ApprovalFilter,
  { offset, limit, beforeId }: { offset: number; limit: number; beforeId: number | null },
): Promise<ApprovalRow[]> {
  const isBefore = beforeId === null ? sql`true` : sql`approval_id < ${beforeId}`;
  const { rows } = await sql<ApprovalRow>`
    select ${columns} from approvals
    where tenant_id = ${tenantId} and ${isWanted(filter)} and ${isBefore}
    order by approval_id desc
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

export async function countApprovals(
  tx: Tx,
  tenantId: number,
  filter: ApprovalFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from approvals
    where tenant_id = ${tenantId} and ${isWanted(filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isWanted({ approvalId, status }: ApprovalFilter): Sql {
  const conditions = [
    approvalId === null ? sql`true` : sql`approval_id = ${approvalId}`,
    status === null ? sql`true` : sql`status = ${status}`,
  ];
  return sql.join(conditions, sql` and `);
}
