// Step 6: what a term bills, which errors are of one bill alone, and which bills are on hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrozenReading } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  rowsOf,
  type ShownBill,
  tariffCase,
} from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { elec, elecA, elecB, elecC, threeBills } from '../support/generated-term.ts';
import { assertIdentities, cents } from '../support/published-bill.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

test('a missing reading and one under review are errors of their bills alone', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  await addSubscription(run, termId, copyOf(elecC, 1, 100));
  const missing = copyOf(elecC, 2);
  const unread = (missing.meters ?? []).map(({ current: _current, ...meter }) => meter);
  await addSubscription(run, termId, { ...missing, meters: unread });
  const waiting = copyOf(elecC, 3);
  const review = (missing.meters ?? []).map((meter) => ({
    ...meter,
    number: meter.number + 500_000,
    current: { ...(meter.current as FrozenReading), status: 'Review' },
  }));
  await addSubscription(run, termId, { ...waiting, meters: review });
  await generate(run, termId);
  const bills = await billsOf(run, termId);
  assert.deepEqual(
    bills.map((bill) => [bill.status, bill.errors.map((error) => error.code)]),
    [
      ['Draft', []],
      ['Error', ['READING_MISSING']],
      ['Error', ['READING_UNDER_REVIEW']],
    ],
  );
  const { data } = await run.client.getBillTerm({ billTermID: termId });
  assert.deepEqual(
    data.exceptions.map(({ connectionNumber, code, billID }) => [connectionNumber, code, billID]),
    [
      [bills[1]?.connectionNumber, 'READING_MISSING', bills[1]?.billID],
      [bills[2]?.connectionNumber, 'READING_UNDER_REVIEW', bills[2]?.billID],
    ],
  );
  const { summary } = data;
  assert.deepEqual([summary.subscriptions, summary.bills, summary.errors], [3, 1, 2]);
});

test('get-bill-term shows the term, its sums and every bill; the sums are those of the bills', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  for (const scenario of [elecA, elecB, elecC]) await addSubscription(run, termId, scenario);
  await generate(run, termId);
  const bills = await billsOf(run, termId);
  const { data, headers } = await run.client.getBillTerm({ billTermID: termId, batchID: null });
  assert.deepEqual(data.bills, bills);
  assert.equal(headers.get('x-total-count'), '3');
  const page = { pageNumber: 1, size: 2 };
  const second = await run.client.getBillTerm({ billTermID: termId, page });
  assert.deepEqual(second.data, { ...data, bills: bills.slice(2) });
  assert.equal(second.headers.get('x-total-count'), '3');
  assert.equal(data.term.stage, 'Generated');
  const total = (pick: (bill: ShownBill) => number) =>
    bills.reduce((sum, bill) => sum + cents(pick(bill)), 0);
  assert.equal(
    cents(data.summary.currentCharges),
    total((bill) => bill.currentCharges),
  );
  assert.equal(
    cents(data.summary.taxAmount),
    total((bill) => bill.taxAmount),
  );
  assert.equal(
    cents(data.summary.arrears),
    total((bill) => bill.arrears),
  );
  assert.deepEqual(data.summary.usage, [{ input: 'energy', unit: 'kWh', quantity: '664' }]);
  const energy = data.summary.components.find((one) => one.component === 'energyCharge');
  // 9988.12 + 7381.35 + 0
  assert.equal(energy?.amount, 17_369.47);
  const batch = (await run.client.getBatches({ serviceCode: 'ELEC' })).data.batches[0];
  const same = await run.client.getBillTerm({ billTermID: termId, batchID: batch?.batchID ?? 0 });
  assert.equal(same.data.bills.length, 3);
  await refuses(run.client.getBillTerm({ billTermID: termId, batchID: 999 }), 'BATCH_NOT_FOUND');
  await refuses(run.client.getBillTerm({ billTermID: 999 }), 'TERM_NOT_FOUND');
});

