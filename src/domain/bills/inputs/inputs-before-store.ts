// What bills of the term before knew only in their own moment, out of the inputs frozen with them.
import { sql } from 'kysely';
import type { Tx } from '../../../base/db/pool.ts';
import type {
  AccountFacts,
  ConnectionFacts,
  Facts,
  MeterFacts,
} from '../../rating/frozen-inputs.ts';
import { frozenFacts } from '../../terms/frozen-inputs-store.ts';

export type FactsBefore = {
  subscription_id: number;
  account: AccountFacts | null;
  is_first_bill: boolean;
  connection_inputs: ConnectionFacts['connectionInputs'];
  quantities: ConnectionFacts['unmeteredInputs'];
  meters: readonly MeterFacts[] | null;
  carried_units: Facts['carriedUnits'];
  estimates_before: Facts['estimatesBefore'];
};

/** Of each subscription, those of its posted bill of a term, alone on it or with others. */
export async function listFactsBefore(
  tx: Tx,
  tenantId: number,
  before: readonly { subscriptionId: number; termId: number }[],
): Promise<FactsBefore[]> {
  if (before.length === 0) return [];
  const facts = frozenFacts(tenantId, {
    subscriptionId: sql`w.subscription_id`,
    termId: sql`w.term_id`,
  });
  const { rows } = await sql<FactsBefore>`
    select w.subscription_id, f.facts -> 'account' as account,
      coalesce((f.facts -> 'connection' ->> 'isFirstBill')::boolean, false) as is_first_bill,
      f.facts -> 'connection' -> 'connectionInputs' as connection_inputs,
      f.facts -> 'connection' -> 'unmeteredInputs' as quantities,
      f.facts -> 'meters' as meters, f.facts -> 'carriedUnits' as carried_units,
      f.facts -> 'estimatesBefore' as estimates_before
    from unnest(
      ${before.map((one) => one.subscriptionId)}::bigint[],
      ${before.map((one) => one.termId)}::bigint[]
    ) as w (subscription_id, term_id)
    cross join lateral ${facts} f
    where f.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}
