// Contexts: which definitions are refused, with the path of the mistake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import {
  newService,
  newTariff,
  type Service,
  shownService,
  smallService,
} from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newParty, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('definitions');
await scene.enter(admin);

test('create-service refuses definitions that are wrong, with the path of the mistake', async () => {
  const create = (fields: object) =>
    admin.createService({ service: { ...smallService, code: 'NEW', ...fields } });
  const number = { name: 'a', type: 'Number' };
  await refuses(create({ values: [{ ...number, defualt: '1' }] }), 'UNKNOWN_FIELD', {
    field: 'service.values[0].defualt',
    statusCode: 400,
  });
  await refuses(create({ values: [number, number] }), 'DUPLICATE', {
    field: 'service.values[1].name',
  });
  await refuses(create({ values: [{ name: '1a', type: 'Number' }] }), 'DEFINITION_INVALID', {
    field: 'service.values[0].name',
    statusCode: 422,
  });
  await refuses(create({ billRounding: { scale: 3, mode: 'HalfUp' } }), 'DEFINITION_INVALID', {
    field: 'service.billRounding.scale',
  });
  const rule = (when: string) => create({ holdRules: [{ name: 'a', when }] });
  const rules: [string, string][] = [
    ['1 +', 'FORMULA_SYNTAX'],
    ['bill.none > 1', 'FORMULA_UNKNOWN_NAME'],
    ['1 + 1', 'FORMULA_TYPE'],
    ['account.wallet > 0', 'FORMULA_SCOPE'],
    ['NOSUCH(1) > 0', 'FORMULA_UNKNOWN_FUNCTION'],
    ['ABS(1, 2) > 0', 'FORMULA_ARITY'],
    [`${'1 + '.repeat(1_500)}1 > 0`, 'FORMULA_TOO_LONG'],
  ];
  for (const [when, code] of rules) {
    const detail = await refusesDefinition(rule(when), 'service.holdRules[0].when', code);
    if (code !== 'FORMULA_TOO_LONG') assert.equal(typeof detail?.position, 'number', code);
  }
  await refuses(create({ batches: [{ batchCode: 'A' }, { batchCode: 'A' }] }), 'DUPLICATE', {
    field: 'service.batches[1].batchCode',
  });
  const slabs = (...limits: (string | null)[]) => {
    const rows = limits.map((upTo) => ({ upTo, rate: '1' }));
    const table = { name: 'slabs', type: 'Table', columns: ['upTo', 'rate'], default: rows };
    return create({ values: [table] });
  };
  const row = 'service.values[0].default';
  await refusesDefinition(slabs('5', '4', null), `${row}[1].upTo`, 'SLAB_ORDER');
  await refusesDefinition(slabs('5'), `${row}[0].upTo`, 'SLAB_OPEN_END_MISSING');
});

/** The context answers with one code; that of the formula is in `details`, with its place. */
async function refusesDefinition(call: Promise<unknown>, field: string, code: string) {
  const { error } = await refuses(call, 'DEFINITION_INVALID', { field, statusCode: 422 });
  const [detail] = error.details;
  assert.deepEqual([detail?.field, detail?.code], [field, code]);
  assert.equal(error.message, detail?.message);
  return detail;
}