test('get-bill-term needs none of the words that other operations need', async () => {
  const { run, termId } = await threeBills(scene, [1]);
  const response = await fetch(new URL('/billing/bills/get-bill-term', scene.baseUrl), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Workspace': run.client.workspace,
      Authorization: run.client.token ?? '',
    },
    body: JSON.stringify({ billTermID: termId, batchID: null }),
  });
  const answer = (await response.json()) as { success: boolean; data: { bills: unknown[] } };
  assert.ok(answer.success);
  assert.equal(answer.data.bills.length, 1);
});

test('a hold by an operator survives generation until it is released', async () => {
  const { run, termId } = await threeBills(scene);
  const [first] = await billsOf(run, termId);
  const billID = first?.billID ?? 0;
  const ts = first?.ts ?? 0;
  await run.client.holdBill({ data: { billID, hold: true, reason: 'check the meter', ts } });
  // A caller that has not seen the hold cannot release it.
  await refuses(run.client.holdBill({ data: { billID, hold: false, ts } }), 'STALE_OBJECT', {
    field: 'data.ts',
    statusCode: 409,
  });
  await rowsOf(run, 'update term_readings set value = value + 1 where tenant_id = $1');
  await generate(run, termId);
  const held = (await billsOf(run, termId))[0];
  assert.deepEqual([held?.status, held?.hold, held?.holdReason], ['Hold', 1, 'check the meter']);
  await run.client.holdBill({ data: { billID, hold: false } });
  const released = (await billsOf(run, termId))[0];
  assert.deepEqual([released?.status, released?.hold, released?.holdReason], ['Draft', 0, null]);
  await refuses(run.client.holdBill({ data: { billID: 999_999, hold: true } }), 'BILL_NOT_FOUND');
});

test('a hold rule is applied again by each run, and its hold can be released', async () => {
  const run = await openBillRun(scene, elec, {
    holdRules: [{ name: 'much', when: 'usage.energy > 300', reason: 'more than 300 units' }],
  } as never);
  const termId = await addTerm(run);
  await addSubscription(run, termId, copyOf(elecC, 1, 299));
  await addSubscription(run, termId, copyOf(elecC, 2, 301));
  await generate(run, termId);
  const statuses = async () => (await billsOf(run, termId)).map((bill) => bill.status);
  assert.deepEqual(await statuses(), ['Draft', 'Hold']);
  const held = (await billsOf(run, termId))[1];
  assert.equal(held?.holdReason, 'more than 300 units');
  await run.client.holdBill({ data: { billID: held?.billID ?? 0, hold: false } });
  assert.deepEqual(await statuses(), ['Draft', 'Draft']);
  // The same bill was looked at already; another one is judged.
  await generate(run, termId);
  assert.deepEqual(await statuses(), ['Draft', 'Draft']);
  await rowsOf(run, 'update term_readings set value = value + 2 where tenant_id = $1');
  await generate(run, termId);
  assert.deepEqual(await statuses(), ['Hold', 'Hold']);
});

test('days that no term billed are caught up on segments of their own, up to a year', async () => {
  const run = await openBillRun(scene, tariffCase('SOC'));
  const termId = await addTerm(run);
  const [soc] = tariffCase('SOC').scenarios;
  const missed = (index: number, billedThrough: string) => {
    const copy = copyOf(soc as never, index);
    return { ...copy, account: {}, connection: { ...copy.connection, billedThrough } };
  };
  await addSubscription(run, termId, missed(1, '21/05/2025'));
  await addSubscription(run, termId, missed(2, '01/04/2024'));
  await generate(run, termId);
  const [late, lost] = await billsOf(run, termId);
  assert.deepEqual(
    [late?.billedFrom, late?.billedTo, late?.days],
    ['22/05/2025', '30/06/2025', 40],
  );
  const parking = late?.lines.filter((line) => line.component === 'parking') ?? [];
  assert.deepEqual(
    parking.map((line) => [line.fromDate, line.toDate, line.days, line.amount]),
    // 2 slots x 300: ten days of thirty, then all thirty.
    [
      ['22/05/2025', '31/05/2025', 10, 200],
      ['01/06/2025', '30/06/2025', 30, 600],
    ],
  );
  assert.equal(lost?.errors[0]?.code, 'CATCH_UP_TOO_LONG');
});

