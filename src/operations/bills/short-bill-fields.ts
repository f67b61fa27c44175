// Bills in lists that a person scrolls through.
import type { Tx } from '../../base/db/pool.ts';
import { presentBill } from '../../domain/bills/bill-forms.ts';
import { findCancellations, findReplacedNumbers } from '../../domain/bills/cancellations-store.ts';
import type { BillRow } from '../../domain/bills/list-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { type BillView, paymentOf, recordOf, surroundingsOf } from './bill-fields.ts';

/** The same bills with empty arrays: what would be in them is not read. */
export async function presentShortBills(
  tx: Tx,
  tenant: Tenant,
  rows: readonly BillRow[],
): Promise<BillView[]> {
  const { tenantId } = tenant;
  const cancelled = rows.filter((row) => row.status === 'Cancelled').map((row) => row.bill_id);
  const terms = [...new Set(rows.map((row) => row.term_id))];
  const [replaced, cancellations] = await Promise.all([
    findReplacedNumbers(tx, tenantId, terms),
    findCancellations(tx, tenantId, cancelled),
  ]);
  return rows.map((whole) => {
    const row = { ...whole, document: withoutArrays(whole.document) };
    const around = surroundingsOf(row, tenant, replaced, []);
    return {
      ...presentBill(row, around, paymentOf(row), cancellations.get(row.bill_id)),
      components: [],
      ...recordOf(row, tenant, [], []),
    };
  });
}

function withoutArrays(document: BillRow['document']): BillRow['document'] {
  const kept = Object.entries(document).filter(([, value]) => !Array.isArray(value));
  return Object.fromEntries(kept) as BillRow['document'];
}
