// Bills that differ between two runs of a term. A bill is in `bills` from its first run on; each
// version it replaced is in `superseded_bills` with the runs it belonged to.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { FrozenBillInputs } from '../../rating/frozen-inputs.ts';
import type { StoredDocument } from '../bill-forms.ts';

export type RunPair = { termId: number; run: number; against: number };

export type Side = {
  billId: number;
  firstRun: number;
  status: string;
  currentCharges: number;
  document: StoredDocument;
  frozen: FrozenBillInputs;
};

export type DifferenceRow = { unit_id: number; before: Side | null; after: Side | null };

/**
 * The versions of bills that belong to a run. Versions that both runs share are left out where that
 * is known without reading them: those made before the earlier of the two runs.
 */
function versionsAt(tenantId: number, pair: RunPair, at: number, isMeant: Sql = sql`true`): Sql {
  const { termId, run, against } = pair;
  const earlier = Math.min(run, against);
  const columns = sql.raw('tenant_id, bill_id, unit_id, first_run, status, current_charges, hash');
  return sql`
    select ${columns}, null::json as document, null::json as frozen from bills
    where tenant_id = ${tenantId} and term_id = ${termId}
      and first_run <= ${at} and first_run > ${earlier} and ${isMeant}
    union all
    select ${columns}, document, frozen from superseded_bills
    where tenant_id = ${tenantId} and term_id = ${termId}
      and first_run <= ${at} and last_run >= ${at} and ${isMeant}
      and not (first_run <= ${earlier} and last_run >= ${Math.max(run, against)})`;
}

function sideOf(tenantId: number, side: 'a' | 'b'): Sql {
  const of = sql.raw(side);
  return sql`case when ${of}.bill_id is not null then json_build_object(
    'billId', ${of}.bill_id, 'firstRun', ${of}.first_run, 'status', ${of}.status,
    'currentCharges', ${of}.current_charges, 'document', ${contentOf(tenantId, side, 'document')},
    'frozen', ${contentOf(tenantId, side, 'frozen')}) end`;
}

/** A version that was replaced has its own; that of a bill is looked up for what is shown. */
function contentOf(tenantId: number, side: 'a' | 'b', column: 'document' | 'frozen'): Sql {
  const [of, content] = [sql.raw(side), sql.raw(column)];
  return sql`coalesce(${of}.${content}, (
    select k.${content} from bill_contents k
    where k.tenant_id = ${tenantId} and k.bill_id = ${of}.bill_id
  ))`;
}

/** What differs, without what the bills say: that is read of those that are shown. */
function differing(tenantId: number, pair: RunPair): Sql {
  return sql`
    select coalesce(a.tenant_id, b.tenant_id) as tenant_id,
      coalesce(a.unit_id, b.unit_id) as unit_id, b.bill_id as before_id,
      a.bill_id as after_id
    from (${versionsAt(tenantId, pair, pair.run)}) a
    full join (${versionsAt(tenantId, pair, pair.against)}) b on b.unit_id = a.unit_id
    where a.hash is distinct from b.hash`;
}

export type DifferingRow = {
  unit_id: number;
  before_id: number | null;
  after_id: number | null;
};

export async function listDiffering(
  tx: Tx,
  tenantId: number,
  pair: RunPair,
  window: { afterUnitId: number; offset: number; limit: number },
): Promise<DifferingRow[]> {
  const { rows } = await sql<DifferingRow>`
    select unit_id, before_id, after_id from (${differing(tenantId, pair)}) d
    where tenant_id = ${tenantId} and unit_id > ${window.afterUnitId}
    order by unit_id
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

/** Both versions of what differs, with all that they say. */
export async function listDifferences(
  tx: Tx,
  tenantId: number,
  pair: RunPair,
  differing: readonly DifferingRow[],
): Promise<DifferenceRow[]> {
  const ids = differing.flatMap(({ before_id, after_id }) => [before_id, after_id]);
  const isMeant = sql`bill_id = any(${ids}::bigint[])`;
  const { rows } = await sql<DifferenceRow>`
    select coalesce(a.unit_id, b.unit_id) as unit_id, ${sideOf(tenantId, 'b')} as before,
      ${sideOf(tenantId, 'a')} as after
    from (${versionsAt(tenantId, pair, pair.run, isMeant)}) a
    full join (${versionsAt(tenantId, pair, pair.against, isMeant)}) b
      on b.unit_id = a.unit_id
    where coalesce(a.tenant_id, b.tenant_id) = ${tenantId}
    order by 1
  `.execute(tx);
  return rows;
}

export async function countDifferences(tx: Tx, tenantId: number, pair: RunPair): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${differing(tenantId, pair)}) d
    where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