test('bills of accounts and of parties have a section for each subscription', async () => {
  for (const postType of ['Post Account', 'Post Party'] as const) {
    const run = await openBillRun(scene, elec, { postType });
    const termId = await addTerm(run);
    for (const [index, scenario] of [elecA, elecB, elecC].entries()) {
      await addSubscription(run, termId, copyOf(scenario, index));
    }
    await generate(run, termId);
    const [bill, ...others] = await billsOf(run, termId);
    assert.ok(bill);
    assert.deepEqual(others, []);
    assertIdentities(bill);
    assert.equal(bill.connectionNumber, null);
    assert.equal(bill.connectionGroupLabel, postType === 'Post Account' ? 'House 12-B' : null);
    assert.deepEqual(
      bill.sections.map((section) => section.subtotal),
      [13_592, 9156.41, 165.27],
    );
    // 22913.68 + 1209.60 = 24123.28, rounded to the rupee.
    assert.deepEqual([bill.currentCharges, bill.arrears], [22_913.68, 1209.6]);
    assert.deepEqual([bill.roundingAdjustment, bill.payableWithinDueDate], [-0.28, 24_123]);
    assert.equal(bill.latePaymentSurcharge, 1359 + 916 + 17);
    assert.ok(bill.lines.every((line) => line.connectionNumber?.startsWith('E-00010')));
    const { lines } = (await run.client.explainBill({ billID: bill.billID })).data;
    assert.deepEqual(
      lines.map((line) => line.amount),
      [...bill.lines, ...bill.surcharges].map((line) => line.amount),
    );
  }
});

test('readings must have been posted where a term bills by meter, and nowhere else', async () => {
  const metered = await openBillRun(scene, elec);
  const unread = await addTerm(metered, { isRead: false });
  await addSubscription(metered, unread, copyOf(elecC, 1, 10));
  await refuses(generate(metered, unread), 'READINGS_NOT_POSTED', { statusCode: 409 });
  const flat = await openBillRun(scene, tariffCase('SOC'));
  const term = await addTerm(flat, { isRead: false });
  await addSubscription(flat, term, tariffCase('SOC').scenarios[0] as never);
  await generate(flat, term);
  assert.equal((await billsOf(flat, term)).length, 1);
  await refuses(generate(flat, 999), 'TERM_NOT_FOUND', { field: 'data.termID' });
});

test('get-bills finds a bill by every key, and customers find only what is published', async () => {
  const { run, termId } = await threeBills(scene);
  const bills = await billsOf(run, termId);
  const [, second] = bills;
  assert.ok(second);
  const { client } = run;
  const ids = async (body: Parameters<typeof client.getBills>[0]) =>
    (await client.getBills(body)).data.bills.map((bill) => bill.billID);
  assert.deepEqual(await ids({ billID: second.billID }), [second.billID]);
  assert.deepEqual(await ids({ billRefNo: second.billRefNo }), [second.billID]);
  assert.deepEqual(await ids({ billRefNo: `${second.billRefNo}0` }), []);
  assert.deepEqual(await ids({ connectionNumber: second.connectionNumber }), [second.billID]);
  assert.equal((await ids({ partyID: 1, status: 'Draft' })).length, 3);
  assert.equal((await ids({ status: 'Posted' })).length, 0);
  assert.equal((await ids({ fromDate: '01/07/2025', toDate: '31/07/2025' })).length, 3);
  assert.equal((await ids({ fromDate: '02/07/2025' })).length, 0);
  assert.deepEqual(await ids({ termID: termId, page: { pageNumber: 1, size: 2 } }), [
    bills[2]?.billID,
  ]);
  const customer = await scene.loginAs(client, ['Customer'], { partyNumber: 100001 });
  assert.deepEqual((await customer.getBills({})).data.bills, []);
  assert.deepEqual((await customer.getBills({ status: 'Draft' })).data.bills, []);
  await refuses(customer.explainBill({ billID: second.billID }), 'BILL_NOT_FOUND');
});
