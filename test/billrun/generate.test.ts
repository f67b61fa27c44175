// Step 6 and the review: drafts from frozen inputs, the same ones however often, and why they
// differ when they do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tariffCases } from '../rating/tariff-cases.ts';
import {
  addSubscription,
  addTerm,
  type BillRun,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  type ShownBill,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { elec, elecC, threeBills } from '../support/generated-term.ts';
import { assertIdentities, assertPublished, cents } from '../support/published-bill.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

for (const one of tariffCases) {
  test(`${one.id}: a run gives the published bills, and every line is explained`, async () => {
    const run = await openBillRun(scene, one);
    const termId = await addTerm(run);
    for (const scenario of one.scenarios) await addSubscription(run, termId, scenario);
    await generate(run, termId);
    const bills = await billsOf(run, termId);
    assert.equal(bills.length, one.scenarios.length);
    for (const [index, scenario] of one.scenarios.entries()) {
      const bill = bills[index] ?? assert.fail();
      assert.equal(bill.connectionNumber, scenario.connection?.connectionNumber);
      assertPublished(bill, scenario.expected);
      assertIdentities(bill);
      const { lines } = (await run.client.explainBill({ billID: bill.billID })).data;
      const billed = [...bill.lines, ...bill.surcharges];
      assert.deepEqual(
        lines.map((line) => [line.lineNo, line.component, line.amount]),
        billed.map((line) => [line.lineNo, line.component, line.amount]),
      );
    }
  });
}

const hashes = (run: BillRun, termId: number) =>
  rowsOf<{ bill_id: string; hash: Buffer; first_run: number }>(
    run,
    'select bill_id, hash, first_run from bills where tenant_id = $1 and term_id = $2 order by 1',
    [termId],
  );

test('generating twice gives the same bills, byte for byte, and writes none of them again', async () => {
  const { run, termId } = await threeBills(scene);
  const before = await hashes(run, termId);
  const shown = await billsOf(run, termId);
  await generate(run, termId);
  assert.deepEqual(await hashes(run, termId), before);
  assert.deepEqual(await billsOf(run, termId), shown);
  const [term] = await rowsOf<{ run_number: number }>(
    run,
    'select run_number from terms where tenant_id = $1 and term_id = $2',
    [termId],
  );
  assert.equal(term?.run_number, 2);
  const { data } = await run.client.compareRuns({ termID: termId });
  assert.deepEqual(data.differences, []);
  assert.deepEqual([data.run.runID, data.against.runID], [2, 1]);
  assert.equal(data.run.currentCharges, data.against.currentCharges);
});

test('one changed reading changes one bill, and the comparison names it', async () => {
  const { run, termId } = await threeBills(scene);
  const [, second] = await billsOf(run, termId);
  assert.ok(second);
  await rowsOf(
    run,
    `update term_readings set value = value + 10
     where tenant_id = $1 and term_id = $2 and subscription_id = $3`,
    [termId, second.connectionID],
  );
  await generate(run, termId);
  const { data } = await run.client.compareRuns({ termID: termId });
  assert.equal(data.differences.length, 1);
  const [difference] = data.differences;
  assert.equal(difference?.connectionNumber, second.connectionNumber);
  assert.equal(difference?.billID, second.billID);
  assert.equal(difference?.before, second.currentCharges);
  const meter = second.meterReadings[0];
  const now = Number(meter?.currentReading) + 10;
  assert.deepEqual(difference?.causes, [
    {
      kind: 'Reading',
      name: `${meter?.meterNumber} kWh`,
      before: `${meter?.currentReading} on 31/07/2025`,
      after: `${now} on 31/07/2025`,
    },
  ]);
  assert.ok(difference?.lines.some((line) => line.component === 'energyCharge'));
  // Lines add up to the charges; the surcharge for late payment is separate.
  const changed = difference.lines.reduce(
    (sum, line) => sum + cents(line.after ?? 0) - cents(line.before ?? 0),
    0,
  );
  assert.equal(changed, cents(difference.after ?? 0) - cents(difference.before ?? 0));
  assert.deepEqual(
    difference.surcharges.map((line) => [line.component, line.before]),
    second.surcharges.map((line) => [line.component, line.amount]),
  );
  const again = (await billsOf(run, termId))[1];
  assert.equal(difference?.after, again?.currentCharges);
  // 250 -> 260 units, all in the third slab at 27.14.
  const energy = (bill?: ShownBill) =>
    cents(bill?.lines.find((line) => line.component === 'energyCharge')?.amount ?? 0);
  assert.equal(energy(again) - energy(second), 27_140);
});

test('compare-runs names a changed price as the cause, and explain-bill uses the prices of the bill', async () => {
  const { run, termId } = await threeBills(scene);
  const [first] = await billsOf(run, termId);
  const tariff = elec.tariffs.find((plan) => plan.code === 'RES-A1');
  const rent = { name: 'meterRentAmount', fromDate: '01/07/2024', toDate: null, formula: '30' };
  await run.client.updateTariff({
    tariff: {
      ...(tariff as object),
      valueFormulas: [...(tariff?.valueFormulas ?? []), { ...rent, rows: null }],
      effectiveDate: '01/06/2025',
    } as never,
  });
  const before = (await run.client.explainBill({ billID: first?.billID ?? 0 })).data.lines;
  assert.equal(before.find((line) => line.component === 'meterRent')?.amount, 25);
  await generate(run, termId);
  const { data } = await run.client.compareRuns({ termID: termId });
  assert.equal(data.differences.length, 3);
  for (const difference of data.differences) {
    const causes = difference.causes.map(({ kind, name, after }) => [kind, name, after]);
    assert.deepEqual(causes, [['Value', 'RES-A1 meterRentAmount 01/07/2024', '30']]);
  }
  const after = (await run.client.explainBill({ billID: first?.billID ?? 0 })).data.lines;
  assert.equal(after.find((line) => line.component === 'meterRent')?.amount, 30);
});

test('explain-bill says so when the bill has no such line', async () => {
  const { run, termId } = await threeBills(scene);
  const [bill] = await billsOf(run, termId);
  const { billID = 0, lines = [], surcharges = [] } = bill ?? {};
  const count = lines.length + surcharges.length;
  const last = await run.client.explainBill({ billID, lineNo: count });
  assert.deepEqual(
    last.data.lines.map((line) => line.component),
    surcharges.map((line) => line.component),
  );
  const refusal = await refuses(
    run.client.explainBill({ billID, lineNo: count + 1 }),
    'LINE_NOT_FOUND',
    { statusCode: 404 },
  );
  assert.equal(refusal.error.field, 'lineNo');
  await rowsOf(run, 'delete from term_readings where tenant_id = $1');
  await generate(run, termId);
  assert.deepEqual((await run.client.explainBill({ billID })).data.lines, []);
  await refuses(run.client.explainBill({ billID, lineNo: 1 }), 'LINE_NOT_FOUND');
});

test('generating one bill leaves the others alone', async () => {
  const { run, termId } = await threeBills(scene);
  const bills = await billsOf(run, termId);
  await rowsOf(run, 'update term_readings set value = value + 1 where tenant_id = $1', []);
  await generate(run, termId, bills[1]?.billID);
  const after = await billsOf(run, termId);
  assert.deepEqual(after[0], bills[0]);
  assert.deepEqual(after[2], bills[2]);
  assert.notEqual(after[1]?.currentCharges, bills[1]?.currentCharges);
  const { data } = await run.client.compareRuns({ termID: termId });
  assert.deepEqual(
    data.differences.map((one) => one.billID),
    [bills[1]?.billID],
  );
  const charges = after.reduce((sum, bill) => sum + cents(bill.currentCharges), 0);
  assert.equal(cents(data.run.currentCharges), charges);
  await refuses(generate(run, termId, 999_999), 'BILL_NOT_FOUND');
});

/** Makes one bill anew while a row cannot be written, which fails for good. */
async function failOne(run: BillRun, termId: number, place: string, when: string): Promise<void> {
  const [, second] = await billsOf(run, termId);
  const move = (by: number) =>
    rowsOf(run, 'update term_readings set value = value + $2 where tenant_id = $1', [by]);
  await move(1);
  await scene.sql.query(`
    create or replace function refuse_row() returns trigger language plpgsql as
      $$ begin raise exception 'a row that cannot be written'; end $$;
    create trigger refusing before insert or update on ${place} for each row
      when (new.tenant_id = ${run.tenantId} and ${when}) execute function refuse_row()`);
  try {
    await assert.rejects(generate(run, termId, second?.billID), /generate-bills failed/);
  } finally {
    await scene.sql.query(`drop trigger refusing on ${place}`);
    await move(-1);
  }
}

async function stageOf(run: BillRun, termID: number) {
  const { stage, stale } = (await run.client.getTerms({ termID })).data.terms[0] ?? {};
  return [stage, stale];
}

test('one bill that cannot be generated again leaves the term Generated, ready to be posted', async () => {
  const { run, termId } = await threeBills(scene);
  const before = (await run.client.getBillTerm({ billTermID: termId })).data;
  await failOne(run, termId, 'bills', 'true');
  assert.deepEqual(await stageOf(run, termId), ['Generated', false]);
  const after = (await run.client.getBillTerm({ billTermID: termId })).data;
  assert.deepEqual([after.bills, after.summary], [before.bills, before.summary]);
  await assertChecks(scene, run.tenantId);
  await post(run, termId);
  assert.equal((await stageOf(run, termId))[0], 'Posted');
  await assertChecks(scene, run.tenantId);
});

test('one bill that was made, but not added up, leaves the term generated and stale', async () => {
  const { run, termId } = await threeBills(scene);
  await failOne(run, termId, 'bill_runs', 'new.finished_at is not null');
  assert.deepEqual(await stageOf(run, termId), ['Generated', true]);
  await refuses(post(run, termId), 'TERM_STALE_GENERATE_AGAIN');
  await generate(run, termId);
  await post(run, termId);
  await assertChecks(scene, run.tenantId);
});

test('totals after generating one bill are those of a run of the whole term', async () => {
  const { run, termId } = await threeBills(scene);
  const [, second] = await billsOf(run, termId);
  const totalsOf = async () => {
    const [row] = await rowsOf<{ totals: { components: object; usage: object } }>(
      run,
      `select totals from bill_runs where tenant_id = $1 and term_id = $2
       order by run_number desc limit 1`,
      [termId],
    );
    return row?.totals;
  };
  const first = await totalsOf();
  assert.ok(Object.keys(first?.components ?? {}).length > 4);
  assert.deepEqual(Object.keys(first?.usage ?? {}), ['energy']);
  await generate(run, termId, second?.billID);
  assert.deepEqual(await totalsOf(), first, 'nothing changed');
  await rowsOf(
    run,
    `update term_readings set value = value + 250
     where tenant_id = $1 and term_id = $2 and subscription_id = $3`,
    [termId, second?.connectionID],
  );
  await generate(run, termId, second?.billID);
  const withOne = await totalsOf();
  assert.notDeepEqual(withOne, first);
  await generate(run, termId);
  assert.deepEqual(withOne, await totalsOf());
});

test('a subscription that leaves the term leaves its draft, one that joins gets one', async () => {
  const { run, termId } = await threeBills(scene);
  const bills = await billsOf(run, termId);
  await rowsOf(
    run,
    `update subscriptions set billed_through = '2025-07-31', ts = ts + 1
     where tenant_id = $1 and subscription_id = $2`,
    [bills[0]?.connectionID],
  );
  const joined = await addSubscription(run, termId, copyOf(elecC, 9, 77));
  await generate(run, termId);
  const after = await billsOf(run, termId);
  assert.deepEqual(
    after.map((bill) => bill.connectionID),
    [bills[1]?.connectionID, bills[2]?.connectionID, joined],
  );
  const { data } = await run.client.compareRuns({ termID: termId });
  assert.deepEqual(
    data.differences.map((one) => [one.causes[0]?.kind, one.before === null, one.after === null]),
    [
      ['Subscription', false, true],
      ['Subscription', true, false],
    ],
  );
});
