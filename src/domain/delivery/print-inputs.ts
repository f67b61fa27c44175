// The bills of a print file as they are rendered, whether it is written or asked for again.
import { setImmediate as turn } from 'node:timers/promises';
import type { Tx } from '../../base/db/pool.ts';
import { findCancellations } from '../bills/replaced-store.ts';
import type { BillDocumentInput } from '../documents/bill-document.ts';
import { billInput, letterheadOf } from './bill-input.ts';
import { listBillsByIds, listDocumentsOf } from './documents-store.ts';
import { settingsByVersion } from './freeze-setting.ts';

const billsPerRead = 100;

/**
 * In the order of the ids, which decides the bytes of the file. Between two bills the process
 * attends to other things: rendering would keep it for seconds.
 */
export async function* printInputs(
  tx: Tx,
  tenantId: number,
  print: { termId: number; billIds: readonly number[] },
  onMissing: (billId: number) => void,
): AsyncGenerator<BillDocumentInput> {
  const { termId, billIds } = print;
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
    const letterheads = new Map(
      [...settings].map(([version, one]) => [version, letterheadOf(one)]),
    );
    for (const billId of some) {
      const version = versionOf.get(billId) ?? 0;
      const bill = billOf.get(billId);
      const setting = settings.get(version);
      const letterhead = letterheads.get(version);
      if (!bill || !setting || !letterhead) onMissing(billId);
      else yield billInput(setting, letterhead, bill, cancellations.get(billId));
      await turn();
    }
  }
}
