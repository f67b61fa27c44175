// Generating again, by calls alone: nothing changed gives the same hashes, one corrected reading
// gives one other bill, with its cause, and so does whatever was saved of the prices.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from '../support/bill-run.ts';
import { schedule } from '../support/delivery.ts';
import { openMetered } from '../support/metered.ts';
import { july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import type { Service, Tariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
const { admin, tenantId, serviceCode, hung } = await openMetered(scene, 'generated-again');

async function hashes(termID: number): Promise<Map<number, string>> {
  const { rows } = await scene.sql.query(
    `select bill_id, encode(hash, 'hex') as hash from bills
     where tenant_id = $1 and term_id = $2`,
    [tenantId, termID],
  );
  return new Map(rows.map((row) => [Number(row.bill_id), row.hash]));
}

function upload(termID: number, rows: string[][]) {
  const data = JSON.stringify({ termID, readings: rows });
  return admin.uploadMeterReadings({ operation: 'schedule', data: { data, sheduleTime: null } });
}

const read = (termID: number) =>
  admin.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });

test('a corrected reading makes one other bill, which compare-runs names with its cause', async () => {
  const homes = [];
  for (let index = 0; index < 12; index += 1) homes.push(await hung());
  const termID = await newTerm(admin, { serviceCode });
  await upload(
    termID,
    homes.map(({ connection, number }, index) => [
      connection,
      String(number),
      String(100 + index),
      '31/01/2026',
    ]),
  );
  await read(termID);
  await admin.generateBills(schedule(termID));
  const first = await hashes(termID);
  assert.equal(first.size, 12);
  await admin.generateBills(schedule(termID));
  assert.deepEqual(await hashes(termID), first);
  const same = (await admin.compareRuns({ termID })).data;
  assert.deepEqual([same.run.runID, same.against.runID, same.differences], [2, 1, []]);

  // The fifth is read again on the next day, and shows 20 more.
  const { connection = '', number = 0 } = homes[4] ?? {};
  await admin.unpostMeterReadings({ data: { termID, connectionNumber: connection } });
  await upload(termID, [[connection, String(number), '124', '01/02/2026']]);
  await read(termID);
  await admin.generateBills(schedule(termID));
  const after = await hashes(termID);
  const { data } = await admin.compareRuns({ termID, runID: 3, againstRunID: 2 });
  assert.equal(data.differences.length, 1);
  const [difference] = data.differences;
  assert.deepEqual(
    [difference?.connectionNumber, difference?.before, difference?.after],
    // 104 * 20 + 10 %, then 124 * 20 + 10 %.
    [connection, 2_288, 2_728],
  );
  assert.deepEqual(difference?.lines, [
    { component: 'energyCharge', before: 2_080, after: 2_480 },
    { component: 'gst', before: 208, after: 248 },
  ]);
  assert.deepEqual(difference?.causes, [
    {
      kind: 'Reading',
      name: `${number} kWh`,
      before: '104 on 31/01/2026',
      after: '124 on 01/02/2026',
    },
  ]);
  const changed = [...after].filter(([billId, hash]) => first.get(billId) !== hash);
  assert.deepEqual(
    changed.map(([billId]) => billId),
    [difference?.billID],
  );
});

const data = { name: 'data', unit: 'GB', source: 'Uploaded' } as const;
const rate = { name: 'rate', type: 'Number', default: '2' } as const;
const dated = { name: 'rate', formula: '3', fromDate: '05/07/2026' };
const fee = { component: 'fee', formula: '310', prorate: 'Days' } as const;
const extra = { component: 'extra', scope: 'Term', formula: 'usage.data * rate' } as const;
const long = (amount: string) => `${'0 + '.repeat(100)}${amount}`;

