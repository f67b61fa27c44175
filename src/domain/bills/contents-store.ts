// The document and the frozen inputs of bills, which lie beside them: as `k` beside bills `b`.
import { sql } from '../../base/db/sql.ts';

/**
 * Looked up for each bill by its key. Joined, they would be read from the first to the last of all
 * bills where PostgreSQL does not know yet how many there are.
 */
export const withContents = sql.raw(`cross join lateral (
    select c.document, c.frozen from bill_contents c
    where c.tenant_id = b.tenant_id and c.bill_id = b.bill_id
    limit 1
  ) k`);
