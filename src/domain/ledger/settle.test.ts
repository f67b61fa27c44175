import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ItemComponent, OpenItem } from './open-item.ts';
import { settle } from './settle.ts';

/** An open bill that is due on a day of June. */
function bill(billId: number, open: number, components?: ItemComponent[]): OpenItem {
  const day = `2026-06-${String(billId).padStart(2, '0')}`;
  return {
    ...{ billId, itemId: null, accountId: 2, partyId: 1, subscriptionId: 1, kind: 'Bill' },
    ...{ dueDate: day, issueDate: day, open, component: null },
    ...(components ? { components } : {}),
  };
}

function shares(items: OpenItem[], amount: number, method: Parameters<typeof settle>[2]['method']) {
  const laid = settle(items, amount, { method, subscriptionId: null });
  return items.map((item) => laid.find((one) => one.item === item)?.amount ?? 0);
}

test('Proportional without decimals gives the unit that is left over to the largest share', () => {
  // 500 of 1 + 1 + 1000: the floors are 0, 0 and 499
  assert.deepEqual(
    shares([bill(1, 1), bill(2, 1), bill(3, 1000)], 500, 'Proportional'),
    [0, 0, 500],
  );
});

const last = Number.POSITIVE_INFINITY;
const part = (priority: number, open: number, rank = 2, sequence = last): ItemComponent => {
  return { priority, rank, sequence, open };
};

test('Component Priority pays a component of all bills before the next component', () => {
  const bills = [1, 2, 3].map((id) => bill(id, 130, [part(1, 100), part(2, 30)]));
  // 3 * 100 of the first component, then 30 and 20 of the second
  assert.deepEqual(shares(bills, 350, 'Component Priority'), [130, 120, 100]);
  assert.deepEqual(
    bills.map((one) => one.open),
    [0, 10, 30],
  );
});

test('Component Priority pays equal priorities by surcharge, tax and sequence', () => {
  const charges = bill(1, 60, [part(last, 10, 1), part(last, 20, 2, 1), part(last, 30, 2, 2)]);
  const surcharge = { ...bill(1, 5, [part(last, 5, 0)]), itemId: 7, kind: 'Surcharge' as const };
  const second = bill(2, 40, [part(last, 40, 2, 1)]);
  // 5 surcharge, 10 tax, 20 + 25 of sequence 1
  const laid = shares([charges, surcharge, second], 60, 'Component Priority');
  assert.deepEqual(laid, [30, 5, 25]);
});

test('Component Priority continues where an earlier payment of the same call ended', () => {
  const bills = [1, 2].map((id) => bill(id, 130, [part(1, 100), part(2, 30)]));
  assert.deepEqual(shares(bills, 150, 'Component Priority'), [100, 50]);
  assert.deepEqual(shares(bills, 60, 'Component Priority'), [10, 50]);
});
