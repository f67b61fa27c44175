// The parts of bills, one for each subscription, with the components that they are made of.

import type { Tx } from '../../base/db/pool.ts';
import type { ItemComponent, OpenItem } from '../ledger/open-item.ts';
import {
  type BilledPart,
  chargesOf,
  componentsOf,
  rankIn,
  type TermComponents,
} from './components.ts';
import {
  findTermComponents,
  listPartedBills,
  listParts,
  type PartedBill,
  type PartRow,
} from './components-store.ts';
import { listCredited } from './credit-notes-store.ts';

/** The parts of each bill, by the bill's id. The rows of the bills are already read. */
export async function findParts(
  tx: Tx,
  tenantId: number,
  bills: readonly PartedBill[],
): Promise<Map<number, BilledPart[]>> {
  const several = bills.filter((bill) => bill.subscription_id === null);
  const rows = await listParts(
    tx,
    tenantId,
    several.map((bill) => bill.bill_id),
  );
  const rowsOf = Map.groupBy(rows, (row) => row.bill_id);
  const credited = bills.filter((bill) => bill.credited !== '0');
  const lines = await listCredited(
    tx,
    tenantId,
    credited.map((bill) => bill.bill_id),
  );
  const linesOf = Map.groupBy(lines, (line) => `${line.bill_id} ${line.subscription_id}`);
  return new Map(
    bills.map((bill) => {
      const parts = partsOf(bill, rowsOf.get(bill.bill_id) ?? []);
      const withLines = parts.map((part) => {
        const own = linesOf.get(`${part.billId} ${part.subscriptionId}`) ?? [];
        const creditLines = own.map(({ component, amount }) => {
          return { component, amount: BigInt(amount) };
        });
        return { ...part, creditLines };
      });
      return [bill.bill_id, withLines];
    }),
  );
}

function partsOf(bill: PartedBill, rows: readonly PartRow[]): BilledPart[] {
  const { bill_id: billId, subscription_id: subscriptionId, document } = bill;
  const lines = document.lines ?? [];
  if (subscriptionId !== null) {
    const { bill_amount: amount, paid_amount: paid, credited, gone } = bill;
    const row = { bill_id: billId, subscription_id: subscriptionId, amount, paid, credited, gone };
    return [partOf(row, lines)];
  }
  return rows.map((row) => {
    const section = document.sections?.find((one) => one.connectionID === row.subscription_id);
    const own = lines.filter((line) => line.connectionNumber === section?.connectionNumber);
    return partOf(row, own);
  });
}

function partOf(row: PartRow, lines: Parameters<typeof chargesOf>[0]): BilledPart {
  return {
    billId: row.bill_id,
    subscriptionId: row.subscription_id,
    charges: chargesOf(lines),
    amount: BigInt(row.amount),
    paid: BigInt(row.paid),
    credited: BigInt(row.credited),
    creditLines: [],
    gone: BigInt(row.gone),
  };
}

/** Open items with what is open of their components, for settlement by priority. */
export async function withComponents(
  tx: Tx,
  tenantId: number,
  items: readonly OpenItem[],
): Promise<OpenItem[]> {
  const billIds = [...new Set(items.flatMap((item) => item.billId ?? []))];
  const bills = await listPartedBills(tx, tenantId, billIds);
  const parts = await findParts(tx, tenantId, bills);
  const terms = await findTermComponents(tx, tenantId, [
    ...new Set(bills.map((bill) => bill.term_id)),
  ]);
  const rulesOf = new Map(bills.map((bill) => [bill.bill_id, terms.get(bill.term_id)]));
  return items.map((item) => {
    const rules = rulesOf.get(item.billId ?? 0);
    if (!rules) return item;
    const part = parts
      .get(item.billId ?? 0)
      ?.find((one) => one.subscriptionId === item.subscriptionId);
    return { ...item, components: itemComponents(item, part, rules) };
  });
}

function itemComponents(
  item: OpenItem,
  part: BilledPart | undefined,
  rules: TermComponents,
): ItemComponent[] {
  if (item.kind === 'Bill') {
    const components = part ? componentsOf(part, rules) : [];
    return components.map(({ component, type, outstanding }) => {
      const { isTax, ...rank } = rankIn(rules.components, component, type);
      return { ...rank, rank: isTax ? 1 : 2, open: Number(outstanding) };
    });
  }
  const { isTax: _, ...rank } = rankIn(rules.components, item.component ?? '', '');
  return [{ ...rank, rank: item.kind === 'Surcharge' ? 0 : 2, open: item.open }];
}