const service: Partial<Service> = {
  unmeteredInputs: [data],
  values: [rate],
  components: [
    { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
    { name: 'extra', label: 'Data', type: 'Charge', sequence: 2 },
  ],
};
const tariff: Partial<Tariff> = { valueFormulas: [dated], componentRules: [fee, extra] };

/** Saves a version of the context or of the plan, from a day on. */
type Saved = { service?: Partial<Service>; tariff?: Partial<Tariff>; from?: string };

async function save({ client, offer }: OfferPlace, change: Saved): Promise<void> {
  const { serviceCode, tariffCode: code } = offer;
  const effectiveDate = change.from ?? '01/06/2026';
  if (change.service) {
    await client.updateService({
      service: { ...change.service, code: serviceCode, effectiveDate },
    } as never);
  }
  if (change.tariff) {
    await client.updateTariff({
      tariff: { ...change.tariff, serviceCode, code, effectiveDate },
    } as never);
  }
}

let places = 0;

/** July with 10.4 GB, generated before and after something was saved; PLAN is the plan's code. */
async function causesOfSaving(change: Saved, earlier: Saved[] = [], own: Partial<Service> = {}) {
  places += 1;
  const place = await openOffer(scene, `causes-${places}`, { ...service, ...own }, tariff);
  const connection = await place.connectOld();
  if (own.postType === 'Post Party') await place.connectOld();
  for (const one of earlier) await save(place, one);
  const termID = await place.open(july);
  const usage = JSON.stringify({ termID, usage: [[connection, 'data', '10.4']] });
  await place.client.uploadUsage({ operation: 'schedule', data: { data: usage } });
  await generate(place, termID);
  await save(place, change);
  await generate(place, termID);
  const { differences } = (await place.client.compareRuns({ termID })).data;
  assert.equal(differences.length, 1);
  const [{ before = 0, after = 0, causes = [] } = {}] = differences;
  const named = causes.map((cause) => [
    cause.kind,
    cause.name.replace(place.offer.tariffCode, 'PLAN'),
    cause.before,
    cause.after,
  ]);
  return { before, after, causes: named };
}

const toldCases: [string, Saved, (string | null)[]][] = [
  [
    'the last day of a value',
    { tariff: { valueFormulas: [{ ...dated, toDate: '10/07/2026' }] } },
    ['Value', 'PLAN rate 05/07/2026', 'no toDate', 'toDate 10/07/2026'],
  ],
  [
    'which day of the term decides a value',
    { service: { values: [{ ...rate, changeInTerm: 'Start' }] } },
    ['Value', 'rate', 'changeInTerm End', 'changeInTerm Start'],
  ],
  [
    'the decimals of an input',
    { service: { unmeteredInputs: [{ ...data, decimals: 0 }] } },
    ['Input', 'data', 'no decimals', 'decimals 0'],
  ],
  [
    'the rate that a line shows',
    { tariff: { componentRules: [fee, { ...extra, rate: 'rate' }] } },
    ['Rule', 'PLAN extra', 'no rate', 'rate rate'],
  ],
  [
    'the quantity that a line shows',
    { tariff: { componentRules: [fee, { ...extra, quantity: 'usage.data * 2' }] } },
    ['Rule', 'PLAN extra', 'no quantity', 'quantity usage.data * 2'],
  ],
  [
    'a formula',
    { tariff: { componentRules: [{ ...fee, formula: '320' }, extra] } },
    ['Rule', 'PLAN fee', '310', '320'],
  ],
  [
    'a rule that holds the bill',
    { service: { holdRules: [{ name: 'big', when: 'bill.current > 1', reason: 'Look' }] } },
    ['Rule', 'hold big', null, 'bill.current > 1; reason Look'],
  ],
  ['the name of a plan', { tariff: { name: 'Homes' } }, ['Plan', 'PLAN name', 'Domestic', 'Homes']],
  [
    'a version with the same prices',
    { tariff: { securityAttributes: [{ name: 'deposit', amount: '10' }] } },
    ['Plan', 'PLAN version', '1', '2'],
  ],
];

for (const [what, change, cause] of toldCases) {
  test(`compare-runs names ${what} as the only cause`, async () => {
    assert.deepEqual((await causesOfSaving(change)).causes, [cause]);
  });
}

const feeOf = (formula: string, from: string): Saved => ({
  tariff: { componentRules: [{ ...fee, formula }, extra] },
  from,
});

test('compare-runs does not name a version for a later year', async () => {
  const later = [
    feeOf('400', '01/01/2028'),
    { service: { values: [{ ...rate, default: '9' }] }, from: '01/01/2028' },
  ];
  // 31.20 of data in both; what was saved for 2028 has priced neither.
  assert.deepEqual(await causesOfSaving(feeOf('350', '01/06/2026'), later), {
    before: 341.2,
    after: 381.2,
    causes: [['Rule', 'PLAN fee', '310', '350']],
  });
});

test('compare-runs names a price that is effective from an earlier day of the term', async () => {
  // 10 of 31 days by 310 and 21 by 341, then all by 341.
  assert.deepEqual(await causesOfSaving(feeOf('341', '01/07/2026'), [feeOf('341', '11/07/2026')]), {
    before: 362.2,
    after: 372.2,
    causes: [['Rule', 'PLAN fee', '310', '341']],
  });
});

test('compare-runs names the rounding and the prices of a bill of two subscriptions once', async () => {
  const change: Saved = {
    service: { billRounding: { scale: 0, mode: 'HalfUp' } },
    ...feeOf('320', '01/06/2026'),
  };
  // 2 * 310 + 31.20, then 2 * 320 + 31.20: what is rounded is no charge.
  assert.deepEqual(await causesOfSaving(change, [], { postType: 'Post Party' }), {
    before: 651.2,
    after: 671.2,
    causes: [
      ['Component', 'billRounding', null, '{"mode":"HalfUp","scale":0}'],
      ['Rule', 'PLAN fee', '310', '320'],
    ],
  });
});

test('compare-runs shows a long text from where it differs', async () => {
  const change = feeOf(long('320'), '01/06/2026');
  const { causes } = await causesOfSaving(change, [feeOf(long('310'), '01/06/2026')]);
  const [[, , before, after] = []] = causes;
  assert.deepEqual([before?.slice(-7), after?.slice(-7)], ['0 + 310', '0 + 320']);
  assert.ok((after?.length ?? 0) < 210);
});
