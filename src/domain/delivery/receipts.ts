// Receipts of payments as documents. Each shows the payment as it was made, whatever was settled
// anew or reversed since.
import { dateIn, formatDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import type { Paper } from '../documents/paper.ts';
import { listAllocations } from '../receivables/payments-store.ts';
import { findSettings } from '../tenants/store.ts';
import { paperSetting } from './paper-setting.ts';
import { findReceipts, type ReceiptRow } from './receipts-store.ts';

export type ReceiptSource = { paper: Paper; row: ReceiptRow };

/** By payment. Those that do not exist, or that the party did not make, are left out. */
export async function receiptSources(
  tx: Tx,
  tenantId: number,
  paymentIds: readonly number[],
  ownPartyId: number | null = null,
): Promise<Map<number, ReceiptSource>> {
  const rows = await findReceipts(tx, tenantId, paymentIds, ownPartyId);
  if (rows.length === 0) return new Map();
  const settings = await findSettings(tx, tenantId);
  const ids = rows.map((row) => row.payment_id);
  const lines = Map.groupBy(
    await listAllocations(tx, tenantId, ids, 'made'),
    (one) => one.payment_id,
  );
  const setting = paperSetting(settings);
  const major = (minor: string | bigint) => majorUnits(BigInt(minor), setting.currencyDecimals);
  return new Map(
    rows.map((row) => {
      const own = lines.get(row.payment_id) ?? [];
      const settledAmount = own.reduce((sum, one) => sum + BigInt(one.amount), 0n);
      const receipt = {
        paymentID: row.payment_id,
        reference: row.reference,
        receiptNumber: row.receipt_number,
        cashDesk: row.cash_desk,
        paidOn: wireDay(row.value_date),
        issuedOn: formatDate(dateIn(row.created_at, settings.timezone)),
        method: row.payment_method,
        chequeNumber: row.cheque_number,
        amount: major(row.amount),
        settled: own.map((one) => ({
          kind: one.kind,
          billNumber: one.bill_number,
          amount: major(one.amount),
          surcharge: major(one.surcharge),
        })),
        settledAmount: major(settledAmount),
        walletAmount: major(row.wallet_amount),
        recoveredAmount: major(row.recovered_amount),
        remark: row.remark,
      };
      const party = {
        name: row.party_name,
        number: row.party_number,
        address: row.address,
        connectionNumber: row.subscription_number,
      };
      return [row.payment_id, { paper: { setting, party, receipt }, row }];
    }),
  );
}
