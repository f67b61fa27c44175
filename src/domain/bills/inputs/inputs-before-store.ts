// What bills of the term before knew only in their own moment, out of the inputs frozen with them.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type {
  FrozenAccount,
  FrozenConnection,
  FrozenInputs,
  FrozenMeter,
} from '../../rating/frozen-inputs.ts';
import { frozenInputs } from '../../terms/frozen-inputs-store.ts';

export type InputsBefore = {
  subscription_id: number;
  account: FrozenAccount | null;
  is_first_bill: boolean;
  connection_inputs: FrozenConnection['connectionInputs'];
  quantities: FrozenConnection['unmeteredInputs'];
  meters: readonly FrozenMeter[] | null;
  carried_units: FrozenInputs['carriedUnits'];
  estimates_before: FrozenInputs['estimatesBefore'];
};

/** Of each subscription, those of its posted bill of a term, alone on it or with others. */
export async function listInputsBefore(
  tx: Tx,
  tenantId: number,
  before: readonly { subscriptionId: number; termId: number }[],
): Promise<InputsBefore[]> {
  if (before.length === 0) return [];
  const frozen = frozenInputs(tenantId, {
    subscriptionId: sql`w.subscription_id`,
    termId: sql`w.term_id`,
  });
  const { rows } = await sql<InputsBefore>`
    select w.subscription_id, f.frozen -> 'account' as account,
      coalesce((f.frozen -> 'connection' ->> 'isFirstBill')::boolean, false) as is_first_bill,
      f.frozen -> 'connection' -> 'connectionInputs' as connection_inputs,
      f.frozen -> 'connection' -> 'unmeteredInputs' as quantities,
      f.frozen -> 'meters' as meters, f.frozen -> 'carriedUnits' as carried_units,
      f.frozen -> 'estimatesBefore' as estimates_before
    from unnest(
      ${before.map((one) => one.subscriptionId)}::bigint[],
      ${before.map((one) => one.termId)}::bigint[]
    ) as w (subscription_id, term_id)
    cross join lateral ${frozen} f
    where f.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}
