// Bills that were left out: values entered and use uploaded for them are on the next bill, once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  copyOf,
  generate,
  openBillRun,
  post,
  type Running,
  tariffCase,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { newTariff, smallService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import {
  assertBothMonths,
  billOf,
  daysOf,
  february,
  january,
  linesOf,
  march,
  openHome,
  skipBill,
} from '../support/skipped-bills.ts';
import { subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

test('a value entered for a bill that was held is on the next one, added to its own', async () => {
  const one = tariffCase('SOC');
  const [facts] = one.scenarios as unknown as [FrozenInputs];
  const run = await openBillRun(scene, one);
  const june = await addTerm(run);
  await addSubscription(run, june, { ...copyOf(facts, 1), account: {} });
  await skipBill(run, june);
  const { connectionNumber } = await billOf(run, june);
  const july = await addTerm(run, {
    label: 'Jul',
    startDate: '01/07/2025',
    endDate: '31/07/2025',
    dueDate: '15/08/2025',
  });
  const booked = async () => {
    await generate(run, july);
    const bill = await billOf(run, july);
    assert.deepEqual(daysOf(bill), ['Draft', '01/06/2025', '31/07/2025']);
    return bill.lines.find((line) => line.component === 'hallBooking')?.amount;
  };
  assert.equal(await booked(), 2500);
  const compsData = [[connectionNumber, 'hallBooking', '400.50']];
  await run.client.postManualComponentValues({
    operation: 'schedule',
    data: { data: JSON.stringify({ termID: july, compsData }) },
  });
  assert.equal(await booked(), 2500 + 400.5);
  await post(run, july);
  const august = await addTerm(run, {
    label: 'Aug',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await generate(run, august);
  const { lines } = await billOf(run, august);
  assert.ok(!lines.some((line) => line.component === 'hallBooking'));
});

test('a value entered for a bill that was held leaves the next term what it computes', async () => {
  const one = tariffCase('SOC');
  const run = await openBillRun(scene, one);
  const [client, serviceCode] = [run.client, 'FEES'];
  const number = await feePayer(run, serviceCode);
  const enter = (termID: number, value: string) => {
    const data = JSON.stringify({ termID, compsData: [[number, 'fee', value]] });
    return client.postManualComponentValues({ operation: 'schedule', data: { data } });
  };
  const jan = await newTerm(client, { serviceCode, ...january });
  await enter(jan, '100');
  await skipBill(run, jan);
  const feb = await newTerm(client, { serviceCode, ...february });
  await generate(run, feb);
  const bill = await billOf(run, feb);
  assert.deepEqual(
    bill.lines.map((line) => [line.component, line.fromDate, line.toDate, line.amount]),
    [
      ['fee', '01/02/2026', '28/02/2026', 10 * 28],
      ['fee', '01/01/2026', '31/01/2026', 100],
      ['gst', '01/01/2026', '28/02/2026', (100 + 280) / 10],
    ],
  );
  const { data } = await client.explainBill({ billID: bill.billID });
  assert.deepEqual(
    data.lines.map((line) => line.amount),
    bill.lines.map((line) => line.amount),
  );
  await enter(feb, '20');
  await generate(run, feb);
  assert.deepEqual(linesOf(await billOf(run, feb)), [
    ['fee', '01/01/2026', 100 + 20],
    ['gst', '01/01/2026', 12],
  ]);
});

test('a manual value of a held bill is charged for its days under a Term rule', async () => {
  const serviceCode = 'FEES';
  /** February's bill, with what was entered for January's, which was held. */
  const billAfter = async (values: Record<string, string>) => {
    const run = await openBillRun(scene, tariffCase('SOC'));
    const { client } = run;
    const number = await feePayer(run, serviceCode, 'Term');
    const jan = await newTerm(client, { serviceCode, ...january });
    const compsData = Object.entries(values).map((value) => [number, ...value]);
    await client.postManualComponentValues({
      operation: 'schedule',
      data: { data: JSON.stringify({ termID: jan, compsData }) },
    });
    await skipBill(run, jan);
    const feb = await newTerm(client, { serviceCode, ...february });
    await generate(run, feb);
    const { billID, lines } = await billOf(run, feb);
    const { data } = await client.explainBill({ billID });
    assert.deepEqual(
      data.lines.map((line) => line.amount),
      lines.map((line) => line.amount),
    );
    return lines.map((line) => [line.component, line.fromDate, line.toDate, line.amount]);
  };
  const fees = [
    ['fee', '01/02/2026', '28/02/2026', 10 * 28],
    ['fee', '01/01/2026', '31/01/2026', 100],
  ];
  assert.deepEqual(await billAfter({ fee: '100' }), [
    ...fees,
    ['gst', '01/01/2026', '28/02/2026', (100 + 280) / 10],
  ]);
  // Also a tax: of the days before, what was given; of its own, what it comes to.
  assert.deepEqual(await billAfter({ fee: '100', gst: '5' }), [
    ...fees,
    ['gst', '01/02/2026', '28/02/2026', 28],
    ['gst', '01/01/2026', '31/01/2026', 5],
  ]);
});

/** A subscription that pays 10 a day and a tenth of it as tax, billed up to the end of 2025. */
async function feePayer(
  { client }: Running,
  code: string,
  scope: 'Segment' | 'Term' = 'Segment',
): Promise<string> {
  await client.createService({
    service: {
      ...smallService,
      code,
      meteredInputs: [],
      holdRules: [],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional', categories: ['taxable'] },
        { name: 'gst', label: 'GST', type: 'Tax', manual: 'Optional' },
      ],
    },
  });
  const componentRules = [
    { component: 'fee', scope, formula: '10 * segment.days' },
    { component: 'gst', scope: 'Term' as const, formula: 'SUMCAT("taxable") * 10%' },
  ];
  const plan = await newTariff(client, code, { componentRules });
  const users = [{ partyNumber: 100001 }];
  const sent = { serviceCode: code, tariffCode: plan.code, postType: smallService.postType, users };
  const days = { connectionDate: '01012026', billedThrough: '31122025' };
  return subscribe(client, { ...sent, ...days }, { batchUpload: true });
}

test('a value entered for a term that is still open is billed by the one posted first', async () => {
  const { run, read, set } = await openHome(scene, {
    components: [
      { name: 'energyCharge', label: 'Energy', type: 'Charge', categories: ['taxable'] },
      { name: 'gst', label: 'GST', type: 'Tax' },
      { name: 'visit', label: 'Visit', type: 'Charge', manual: 'Optional' },
    ],
  });
  const jan = await read(january, ['100', '31/01/2026']);
  const feb = await read(february, ['220', '28/02/2026']);
  const visit = async () => {
    await generate(run, feb);
    const { lines } = await billOf(run, feb);
    return lines.find((line) => line.component === 'visit')?.amount;
  };
  assert.equal(await visit(), undefined);
  await set(jan, 'visit', '30');
  await refuses(post(run, feb), 'TERM_STALE_GENERATE_AGAIN');
  assert.equal(await visit(), 30);
  await run.client.cancelTerm({ data: { termID: jan, reason: 'not needed' } });
  await refuses(post(run, feb), 'TERM_STALE_GENERATE_AGAIN');
  assert.equal(await visit(), undefined);
  await assertBothMonths(run, feb);
  await post(run, feb);
});

test('use uploaded for a bill that was held is on the next one', async () => {
  const one = tariffCase('SAAS');
  const [facts] = one.scenarios as unknown as [FrozenInputs];
  const run = await openBillRun(scene, one);
  const apr = await addTerm(run);
  await addSubscription(run, apr, { ...copyOf(facts, 1), account: {} });
  await skipBill(run, apr);
  const { connectionNumber, usage } = await billOf(run, apr);
  assert.equal(usage[0]?.quantity, '1284350');
  const may = await addTerm(run, {
    label: 'May',
    startDate: '01/05/2026',
    endDate: '31/05/2026',
    dueDate: '15/06/2026',
  });
  const used = async (...rows: string[][]) => {
    const sent = rows.map((row) => [connectionNumber, 'apiCalls', ...row]);
    const data = JSON.stringify({ termID: may, usage: sent });
    await run.client.uploadUsage({ operation: 'schedule', data: { data } });
    await generate(run, may);
    const bill = await billOf(run, may);
    assert.deepEqual(daysOf(bill), ['Draft', '01/04/2026', '31/05/2026']);
    return bill.usage.map((item) => item.quantity);
  };
  assert.deepEqual(await used(['7']), [String(1_284_350 + 7)]);
  assert.deepEqual(await used(['3', '10/05/2026']), [String(1_284_350 + 7 + 3)]);
  await post(run, may);
  await assertChecks(scene, run.tenantId);
});

test('usage of a whole skipped term is billed on its days', async () => {
  const {
    admin: client,
    tenantId,
    newSubscription,
  } = await openMetered(scene, 'uploads', {
    holdRules: [],
  });
  const run = { scene, client, tenantId };
  const number = await newSubscription({ billedThrough: '2025-12-31' });
  const serviceCode = (await client.getServices({})).data.services[0]?.serviceCode ?? '';
  const used = async (days: typeof january, ...rows: string[][]) => {
    const termID = await newTerm(client, { serviceCode, ...days });
    const usage = rows.map((row) => [number, 'energy', ...row]);
    const data = JSON.stringify({ termID, usage });
    await client.uploadUsage({ operation: 'schedule', data: { data } });
    return termID;
  };
  await skipBill(run, await used(january, ['100'], ['7', '03/01/2026']));
  const feb = await used(february, ['120'], ['3', '10/02/2026']);
  await generate(run, feb);
  assert.deepEqual(linesOf(await billOf(run, feb)), [
    ['energyCharge', '01/01/2026', (100 + 7) * 20],
    ['energyCharge', '01/02/2026', (120 + 3) * 20],
    ['gst', '01/01/2026', (230 * 20) / 10],
  ]);
  await post(run, feb);
  const mar = await used(march, ['50'], ['4', '02/03/2026']);
  await generate(run, mar);
  assert.equal((await billOf(run, mar)).usage[0]?.quantity, String(50 + 4));
});
