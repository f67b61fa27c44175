// Thousands of metered subscriptions as rows, for tests of jobs that are cut into parts.
import { insertSubscriptions } from './plain-subscription.ts';
import type { Scene } from './scene.ts';

const stamp = `now(), 'test', now(), 'test'`;

/**
 * Subscriptions of the first context and plan, each with a meter since 01/01/2026 that shows its
 * own number, and a reading of 31/01/2026 that is a hundred more. Every tenth was not read.
 */
export async function insertMetered(scene: Scene, tenantId: number, count: number): Promise<void> {
  const made = await insertSubscriptions(scene, tenantId, count);
  const [first, last] = [made[0]?.subscriptionId, made.at(-1)?.subscriptionId];
  const rows = [
    `update subscriptions set is_metered = true
     where tenant_id = $1 and subscription_id between $2 and $3`,
    `insert into meters (tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf,
       status, search_text, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, 500000 + n, 'Itron', 1, '2020-01-01', 1, 'Active', '', ${stamp}, 1
     from generate_series($2::bigint, $3::bigint) n`,
    `insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id,
       install_date, mf, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, n, n, '2026-01-01', 1, ${stamp}, 1
     from generate_series($2::bigint, $3::bigint) n`,
    `insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
     select $1, n, 1, n, 'energy' from generate_series($2::bigint, $3::bigint) n`,
    `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
       reading_type, status, created_at, created_by, modified_at, modified_by)
     select $1, n * 2 - 1, n, 1, '2026-01-01', n, 'Installation', 'Accepted', ${stamp}
     from generate_series($2::bigint, $3::bigint) n`,
    `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
       reading_type, status, created_at, created_by, modified_at, modified_by)
     select $1, n * 2, n, 1, '2026-01-31', n + 100, 'Actual', 'Accepted', ${stamp}
     from generate_series($2::bigint, $3::bigint) n where n % 10 <> 0`,
  ];
  for (const text of rows) await scene.sql.query(text, [tenantId, first, last]);
  await scene.sql.query(
    `insert into counters (tenant_id, series, last_number) values ($1, 'reading', $2)
     on conflict (tenant_id, series) do update set last_number = excluded.last_number`,
    [tenantId, (last ?? 0) * 2],
  );
}

/** What a term has locked, as one text: two runs that came to the same have the same. */
export async function hashLocked(
  scene: Scene,
  tenantId: number,
  termId: number,
): Promise<{ count: number; hash: string }> {
  const { rows } = await scene.sql.query<{ count: number; hash: string }>(
    `select count(*)::integer as count, md5(string_agg(concat_ws(' ', subscription_id,
       assignment_id, position, previous_date, previous_value, reading_id, reading_date, value,
       reading_type, estimates, is_stand_in), ',' order by subscription_id)) as hash
     from term_readings where tenant_id = $1 and term_id = $2`,
    [tenantId, termId],
  );
  return rows[0] ?? { count: 0, hash: '' };
}