test('a wrong default answers DEFINITION_INVALID, and details name its index and its mistake', async () => {
  const code = await newService(admin);
  const fine = { name: 'fine', type: 'Number' as const, default: '1' };
  const cases: [object, string, string][] = [
    [{ type: 'Number', default: '1 +' }, '', 'FORMULA_SYNTAX'],
    [{ type: 'Number', default: 'noSuch' }, '', 'FORMULA_UNKNOWN_NAME'],
    [{ type: 'Number', default: '"a"' }, '', 'FORMULA_TYPE'],
    [{ type: 'Number', default: 'NOSUCH(1)' }, '', 'FORMULA_UNKNOWN_FUNCTION'],
    [{ type: 'Number', default: 'ABS(1, 2)' }, '', 'FORMULA_ARITY'],
    [{ type: 'Number', default: '1 + '.repeat(1_001) }, '', 'FORMULA_TOO_LONG'],
    [{ type: 'Number', default: [{ a: '1' }] }, '', 'FORMULA_TYPE'],
    [
      { type: 'Table', columns: ['upTo', 'rate'], default: [{ upTo: null, rate: 'x' }] },
      '[0].rate',
      'FORMULA_TYPE',
    ],
  ];
  for (const [odd, rest, mistake] of cases) {
    const values = [...smallService.values, fine, { name: 'odd', ...odd }] as never;
    const index = smallService.values.length + 1;
    const field = `service.values[${index}].default${rest}`;
    const service = { ...smallService, code: 'ODD', values };
    const detail = await refusesDefinition(admin.createService({ service }), field, mistake);
    if (mistake === 'FORMULA_SYNTAX') assert.equal(detail?.position, 3);
    await refusesDefinition(admin.updateService({ service: { code, values } }), field, mistake);
    const scenario = { term: { startDate: '01/01/2027', endDate: '31/01/2027' } };
    const simulated = admin.simulateTariff({ service, tariffCode: 'X', scenario } as never);
    await refusesDefinition(simulated, field, mistake);
  }
  assert.equal((await shownService(admin, code)).version, 1);
});

test('limits of a quantity and the use that is taken for a day make sense', async () => {
  const wrong: [object, string][] = [
    [{ minValue: '5', maxValue: '4' }, 'maxValue'],
    [{ minValue: '5', defaultValue: '4' }, 'defaultValue'],
    [{ maxValue: 3, defaultValue: 4 }, 'defaultValue'],
  ];
  for (const [fields, key] of wrong) {
    const asked = { unmeteredInputs: [{ name: 'seats', ...fields }] };
    const field = `service.unmeteredInputs[0].${key}`;
    await refuses(newService(admin, asked as never), 'DEFINITION_INVALID', { field });
  }
  for (const defaultDaily of ['-5', -0.5]) {
    const meteredInputs = [{ name: 'energy', estimation: { allowed: 1 as const, defaultDaily } }];
    await refuses(newService(admin, { meteredInputs }), 'INVALID_NUMBER', {
      field: 'service.meteredInputs[0].estimation.defaultDaily',
    });
  }
});

test('a change that breaks a plan is DEFINITION_INVALID; details name the plan and its mistake', async () => {
  const code = await newService(admin);
  await newTariff(admin, code, { code: 'BREAKS' });
  const [rate, ...others] = smallService.values;
  const text = [{ ...rate, type: 'Text' as const, default: 'dear' }, ...others] as never;
  const wrong = admin.updateService({ service: { code, values: text } });
  const refusal = await refuses(wrong, 'DEFINITION_INVALID', { statusCode: 422 });
  assert.match(refusal.message, /BREAKS/);
  assert.equal(refusal.error.details[0]?.code, 'FORMULA_TYPE');
  assert.match(refusal.error.details[0]?.field ?? '', /componentRules\[0\]\.formula$/);
  const bare = [{ ...rate, default: null }, ...others] as never;
  const empty = admin.updateService({ service: { code, values: bare } });
  const { message, error } = await refuses(empty, 'DEFINITION_INVALID');
  assert.match(message, /BREAKS/);
  assert.equal(error.details[0]?.code, 'VALUE_UNDEFINED');
  assert.equal((await shownService(admin, code)).version, 1);
});

test('a field becomes unique where no two subscriptions have one value of it', async () => {
  const connectionInputs = [{ name: 'plot', type: 'Text' as const }];
  const code = await newService(admin, { connectionInputs });
  await newTariff(admin, code, { code: 'DOM' });
  const users = [{ partyNumber: await newParty(admin) }];
  const offer = { serviceCode: code, tariffCode: 'DOM', postType: 'Post Subscription', users };
  const plot = (value: string) => ({ ...offer, connectionInputs: [{ name: 'plot', value }] });
  const first = await subscribe(admin, plot('A'));
  await subscribe(admin, plot('A'));
  const unique = () =>
    admin.updateService({
      service: { code, connectionInputs: [{ ...connectionInputs[0], unique: 1 } as never] },
    });
  await refuses(unique(), 'IN_USE', { field: 'service.connectionInputs' });
  await admin.updateConnection({
    data: { connectionNumber: first, connectionInputs: [{ name: 'plot', value: 'B' }] },
  });
  await unique();
  await refuses(subscribe(admin, plot('B')), 'CONNECTION_INPUTS_MISMATCH');
  await admin.updateService({ service: { code, connectionInputs } });
  await subscribe(admin, plot('B'));
});

