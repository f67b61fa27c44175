// The bills of a print file with what they are rendered with, read batch by batch.
import type { Tx } from '../../base/db/pool.ts';
import { findCancellations } from '../bills/cancellations-store.ts';
import { listBillsByIds, listDocumentsOf } from './documents-store.ts';
import { settingsByVersion } from './freeze-setting.ts';
import type { PrintBatch, PrintedBill } from './print-inputs.ts';

const billsPerRead = 100;

export type Print = { termId: number; billIds: readonly number[] };

/** In the order of the ids, which decides the bytes of the file. */
export async function* printBatches(
  tx: Tx,
  tenantId: number,
  { termId, billIds }: Print,
  onMissing: (billId: number) => void,
): AsyncGenerator<PrintBatch> {
  for (let at = 0; at < billIds.length; at += billsPerRead) {
    const some = billIds.slice(at, at + billsPerRead);
    const bills = await listBillsByIds(tx, tenantId, some);
    const billOf = new Map(bills.map((bill) => [bill.bill_id, bill]));
    const cancelled = bills.filter((bill) => bill.status === 'Cancelled');
    const ids = cancelled.map((bill) => bill.bill_id);
    const cancellations = await findCancellations(tx, tenantId, ids);
    const documents = await listDocumentsOf(tx, tenantId, some);
    const versionOf = new Map(documents.map((one) => [one.bill_id, one.setting_version]));
    const versions = [...new Set(versionOf.values())];
    const settings = await settingsByVersion(tx, tenantId, termId, versions);
    const found = some.flatMap((billId): PrintedBill[] => {
      const version = versionOf.get(billId) ?? 0;
      const bill = billOf.get(billId);
      if (!bill || !settings.has(version)) {
        onMissing(billId);
        return [];
      }
      const cancellation = cancellations.get(billId);
      return [{ version, bill, ...(cancellation && { cancellation }) }];
    });
    yield { settings, bills: found };
  }
}
