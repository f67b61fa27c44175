// The first few plans that match what was typed into a search. A workspace has few plans.

import { containsPattern } from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type FoundPlan = { plan_id: number; code: string; name: string; context_code: string };

export async function findPlans(
  tx: Tx,
  tenantId: number,
  typed: string,
  limit: number,
): Promise<FoundPlan[]> {
  const pattern = containsPattern(typed.toLowerCase());
  const { rows } = await sql<FoundPlan>`
    select p.plan_id, p.code, p.name, c.code as context_code
    from plans p
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = p.context_id
    where p.tenant_id = ${tenantId} and not p.archived
      and (lower(p.code) like ${pattern} or lower(p.name) like ${pattern}
        or lower(p.unique_label) like ${pattern})
    order by p.code, p.plan_id
    limit ${limit}
  `.execute(tx);
  return rows;
}
