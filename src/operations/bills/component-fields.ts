// The components of a bill on the wire: what is credited, paid and open of each.
import * as Type from 'typebox';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import { findParts } from '../../domain/bills/billed-parts.ts';
import { type BilledComponent, componentsOf } from '../../domain/bills/components.ts';
import { findTermComponents } from '../../domain/bills/components-store.ts';
import type { BillRow } from '../../domain/bills/list-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { money } from '../fields.ts';

export const componentView = Type.Object({
  component: Type.String(),
  amount: Type.Number({ description: 'as billed; below zero for a discount' }),
  creditedAmount: money,
  paidAmount: money,
  outstandingAmount: money,
});
type ComponentView = Type.Static<typeof componentView>;

/** By bill, in the order in which payments settle them; by a few statements for all bills. */
export async function presentComponents(
  tx: Tx,
  tenant: Tenant,
  rows: readonly BillRow[],
): Promise<Map<number, ComponentView[]>> {
  const { tenantId } = tenant;
  const [parts, terms] = await Promise.all([
    findParts(tx, tenantId, rows),
    findTermComponents(tx, tenantId, [...new Set(rows.map((row) => row.term_id))]),
  ]);
  return new Map(
    rows.map((row) => {
      const rules = terms.get(row.term_id);
      const ofParts = rules
        ? (parts.get(row.bill_id) ?? []).flatMap((part) => componentsOf(part, rules))
        : [];
      return [row.bill_id, summed(ofParts).map((one) => viewOf(one, row, tenant))];
    }),
  );
}

/** Of all subscriptions of the bill. */
function summed(components: readonly BilledComponent[]): BilledComponent[] {
  const sums = new Map<string, BilledComponent>();
  for (const one of components) {
    const before = sums.get(one.component);
    sums.set(one.component, {
      ...one,
      amount: (before?.amount ?? 0n) + one.amount,
      credited: (before?.credited ?? 0n) + one.credited,
      paid: (before?.paid ?? 0n) + one.paid,
      outstanding: (before?.outstanding ?? 0n) + one.outstanding,
    });
  }
  return [...sums.values()];
}

function viewOf(
  one: BilledComponent,
  { status }: BillRow,
  { currencyDecimals }: Tenant,
): ComponentView {
  const major = (minor: bigint) => majorUnits(minor, currencyDecimals);
  const isOwed = status === 'Posted' || status === 'Published';
  return {
    component: one.component,
    amount: major(one.amount),
    creditedAmount: major(one.credited),
    paidAmount: major(one.paid),
    outstandingAmount: isOwed ? major(one.outstanding) : 0,
  };
}
