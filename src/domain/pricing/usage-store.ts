// What subscriptions use of a pricing context.

import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';

/** Names by the array of the context that they are defined in. */
export type DefinedNames = {
  values: readonly string[];
  connectionInputs: readonly string[];
  meteredInputs: readonly string[];
  unmeteredInputs: readonly string[];
};

/** Of the names, those that a subscription which has not ended uses. */
export async function listUsedNames(
  tx: Tx,
  tenantId: number,
  contextId: number,
  names: DefinedNames,
): Promise<{ list: keyof DefinedNames; name: string }[]> {
  const columns = [
    ['connectionInputs', 'connection_inputs', names.connectionInputs],
    ['unmeteredInputs', 'quantities', names.unmeteredInputs],
    ['values', 'variants', names.values],
  ] as const;
  const parts = columns.map(
    ([list, column, wanted]) => sql`
      select ${sql.lit(list)} as list, w.name
      from unnest(${wanted}::text[]) as w (name)
      where exists (
        select from subscriptions s
        where s.tenant_id = ${tenantId} and s.context_id = ${contextId} and s.status <> 'Closed'
          and s.${sql.ref(column)} @> jsonb_build_array(jsonb_build_object('name', w.name))
      )`,
  );
  const { rows } = await sql<{ list: keyof DefinedNames; name: string }>`
    ${sql.join(parts, sql` union all `)}
    union all
    select 'meteredInputs', w.name
    from unnest(${names.meteredInputs}::text[]) as w (name)
    where exists (
      select from assignment_registers r
      join meter_assignments a on a.tenant_id = ${tenantId}
        and a.assignment_id = r.assignment_id and a.remove_date is null
      join subscriptions s
        on s.tenant_id = ${tenantId} and s.subscription_id = a.subscription_id
      where r.tenant_id = ${tenantId} and r.input = w.name and s.context_id = ${contextId}
    )
  `.execute(tx);
  return rows;
}

/** Fields that become unique are so from now on; two subscriptions with one value forbid it. */
export async function keepUnique(
  tx: Tx,
  tenantId: number,
  contextId: number,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await sql`
    insert into subscription_unique_inputs (tenant_id, context_id, name, value, subscription_id)
    select s.tenant_id, s.context_id, i ->> 'name', i ->> 'value', s.subscription_id
    from subscriptions s, jsonb_array_elements(s.connection_inputs) i
    where s.tenant_id = ${tenantId} and s.context_id = ${contextId} and s.status <> 'Closed'
      and i ->> 'name' = any(${names}::text[])
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        subscription_unique_inputs_pkey: () =>
          new AppError('IN_USE', {
            message: 'Several subscriptions have the same value of a field that is to be unique',
            field: 'service.connectionInputs',
          }),
      }),
    );
}

export async function forgetUnique(
  tx: Tx,
  tenantId: number,
  contextId: number,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await sql`
    delete from subscription_unique_inputs
    where tenant_id = ${tenantId} and context_id = ${contextId}
      and name = any(${names}::text[])
  `.execute(tx);
}
