// The document and the frozen inputs of bills, which lie beside them: as `k` beside bills `b`.
import { sql } from 'kysely';

export const withContents = sql.raw(
  'join bill_contents k on k.tenant_id = b.tenant_id and k.bill_id = b.bill_id',
);
