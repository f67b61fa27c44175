// Steps that only leave marks, for tests of the machinery that runs steps.

import type pg from 'pg';
import type { Tx } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import type { Step } from '../../src/jobs/step.ts';

/** A table that workers may write to; an effect that happens twice has two rows. */
export async function makeEffects(client: pg.Client): Promise<void> {
  await client.query(`
    create table effects (
      tenant_id bigint not null, job_id bigint not null, item bigint not null, worker text
    );
    grant select, insert on effects to billwright_api, billwright_worker`);
}

export async function effectsOf(
  client: pg.Client,
  tenantId: number,
  jobId: number,
): Promise<number[]> {
  const { rows } = await client.query<{ item: string }>(
    'select item from effects where tenant_id = $1 and job_id = $2 order by item',
    [tenantId, jobId],
  );
  return rows.map((row) => Number(row.item));
}

async function leaveEffects(
  tx: Tx,
  key: { tenantId: number; jobId: number },
  range: { firstId: number; lastId: number },
): Promise<void> {
  await sql`
    insert into effects (tenant_id, job_id, item)
    select ${key.tenantId}, ${key.jobId}, item
    from generate_series(${range.firstId}::bigint, ${range.lastId}::bigint) item
  `.execute(tx);
}

/** Marks `parameters.items` items, in parts of `parameters.size`. */
export function markingStep(operation: string, changes: Partial<Step> = {}): Step {
  return {
    operation,
    check: async () => {},
    prepare: async (_tx, { parameters }) => {
      const { items, size } = parameters as { items: number; size: number };
      const chunks = [];
      for (let firstId = 1; firstId <= items; firstId += size) {
        chunks.push({ firstId, lastId: Math.min(items, firstId + size - 1) });
      }
      return { chunks, total: items };
    },
    work: async (tx, { tenant, jobId }, chunk) => {
      await leaveEffects(tx, { tenantId: tenant.tenantId, jobId }, chunk);
      return { done: chunk.lastId - chunk.firstId + 1 };
    },
    finish: async (_tx, _job, { done, total }) => ({ message: `${done} of ${total} marked` }),
    ...changes,
  };
}
