// What the components of bills are derived from, read for many bills at once.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { SettlementMethod } from '../ledger/settle.ts';
import type { StoredDocument } from './bill-forms.ts';
import type { PostedComponent, TermComponents } from './components.ts';

type TermRow = {
  term_id: number;
  context_id: number;
  end_date: string;
  method: SettlementMethod;
  newest_version: number;
};

type VersionRow = {
  context_id: number;
  version: number;
  effective_date: string | null;
  components: PostedComponent[] | null;
};

/**
 * By term, the components of its pricing context as its last run saw them: the versions of that
 * time, on the last day of the term. A component that was gone by then is as it was before.
 */
export async function findTermComponents(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, TermComponents>> {
  const terms = await listTerms(tx, tenantId, termIds);
  const versions = await listVersions(tx, tenantId, [
    ...new Set(terms.map((term) => term.context_id)),
  ]);
  return new Map(
    terms.map((term) => {
      const known = versions.filter(
        (row) =>
          row.context_id === term.context_id &&
          row.version <= term.newest_version &&
          (row.effective_date === null || row.effective_date <= term.end_date),
      );
      const all = known.flatMap((row) => row.components ?? []);
      const components = new Map(all.map((component) => [component.name, component]));
      return [term.term_id, { components, method: term.method }];
    }),
  );
}

async function listTerms(tx: Tx, tenantId: number, termIds: readonly number[]): Promise<TermRow[]> {
  const { rows } = await sql<TermRow>`
    select t.term_id, t.context_id, t.end_date::text as end_date, (
        select c.settlement_method from pricing_contexts c
        where c.tenant_id = ${tenantId} and c.context_id = t.context_id
      ) as method, (
        select (r.versions ->> 'context')::integer from bill_runs r
        where r.tenant_id = ${tenantId} and r.term_id = t.term_id and r.run_number = t.run_number
      ) as newest_version
    from terms t
    where t.tenant_id = ${tenantId} and t.term_id = any(${termIds}::bigint[])
  `.execute(tx);
  return rows;
}

async function listVersions(
  tx: Tx,
  tenantId: number,
  contextIds: readonly number[],
): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select context_id, version, effective_date::text as effective_date,
      definition -> 'components' as components
    from pricing_context_versions
    where tenant_id = ${tenantId} and context_id = any(${contextIds}::bigint[])
    order by context_id, version
  `.execute(tx);
  return rows;
}

/** A subscription on a bill, with what settled its part. Amounts are minor units. */
export type PartRow = {
  bill_id: number;
  subscription_id: number;
  amount: string;
  paid: string;
  credited: string;
  gone: string;
};

/** Of bills of several subscriptions. */
export async function listParts(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<PartRow[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<PartRow>`
    select bill_id, subscription_id, amount::text as amount, paid_amount::text as paid,
      credited::text as credited, (written_off + transferred + disputed)::text as gone
    from bill_parts
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by bill_id, subscription_id
  `.execute(tx);
  return rows;
}

/** What parts of a bill are made of. */
export type PartedBill = {
  bill_id: number;
  term_id: number;
  subscription_id: number | null;
  bill_amount: string;
  paid_amount: string;
  credited: string;
  gone: string;
  document: Pick<StoredDocument, 'lines' | 'sections'>;
};

export async function listPartedBills(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<PartedBill[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<PartedBill>`
    select b.bill_id, b.term_id, b.subscription_id, b.bill_amount::text as bill_amount,
      b.paid_amount::text as paid_amount, b.credited::text as credited,
      (b.written_off + b.transferred + b.disputed)::text as gone, k.document
    from bills b
    join bill_contents k on k.tenant_id = ${tenantId} and k.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
    order by b.bill_id
  `.execute(tx);
  return rows;
}
