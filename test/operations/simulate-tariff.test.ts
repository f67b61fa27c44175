import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import { refuses } from '../support/client.ts';
import { newService, newTariff, smallService, smallTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('simulations');
const serviceCode = await newService(admin);
const plan = await newTariff(admin, serviceCode);
const tariffCode = plan.code;

const term = { startDate: '01/06/2031', endDate: '30/06/2031' };
const reading = (date: string, value: string) => ({ date, value });
const scenario = {
  term,
  meters: [
    {
      number: 1,
      input: 'energy',
      previous: reading('31/05/2031', '0'),
      current: reading('30/06/2031', '100'),
    },
  ],
};
type Body = RequestOf<'simulateTariff'>;
const simulate = (body: Partial<Body>) => admin.simulateTariff({ scenario, ...body });
/** A plan that is not saved; simulations take fewer fields than saving. */
const unsaved = (fields: object) => ({ ...smallTariff, ...fields }) as never;
const ruleOf = (formula: string) => [{ component: 'energyCharge', formula }];

test('a simulated bill has the fields of a bill, and nothing is stored', async () => {
  const before = await hashRows(scene.sql);
  const { data } = await simulate({ serviceCode, tariffCode, explain: true });
  const { bill, explanation } = data;
  assert.deepEqual(
    [bill.serviceCode, bill.serviceLabel, bill.tariffCode, bill.tariffLabel, bill.currency],
    [serviceCode, 'Electricity', tariffCode, 'Domestic', 'PKR'],
  );
  assert.deepEqual(
    bill.lines.map((line) => [line.component, line.amount, line.tariffVersion]),
    [
      ['energyCharge', 2000, 1],
      ['gst', 200, 1],
    ],
  );
  assert.deepEqual([bill.billAmount, bill.outstandingAmount, bill.paidAmount], [2200, 2200, 0]);
  const [line] = explanation ?? [];
  assert.equal(line?.formula, 'usage.energy * rate');
  assert.equal(line?.amount, 2000);
  assert.deepEqual(line?.names.map((name) => [name.name, name.value]).sort(), [
    ['rate', '20'],
    ['usage.energy', '100'],
  ]);
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('the order of arrays makes no difference', async () => {
  const straight = await simulate({ serviceCode, tariffCode });
  const turned = await simulate({
    service: {
      ...smallService,
      code: serviceCode,
      values: smallService.values.toReversed() as never,
      components: smallService.components.toReversed(),
    },
    tariffs: [
      unsaved({ code: tariffCode, componentRules: smallTariff.componentRules.toReversed() }),
    ],
    tariffCode,
  });
  const amounts = (data: typeof straight.data) =>
    data.bill.lines.map((line) => [line.component, line.amount]).sort();
  assert.deepEqual(amounts(turned.data), amounts(straight.data));
});

test('unsaved plans replace saved ones, or are added as children', async () => {
  const dear = unsaved({ code: tariffCode, valueFormulas: [{ name: 'rate', formula: '50' }] });
  const inPlace = await simulate({ serviceCode, tariffCode, tariffs: [dear] });
  assert.equal(inPlace.data.bill.currentCharges, 5500); // 100 * 50 * 1.1
  const child = unsaved({
    code: 'CHILD',
    parentTariffCode: tariffCode,
    componentRules: ruleOf('SUPER() + 10'),
  });
  const beside = await simulate({ serviceCode, tariffCode: 'CHILD', tariffs: [child] });
  assert.equal(beside.data.bill.currentCharges, 2211); // (100 * 20 + 10) * 1.1
  const saved = await simulate({ serviceCode, tariffCode });
  assert.equal(saved.data.bill.currentCharges, 2200);
});

test('an unsaved context prices the saved plans of its code', async () => {
  const values = smallService.values.map((value) =>
    value.name === 'rate' ? { ...value, default: '30' } : value,
  ) as never;
  const service = { ...smallService, code: serviceCode, values };
  assert.equal((await simulate({ service, tariffCode })).data.bill.currentCharges, 3300);
});

test('a saved change is seen by the next simulation, on every server', async () => {
  const code = await newService(admin);
  const one = await newTariff(admin, code);
  const another = (await scene.anotherServer()).visitor('simulations');
  another.useToken(admin.token);
  const asked = { serviceCode: code, tariffCode: one.code, scenario };
  const price = async (client: typeof another) =>
    (await client.simulateTariff(asked)).data.bill.currentCharges;
  assert.deepEqual([await price(admin), await price(another)], [2200, 2200]);
  for (const [rate, expected] of [
    ['21', 2310],
    ['22', 2420],
  ] as const) {
    await admin.updateTariff({
      tariff: {
        serviceCode: code,
        code: one.code,
        effectiveDate: '01/01/2031',
        valueFormulas: [{ name: 'rate', formula: rate }],
      },
    });
    assert.deepEqual([await price(admin), await price(another)], [expected, expected]);
  }
});

test('a bill that a hold rule stops is shown as held', async () => {
  const service = (when: string) => ({
    ...smallService,
    code: serviceCode,
    holdRules: [{ name: 'large', when }],
  });
  const held = async (when: string) =>
    (await simulate({ service: service(when), tariffCode })).data.bill.hold;
  assert.deepEqual([await held('bill.current > 2000'), await held('bill.current > 3000')], [1, 0]);
  assert.equal(await held('1 / (bill.current - 2200) > 0'), 0);
});

test('problems of a bill are reported on the bill', async () => {
  const usageData = [{ input: 'energy', source: 'Metered', required: 1 }];
  const needy = await newTariff(admin, serviceCode, { usageData });
  const { data, message } = await admin.simulateTariff({
    serviceCode,
    tariffCode: needy.code,
    scenario: { term },
  });
  assert.equal(data.bill.status, 'Error');
  assert.equal(data.bill.errors[0]?.code, 'USAGE_MISSING');
  assert.match(message, /errors/);
});

test('formula errors of what is not saved answer as on save, with the path in the request', async () => {
  const broken = (formula: string) =>
    simulate({
      serviceCode,
      tariffCode,
      tariffs: [unsaved({ code: 'FINE' }), unsaved({ code: 'X', componentRules: ruleOf(formula) })],
    });
  const at = { field: 'tariffs[1].componentRules[0].formula', statusCode: 422 };
  const refusal = await refuses(broken('1 +'), 'FORMULA_SYNTAX', at);
  assert.equal(typeof refusal.error.details[0]?.position, 'number');
  await refuses(broken('noSuch'), 'FORMULA_UNKNOWN_NAME', at);
  const service = { ...smallService, billRounding: { scale: 4, mode: 'HalfUp' as const } };
  await refuses(simulate({ service, tariffCode }), 'DEFINITION_INVALID', {
    field: 'service.billRounding.scale',
  });
  const twice = [unsaved({ code: 'X' }), unsaved({ code: 'X' })];
  await refuses(simulate({ serviceCode, tariffCode, tariffs: twice }), 'DUPLICATE', {
    field: 'tariffs[1].code',
  });
});

test('simulate-tariff refuses what is missing or unknown', async () => {
  await refuses(simulate({ tariffCode }), 'REQUIRED_FIELD', { field: 'serviceCode' });
  await refuses(simulate({ serviceCode }), 'REQUIRED_FIELD', { field: 'tariffCode' });
  await refuses(simulate({ serviceCode: 'NONE', tariffCode }), 'SERVICE_NOT_FOUND', {
    statusCode: 404,
  });
  await refuses(simulate({ serviceCode, tariffCode: 'NONE' }), 'PLAN_NOT_FOUND', {
    field: 'tariffCode',
    statusCode: 404,
  });
  const noTerm = admin.simulateTariff({ serviceCode, tariffCode, scenario: {} as never });
  await refuses(noTerm, 'REQUIRED_FIELD', { field: 'scenario.term' });
  const badDate = { term: { ...term, endDate: '31/06/2031' } };
  await refuses(simulate({ serviceCode, tariffCode, scenario: badDate }), 'INVALID_DATE', {
    field: 'scenario.term.endDate',
  });
  const long = { term, usageHistory: { energy: 'x'.repeat(70_000) } };
  await refuses(simulate({ serviceCode, tariffCode, scenario: long }), 'FIELD_TOO_LONG', {
    field: 'scenario.usageHistory',
  });
});

/** Values of which each is a long sum of the one before. */
function buildingValues(count: number, sumOf: (before: string) => string) {
  return Array.from({ length: count }, (_, index) => ({
    name: `v${index}`,
    type: 'Number' as const,
    default: index === 0 ? '0' : sumOf(`v${index - 1}`),
  }));
}

function chained(count: number, sumOf: (before: string) => string): Partial<Body> {
  return {
    service: {
      ...smallService,
      code: 'CHAINS',
      values: [...smallService.values, ...buildingValues(count, sumOf)],
    } as never,
    tariffs: [
      unsaved({ code: 'P', componentRules: ruleOf(`usage.energy * rate + v${count - 1}`) }),
    ],
    tariffCode: 'P',
  };
}

const longSum = (before: string) => Array(200).fill(before).join(' + ');

test('an explanation of values that build on each other grows with their formulas', async () => {
  const body = chained(60, longSum);
  const sentBytes = JSON.stringify(body).length;
  const { data, text } = await simulatedText({ ...body, explain: true });
  assert.equal(data.bill.billAmount, 2000);
  const [line] = data.explanation ?? [];
  assert.ok(line?.steps.some((step) => step.expression.startsWith('v0 + v0')));
  assert.ok(line?.names.some((name) => name.name === 'v58'));
  assert.ok(text.length < 10 * sentBytes, `${text.length} bytes explain ${sentBytes}`);
});

async function simulatedText(body: Partial<Body>) {
  const { data } = await simulate(body);
  return { data, text: JSON.stringify(data) };
}

test('definitions with too many formulas are refused, and block no other call', async () => {
  const other = await scene.workspace('beside-simulations');
  let slowestMs = 0;
  let isOver = false;
  const refused = refuses(simulate(chained(450, longSum)), 'DEFINITION_INVALID', {
    statusCode: 422,
  }).finally(() => {
    isOver = true;
  });
  do {
    const startedMs = performance.now();
    await other.getSettings();
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  } while (!isOver);
  const { error } = await refused;
  assert.deepEqual(
    error.details.map((detail) => detail.code),
    ['FORMULA_TOO_COSTLY'],
  );
  assert.ok(slowestMs < 500, `another call took ${Math.round(slowestMs)} ms`);
});

test('inherited rules that call SUPER() many times put the bill in Error', async () => {
  const formula = `${Array(40).fill('SUPER()').join(' + ')}`;
  const child = (level: number) =>
    unsaved({
      code: `L${level}`,
      uniqueLabel: `Level ${level}`,
      parentTariffCode: level === 1 ? 'P' : `L${level - 1}`,
      componentRules: ruleOf(formula),
    });
  const { data } = await simulate({
    service: { ...smallService, code: 'SUPERS' },
    tariffs: [unsaved({ code: 'P' }), ...[1, 2, 3, 4, 5, 6].map(child)],
    tariffCode: 'L6',
  });
  assert.equal(data.bill.status, 'Error');
  assert.deepEqual(
    data.bill.errors?.map((error) => error.code),
    ['FORMULA_TOO_COSTLY'],
  );
});