test('a pattern, a choice and a default of a custom field must make sense when they are saved', async () => {
  const wrong: [object, string][] = [
    [{ type: 'Text', pattern: '[a-' }, 'pattern'],
    [{ type: 'Text', pattern: '(a)\\1' }, 'pattern'],
    [{ type: 'Text', pattern: '(?=a)a' }, 'pattern'],
    [{ type: 'Text', pattern: '(.?){900}' }, 'pattern'],
    [{ type: 'Select' }, 'options'],
    [{ type: 'Select', options: ['a'], defaultValue: 'b' }, 'defaultValue'],
    [{ type: 'Number', minValue: '5', maxValue: '4' }, 'maxValue'],
    [{ type: 'Number', defaultValue: 'five' }, 'defaultValue'],
    [{ type: 'Date', defaultValue: '2024-01-01' }, 'defaultValue'],
    [{ type: 'Text', pattern: '\\d+', defaultValue: 'x' }, 'defaultValue'],
  ];
  for (const [fields, key] of wrong) {
    const connectionInputs = [{ name: 'one', ...fields }];
    const asked = { connectionInputs } as unknown as Partial<Service>;
    await refuses(newService(admin, asked), 'DEFINITION_INVALID', {
      field: `service.connectionInputs[0].${key}`,
      statusCode: 422,
    });
  }
});

test('cash is booked on an account that is there and is not made up of entries', async () => {
  const code = await newService(admin);
  // 2 is the receivable.
  for (const cashAccountID of [9_999, 2]) {
    const refusal = { field: 'service.cashAccountID', statusCode: 422 };
    await refuses(newService(admin, { cashAccountID }), 'DEFINITION_INVALID', refusal);
    const update = admin.updateService({ service: { code, cashAccountID } });
    await refuses(update, 'DEFINITION_INVALID', refusal);
  }
  await admin.updateService({ service: { code, cashAccountID: 8 } });
  assert.equal((await shownService(admin, code)).cashAccountID, 8);
});

test('the low limit of a reading is not above its high one', async () => {
  for (const highLow of [{ lowFactor: 2, highFactor: 1 }, { lowFactor: 4 }, { highFactor: 0.2 }]) {
    const meteredInputs = [{ name: 'energy', unit: 'kWh', highLow }];
    await refuses(newService(admin, { meteredInputs }), 'DEFINITION_INVALID', {
      field: 'service.meteredInputs[0].highLow.lowFactor',
      statusCode: 422,
    });
  }
  const same = { lowFactor: 1, highFactor: 1 };
  await newService(admin, { meteredInputs: [{ name: 'energy', unit: 'kWh', highLow: same }] });
});

test('no pattern holds the server up, whatever it is asked to match', async () => {
  const connectionInputs = ['(a+)+b', '(a|a)*c', '(x+x+)+y', '(.*)*z'].map((pattern, index) => ({
    name: `f${index}`,
    type: 'Text' as const,
    pattern,
  }));
  const code = await newService(admin, { connectionInputs });
  await newTariff(admin, code, { code: 'DOM' });
  const value = 'ax'.repeat(250);
  const connection = {
    serviceCode: code,
    tariffCode: 'DOM',
    postType: 'Post Subscription',
    users: [{ partyNumber: await newParty(admin) }],
    connectionInputs: connectionInputs.map(({ name }) => ({ name, value })),
  };
  const began = performance.now();
  const rows = Array.from({ length: 100 }, () => connection);
  const call = admin.makeConnections({ batchUpload: true, connection: rows });
  await refuses(call, 'CONNECTION_INPUTS_MISMATCH');
  // A backtracking engine would take longer than the universe has lasted.
  assert.ok(performance.now() - began < 20_000);
});
