// Lists of bills without what each is made of, and the payments that settled a bill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

test('a short list of bills has the same bills with empty arrays', async () => {
  const place = await openOwing(scene, 'short-bills');
  const subscription = await place.connectOld();
  const [made] = await place.bill({ [subscription]: 500 });
  const termID = made?.termID ?? 0;
  const [whole] = (await place.client.getBills({ termID })).data.bills;
  const short = await place.client.getBills({
    ...{ termID, short: true, page: { pageNumber: 0, size: 10 } },
  });
  const [bill] = short.data.bills;
  assert.ok((whole?.lines.length ?? 0) > 0);
  assert.deepEqual(Object.keys(bill ?? {}), Object.keys(whole ?? {}));
  for (const [name, value] of Object.entries(bill ?? {})) {
    const expected = whole?.[name as 'status'];
    assert.deepEqual(value, Array.isArray(expected) ? [] : expected, name);
  }
});

test('payments are listed by the bill that they settled', async () => {
  const place = await openOwing(scene, 'paid-bills');
  const subscription = await place.connectOld();
  const [first] = await place.bill({ [subscription]: 300 });
  const [second] = await place.bill({ [subscription]: 500 });
  const both = await place.pay({ amount: 400 });
  const one = await place.pay({ amount: 50 });
  const paidBy = async (billID: number | undefined) => {
    const { payments } = (await place.client.getPayments({ billID: billID ?? 0 })).data;
    return payments.map(({ paymentID }) => paymentID);
  };
  assert.deepEqual(await paidBy(first?.billID), [both]);
  assert.deepEqual(await paidBy(second?.billID), [one, both]);
  assert.deepEqual(await paidBy(999), []);
});
