import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';

export const periodUnits = ['Day', 'Week', 'Month', 'Year'] as const;

export type PeriodRow = {
  period_id: number;
  name: string;
  unit: string;
  unit_count: number;
  anchor_day: number | null;
  /** Decimal text without needless zeros. */
  months: string;
  description: string | null;
};

export async function listPeriods(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<PeriodRow[]> {
  const { rows } = await sql<PeriodRow>`
    select period_id, name, unit, unit_count, anchor_day, trim_scale(months)::text as months,
      description
    from billing_periods
    where tenant_id = ${tenantId} and period_id > ${options.afterId}
    order by period_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countPeriods(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from billing_periods where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Of the names, those that a period has already, in lower case. */
export async function findTakenPeriodNames(
  tx: Tx,
  tenantId: number,
  names: readonly string[],
): Promise<Set<string>> {
  const lower = names.map((name) => name.toLowerCase());
  const { rows } = await sql<{ name: string }>`
    select lower(name) as name from billing_periods
    where tenant_id = ${tenantId} and lower(name) = any(${lower}::text[])
  `.execute(tx);
  return new Set(rows.map((row) => row.name));
}

export async function insertPeriods(
  tx: Tx,
  tenantId: number,
  firstId: number,
  periods: readonly Omit<PeriodRow, 'period_id'>[],
): Promise<void> {
  const rows = periods.map((period, index) => ({ ...period, period_id: firstId + index }));
  await sql`
    insert into billing_periods (
      tenant_id, period_id, name, unit, unit_count, anchor_day, months, description
    )
    select own.tenant_id, r.period_id, r.name, r.unit, r.unit_count, r.anchor_day, r.months,
      r.description
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      period_id bigint, name text, unit text, unit_count integer, anchor_day smallint,
      months numeric, description text
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        billing_periods_name_key: () =>
          new AppError('DUPLICATE', {
            message: 'A billing period has this name already',
            field: 'periods',
          }),
      }),
    );
}
