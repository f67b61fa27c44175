import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Batch } from './context.ts';

export type BatchRow = {
  batch_id: number;
  context_id: number;
  context_code: string;
  code: string;
  label: string;
  description: string | null;
  billing_period_id: number | null;
  reading_day: number | null;
  billing_day: number | null;
  archived: boolean;
};

/** Of one context, or of all. */
export async function listBatches(
  tx: Tx,
  tenantId: number,
  options: { contextCode: string | null; afterId: number; limit: number },
): Promise<BatchRow[]> {
  const { rows } = await sql<BatchRow>`
    select b.batch_id, b.context_id, c.code as context_code, b.code, b.label, b.description,
      b.billing_period_id, b.reading_day, b.billing_day, b.archived
    from batches b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where b.tenant_id = ${tenantId} and b.batch_id > ${options.afterId}
      and (${options.contextCode}::text is null or c.code = ${options.contextCode})
    order by b.batch_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function hasBatch(tx: Tx, tenantId: number, batchId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from batches where tenant_id = ${tenantId} and batch_id = ${batchId}
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

export async function countBatches(
  tx: Tx,
  tenantId: number,
  contextCode: string | null,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from batches b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
    where b.tenant_id = ${tenantId} and (${contextCode}::text is null or c.code = ${contextCode})
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function findBatchId(
  tx: Tx,
  tenantId: number,
  key: { contextId: number; code: string },
): Promise<number | undefined> {
  const { rows } = await sql<{ batch_id: number }>`
    select batch_id from batches
    where tenant_id = ${tenantId} and context_id = ${key.contextId} and code = ${key.code}
  `.execute(tx);
  return rows[0]?.batch_id;
}

/** Makes batches, or changes those of the same code. */
export async function saveBatches(
  tx: Tx,
  tenantId: number,
  contextId: number,
  batches: readonly (Batch & { id: number })[],
): Promise<void> {
  if (batches.length === 0) return;
  const rows = batches.map((batch) => ({
    batch_id: batch.id,
    code: batch.code,
    label: batch.label,
    description: batch.description,
    billing_period_id: batch.billingPeriodId,
    reading_day: batch.readingDay,
    billing_day: batch.billingDay,
    archived: batch.archived,
  }));
  await sql`
    insert into batches (
      tenant_id, batch_id, context_id, code, label, description, billing_period_id,
      reading_day, billing_day, archived
    )
    select own.tenant_id, r.batch_id, ${contextId}, r.code, r.label, r.description,
      r.billing_period_id, r.reading_day, r.billing_day, r.archived
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      batch_id bigint, code text, label text, description text, billing_period_id bigint,
      reading_day smallint, billing_day smallint, archived boolean
    )
    on conflict (tenant_id, batch_id) do update
    set label = excluded.label, description = excluded.description,
      billing_period_id = excluded.billing_period_id, reading_day = excluded.reading_day,
      billing_day = excluded.billing_day, archived = excluded.archived
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        batches_period_fkey: () =>
          new AppError('PERIOD_NOT_FOUND', {
            message: 'A batch names a billing period that does not exist',
            field: 'service.batches',
          }),
      }),
    );
}

/** A batch that something refers to stays: the database says so. */
export async function deleteBatches(
  tx: Tx,
  tenantId: number,
  batches: readonly BatchRow[],
): Promise<void> {
  if (batches.length === 0) return;
  const ids = batches.map((batch) => batch.batch_id);
  await sql`
    delete from batches where tenant_id = ${tenantId} and batch_id = any(${ids}::bigint[])
  `
    .execute(tx)
    .catch((error) => {
      if (!isReferenced(error)) throw error;
      const codes = batches.map((batch) => batch.code).join(', ');
      throw new AppError('IN_USE', {
        message: `Subscriptions or terms use a batch that is left out (${codes})`,
        field: 'service.batches',
        cause: error,
      });
    });
}

/** foreign_key_violation of PostgreSQL. */
export function isReferenced(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '23503';
}
