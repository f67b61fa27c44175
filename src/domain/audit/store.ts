import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { withoutSecrets } from '../../base/log.ts';

/** One thing that a call changed. `before` is null for what it made. */
export type AuditEntry = {
  subject: string;
  subjectId: number | string;
  before: object | null;
  after: object | null;
};

export type Actor = { name: string; kind: 'Login' | 'Client' | 'System' };

export type AuditContext = {
  requestId: string;
  /** The machine's time, also of a sandbox whose clock is ahead. */
  at: Temporal.Instant;
  actor: string;
  actorKind: Actor['kind'];
  address: string | null;
  operation: string;
};

export async function insertAuditEntries(
  tx: Tx,
  tenantId: number,
  context: AuditContext,
  entries: readonly AuditEntry[],
): Promise<void> {
  const rows = entries.map((entry, position) => ({
    position,
    subject: entry.subject,
    subject_id: String(entry.subjectId),
    before: withoutSecrets(entry.before),
    after: withoutSecrets(entry.after),
  }));
  await sql`
    insert into audit_entries (
      tenant_id, request_id, position, at, actor, actor_kind, address, operation,
      subject, subject_id, before, after
    )
    select own.tenant_id, ${context.requestId}, r.position, ${context.at}, ${context.actor},
      ${context.actorKind}, ${context.address}, ${context.operation},
      r.subject, r.subject_id, nullif(r.before, 'null'), nullif(r.after, 'null')
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (position integer, subject text, subject_id text, before jsonb, after jsonb)
  `.send(tx);
}

type Asker = { actor_kind: Actor['kind']; address: string | null; operation: string };

/** The login that asked for a job, with its address and its call. */
export async function findAsker(
  tx: Tx,
  tenantId: number,
  jobId: number,
): Promise<Asker | undefined> {
  const { rows } = await sql<Asker>`
    select actor_kind, address, operation from audit_entries
    where tenant_id = ${tenantId} and subject = 'job' and subject_id = ${String(jobId)}
    order by request_id
    limit 1
  `.execute(tx);
  return rows[0];
}

export type AuditRow = {
  request_id: string;
  position: number;
  at: Temporal.Instant;
  actor: string;
  actor_kind: string;
  address: string | null;
  operation: string;
  subject: string;
  subject_id: string;
  before: object | null;
  after: object | null;
};

export type AuditFilter = {
  subject: string | null;
  subjectId: string | null;
  actor: string | null;
  from: Temporal.Instant | null;
  to: Temporal.Instant | null;
};

/** Newest first. `after` is the last row of the chunk before. */
export async function listAuditEntries(
  tx: Tx,
  tenantId: number,
  filter: AuditFilter,
  options: { limit: number; offset: number; after?: { requestId: string; position: number } },
): Promise<AuditRow[]> {
  const { after } = options;
  const rest = after
    ? sql`(request_id, position) < (${after.requestId}, ${after.position})`
    : sql`true`;
  const { rows } = await sql<AuditRow>`
    select request_id, position, at, actor, actor_kind, address, operation,
      subject, subject_id, before, after
    from audit_entries
    where ${matches(tenantId, filter)} and ${rest}
    order by request_id desc, position desc
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countAuditEntries(
  tx: Tx,
  tenantId: number,
  filter: AuditFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from audit_entries where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: AuditFilter) {
  return sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(filter.subject === null ? [] : [sql`subject = ${filter.subject}`]),
      ...(filter.subjectId === null ? [] : [sql`subject_id = ${filter.subjectId}`]),
      ...(filter.actor === null ? [] : [sql`actor = ${filter.actor}`]),
      ...(filter.from === null ? [] : [sql`at >= ${filter.from}`]),
      ...(filter.to === null ? [] : [sql`at < ${filter.to}`]),
    ],
    sql` and `,
  );
}
