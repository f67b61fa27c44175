// Bills as rows, copied from others: for tests that want many of them, or some that no run makes.

import type { Scene } from './scene.ts';
import { columnsOf } from './tampering.ts';

/**
 * Copies the bills of `from` that are meant, with the columns of a JSON object changed. What the
 * database computes of the others is left to it, and what has a number is given it.
 */
export async function copyBills(
  scene: Scene,
  { changed, from }: { changed: string; from: string },
  values: readonly unknown[],
): Promise<void> {
  const columns = await columnsOf(scene, 'bills');
  await scene.sql.query(
    `with copied as (
       insert into bills (${columns})
       select ${columns}
       from (select (jsonb_populate_record(b, ${changed})).* from ${from}) copies
       returning tenant_id, bill_number, bill_id, term_id
     )
     insert into bill_numbers (tenant_id, bill_number, bill_id, term_id)
     select * from copied where bill_number is not null`,
    [...values],
  );
}
