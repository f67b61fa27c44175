import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { newService, newTariff, priceOf, smallService, smallTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('plans');
await scene.enter(admin);
const context = await newService(admin);
const other = await newService(admin);

async function shown(tariffID: number) {
  const [plan] = (await admin.getTariffs({ tariffID })).data.tariffs;
  assert.ok(plan, String(tariffID));
  return plan;
}

const listFields = `tariffID tariffCode uniqueLabel label description serviceCode
  parentTariffCode securityAttributes connCount`.split(/\s+/);

const create = (fields: object) =>
  admin.createTariff({
    tariff: { ...smallTariff, serviceCode: context, code: 'NEW', uniqueLabel: 'New', ...fields },
  });

test('get-tariffs lists the fields of the contract; with tariffID all fields', async () => {
  const made = await newTariff(admin, context, { description: 'Homes', custom: 1 });
  const { data } = await admin.getTariffs({ serviceCode: context });
  const listed = data.tariffs.find((plan) => plan.tariffID === made.tariffID);
  assert.deepEqual(Object.keys(listed ?? {}).sort(), listFields.toSorted());
  const kinds = (await admin.getTariffs({ serviceCode: context, kinds: true })).data.tariffs;
  const kind = kinds.find((plan) => plan.tariffID === made.tariffID);
  assert.deepEqual([kind?.planType, kind?.abstract, kind?.archiveStatus], ['BASE_PLAN', 0, 0]);
  const whole = await shown(made.tariffID);
  assert.deepEqual(
    [whole.label, whole.name, whole.planType, whole.chargeType, whole.visibility, whole.custom],
    ['Domestic', 'Domestic', 'BASE_PLAN', 'Postpaid', 'Public', 1],
  );
  assert.deepEqual(whole.componentRules, smallTariff.componentRules);
  assert.deepEqual((await admin.getTariffs({ tariffID: 999 })).data.tariffs, []);
  assert.deepEqual((await admin.getTariffs({ serviceCode: 'NONE' })).data.tariffs, []);
});

test('get-tariffs with versions returns each version of a plan, the newest first', async () => {
  const { tariffID, code } = await newTariff(admin, context);
  const componentRules = [{ component: 'energyCharge', formula: 'usage.energy * 7' }];
  const change = { serviceCode: context, code, componentRules, effectiveDate: '01/01/2030' };
  await admin.updateTariff({ tariff: change });
  const { data, headers } = await admin.getTariffs({ tariffID, versions: true });
  assert.equal(headers.get('x-total-count'), '2');
  assert.deepEqual(
    data.tariffs.map((one) => [one.version, one.effectiveDate, one.componentRules?.length]),
    [
      [2, '01/01/2030', 1],
      [1, null, 2],
    ],
  );
  const none = await admin.getTariffs({ tariffID: 999, versions: true });
  assert.deepEqual(none.data.tariffs, []);
});

test('items of unknown shape in usageData and securityAttributes are kept as they came', async () => {
  const usageData = [{ input: 'energy', required: 1 }, { row: [1, { deep: 'x' }] }];
  const securityAttributes = [
    { role: 'clerk', may: ['see'] },
    { name: 'Deposit', amount: 1500 },
  ];
  const made = await newTariff(admin, context, { usageData, securityAttributes });
  const plan = await shown(made.tariffID);
  assert.deepEqual(plan.usageData, usageData);
  assert.deepEqual(plan.securityAttributes, securityAttributes);
  await refuses(create({ usageData: [{ input: 'energy', required: 7 }] }), 'INVALID_ENUM', {
    field: 'tariff.usageData[0].required',
  });
  const deposit = { name: 'Deposit', formula: 'usage.' };
  await refuses(create({ securityAttributes: [deposit] }), 'FORMULA_SYNTAX', {
    field: 'tariff.securityAttributes[0].formula',
  });
  const number = { name: 'Deposit', formula: 1500 };
  await refuses(create({ securityAttributes: [number] }), 'INVALID_TYPE', {
    field: 'tariff.securityAttributes[0].formula',
  });
});

test('an input is named once in usageData, and what is included of it is a number', async () => {
  const energy = { input: 'energy', required: 1 };
  const twice = [energy, { input: 'energy', required: 0 }];
  await refuses(create({ usageData: twice }), 'DUPLICATE', { field: 'tariff.usageData[1].input' });
  for (const included of ['abc', '-1', true, '']) {
    await refuses(create({ usageData: [{ ...energy, included }] }), 'INVALID_NUMBER', {
      field: 'tariff.usageData[0].included',
    });
  }
  await newTariff(admin, context, { usageData: [{ ...energy, included: '100.5' }] });
});

test('a rule over the term before is only for contexts that are billed in advance', async () => {
  const componentRules = [{ component: 'energyCharge', formula: '1', window: 'Previous' as const }];
  const window = { field: 'tariff.componentRules[0].window', statusCode: 422 };
  await refuses(create({ componentRules }), 'DEFINITION_INVALID', window);
  const late = { name: 'late', label: 'Late', type: 'LateSurcharge' as const };
  const components = [...smallService.components, late];
  const ahead = await newService(admin, { postBilling: 0, components });
  const plan = await newTariff(admin, ahead, { componentRules });
  const onLate = [{ ...componentRules[0], component: 'late' }];
  await refuses(
    create({ serviceCode: ahead, componentRules: onLate }),
    'DEFINITION_INVALID',
    window,
  );
  const after = { service: { code: ahead, postBilling: 1 as const } };
  await refuses(admin.updateService(after), 'DEFINITION_INVALID', { field: 'service.postBilling' });
  const { serviceCode, code } = plan;
  const changed = [{ component: 'energyCharge', formula: '1' }];
  await admin.updateTariff({ tariff: { serviceCode, code, componentRules: changed } });
  await admin.updateService(after);
});

test('create-tariff refuses each wrong field with its code, and stores nothing', async () => {
  const before = (await admin.getTariffs()).data.tariffs.length;
  const taken = await newTariff(admin, context, { uniqueLabel: 'Taken' });
  await newTariff(admin, other, { code: 'ELSEWHERE' });
  await refuses(create({ serviceCode: 'NONE' }), 'SERVICE_NOT_FOUND', { statusCode: 404 });
  await refuses(create({ code: taken.code }), 'DUPLICATE', { field: 'tariff.code' });
  await refuses(create({ uniqueLabel: 'Taken' }), 'DUPLICATE', { field: 'tariff.uniqueLabel' });
  const parent = { field: 'tariff.parentTariffCode', statusCode: 422 };
  await refuses(create({ parentTariffCode: 'NONE' }), 'PARENT_NOT_FOUND', parent);
  await refuses(create({ parentTariffCode: 'ELSEWHERE' }), 'PARENT_OTHER_SERVICE', parent);
  await refuses(create({ billingPeriodID: 77 }), 'PERIOD_NOT_FOUND', { statusCode: 404 });
  await refuses(create({ chargeType: 'Prepaid' }), 'CHARGE_TYPE_MISMATCH', { statusCode: 422 });
  for (const field of ['planType', 'visibility', 'abstract', 'custom']) {
    await refuses(create({ [field]: 'wrong' }), 'INVALID_ENUM', { field: `tariff.${field}` });
  }
  await refuses(create({ name: 7 }), 'INVALID_TYPE', { field: 'tariff.name' });
  await refuses(create({ name: undefined }), 'REQUIRED_FIELD', { field: 'tariff.name' });
  assert.equal((await admin.getTariffs()).data.tariffs.length, before + 2);
});

test('create-tariff refuses every kind of wrong formula, with path and position', async () => {
  const rule = (formula: string, more: object = {}) => ({
    component: 'energyCharge',
    formula,
    ...more,
  });
  const cases: [string, object[]][] = [
    ['FORMULA_SYNTAX', [rule('1 +')]],
    ['FORMULA_TYPE', [rule('1 + "a"')]],
    ['FORMULA_UNKNOWN_NAME', [rule('noSuchValue')]],
    ['FORMULA_UNKNOWN_FUNCTION', [rule('NOSUCH(1)')]],
    ['FORMULA_ARITY', [rule('ABS(1, 2)')]],
    ['FORMULA_TOO_DEEP', [rule(`${'('.repeat(80)}1${')'.repeat(80)}`)]],
    ['FORMULA_CYCLE', [rule('comp.gst'), { component: 'gst', formula: 'comp.energyCharge' }]],
    ['FORMULA_SCOPE', [rule('comp.gst'), { component: 'gst', formula: '1', scope: 'Term' }]],
  ];
  for (const [code, componentRules] of cases) {
    const refusal = await refuses(create({ componentRules }), code as never, { statusCode: 422 });
    assert.match(refusal.error.field ?? '', /^tariff\.componentRules\[\d\]\.formula$/, code);
    assert.equal(typeof refusal.error.details[0]?.position, 'number', code);
  }
  await refuses(create({ componentRules: [rule('1 + '.repeat(1_001))] }), 'FORMULA_TOO_LONG');
  await refuses(create({ componentRules: [rule('needed')] }), 'VALUE_UNDEFINED');
  const twice = [rule('1'), rule('2')];
  await refuses(create({ componentRules: twice }), 'EFFECTIVE_DATES_OVERLAP');
  await refuses(create({ componentRules: [rule('1', { forumla: '2' })] }), 'UNKNOWN_FIELD', {
    field: 'tariff.componentRules[0].forumla',
  });
  const dated = [{ name: 'rate', formula: '1', fromDate: '31/02/2027' }];
  await refuses(create({ valueFormulas: dated }), 'INVALID_DATE', {
    field: 'tariff.valueFormulas[0].fromDate',
  });
});

test('slab tables are checked for their order and their open end', async () => {
  const code = await newService(admin, {
    values: [{ name: 'slabs', type: 'Table', columns: ['upTo', 'rate'] }],
  });
  const componentRules = [{ component: 'energyCharge', formula: 'SLAB(usage.energy, slabs)' }];
  const withRows = (...limits: (string | null)[]) => {
    const rows = limits.map((upTo) => ({ upTo, rate: '1' }));
    const valueFormulas = [{ name: 'slabs', rows }];
    return create({ serviceCode: code, componentRules, valueFormulas });
  };
  await refuses(withRows('200', '100', null), 'SLAB_ORDER', { statusCode: 422 });
  await refuses(withRows('100', '200'), 'SLAB_OPEN_END_MISSING', { statusCode: 422 });
  await withRows('100', '200', null);
});

test('a chain of plans may have 8 levels, not 9, and no circle', async () => {
  const code = await newService(admin);
  let parent: Awaited<ReturnType<typeof newTariff>> | null = null;
  const chain: string[] = [];
  for (let level = 1; level <= 8; level += 1) {
    parent = await newTariff(admin, code, { parentTariffCode: parent?.code ?? null });
    chain.push(parent.code);
  }
  await refuses(create({ serviceCode: code, parentTariffCode: parent?.code }), 'PLAN_TOO_DEEP', {
    statusCode: 422,
  });
  const [root = '', , third] = chain;
  for (const parentTariffCode of [root, third]) {
    const change = admin.updateTariff({
      tariff: { serviceCode: code, code: root, parentTariffCode: parentTariffCode ?? null },
    });
    await refuses(change, 'PLAN_CYCLE', { field: 'tariff.parentTariffCode', statusCode: 422 });
  }
});

test('update-tariff refuses what cannot change, and knows what it does not know', async () => {
  const plan = await newTariff(admin, context);
  const update = (fields: object) =>
    admin.updateTariff({ tariff: { serviceCode: context, code: plan.code, ...fields } });
  await refuses(update({ code: 'NONE' }), 'PLAN_NOT_FOUND', { statusCode: 404 });
  await refuses(update({ serviceCode: 'NONE' }), 'PLAN_NOT_FOUND');
  await refuses(update({ planType: 'ADDON_PLAN' }), 'PLAN_TYPE_IMMUTABLE', { statusCode: 422 });
  for (const fields of [{ chargeType: 'Prepaid' }, { abstract: 1 }]) {
    const field = `tariff.${Object.keys(fields)[0]}`;
    await refuses(update(fields), 'FIELD_IMMUTABLE', { field, statusCode: 422 });
  }
  await refuses(update({ ts: 1 }), 'STALE_OBJECT', { field: 'tariff.ts', statusCode: 409 });
  await update({ planType: 'BASE_PLAN', chargeType: 'Postpaid', abstract: 0, name: 'Renamed' });
  const after = await shown(plan.tariffID);
  assert.deepEqual([after.label, after.version, after.archiveStatus], ['Renamed', 2, 0]);
  assert.deepEqual(after.componentRules, smallTariff.componentRules);
  await update({ description: 'x', archiveStatus: 1, visibility: 'Hidden' });
  await update({ description: null });
  assert.equal((await shown(plan.tariffID)).description, null);
});

test('saving a parent checks every plan that inherits from it, and names the one that breaks', async () => {
  const code = await newService(admin);
  const parent = await newTariff(admin, code, {
    abstract: 1,
    valueFormulas: [{ name: 'needed', formula: '5' }],
  });
  const componentRules = [{ component: 'gst', formula: 'needed', scope: 'Term' as const }];
  await newTariff(admin, code, { code: 'CHILD', parentTariffCode: parent.code, componentRules });
  const tariff = { serviceCode: code, code: parent.code, valueFormulas: [] };
  const refusal = await refuses(admin.updateTariff({ tariff }), 'VALUE_UNDEFINED');
  assert.match(refusal.message, /CHILD/);
  assert.equal((await shown(parent.tariffID)).version, 1);
});

test('versions hold from their effective dates, whatever the order of saving', async () => {
  const plan = await newTariff(admin, context);
  const at = (effectiveDate: string, rate: string) =>
    admin.updateTariff({
      tariff: {
        serviceCode: context,
        code: plan.code,
        effectiveDate,
        valueFormulas: [{ name: 'rate', formula: rate }],
      },
    });
  assert.equal(await priceOf(admin, plan, '06/2031'), 2200); // 100 * 20 * 1.1
  await at('01/07/2031', '30');
  assert.equal(await priceOf(admin, plan, '06/2031'), 2200);
  assert.equal(await priceOf(admin, plan, '07/2031'), 3300);
  await at('01/09/2031', '40');
  assert.equal(await priceOf(admin, plan, '08/2031'), 3300);
  assert.equal(await priceOf(admin, plan, '09/2031'), 4400);
  await at('01/06/2031', '50');
  assert.equal(await priceOf(admin, plan, '05/2031'), 2200);
  assert.equal(await priceOf(admin, plan, '09/2031'), 5500);
});

test('without a date a version holds from today in the time zone of the workspace', async () => {
  const plan = await newTariff(admin, context);
  await admin.updateTariff({
    tariff: { serviceCode: context, code: plan.code, description: 'today' },
  });
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const [year, month, day] = today.toString().split('-');
  assert.equal((await shown(plan.tariffID)).effectiveDate, `${day}/${month}/${year}`);
});

test('two updates at once are both kept; of two that would break together one is refused', async () => {
  const code = await newService(admin);
  const plans = [await newTariff(admin, code), await newTariff(admin, code)];
  const parents = [plans[1]?.code, plans[0]?.code];
  const outcomes = await Promise.allSettled(
    plans.map((plan, index) =>
      admin.updateTariff({
        tariff: { serviceCode: code, code: plan.code, parentTariffCode: parents[index] ?? null },
      }),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]?.reason), /PLAN_CYCLE/);
  const [plan] = plans;
  const names = ['one', 'two', 'three', 'four'];
  await Promise.all(
    names.map((name) =>
      admin.updateTariff({ tariff: { serviceCode: code, code: plan?.code ?? '', name } }),
    ),
  );
  assert.ok(((await shown(plan?.tariffID ?? 0)).version ?? 0) >= 5);
});

test('exceptSubtree leaves out a plan and all that inherit from it', async () => {
  const code = await newService(admin);
  const root = await newTariff(admin, code);
  const child = await newTariff(admin, code, { parentTariffCode: root.code });
  await newTariff(admin, code, { parentTariffCode: child.code });
  const free = await newTariff(admin, code);
  const listed = async (exceptSubtree: number) => {
    const { data } = await admin.getTariffs({ serviceCode: code, exceptSubtree });
    return data.tariffs.map((plan) => plan.tariffCode);
  };
  assert.deepEqual(await listed(child.tariffID), [root.code, free.code]);
  assert.deepEqual(await listed(root.tariffID), [free.code]);
  await refuses(admin.getTariffs({ exceptSubtree: 9_999 }), 'PLAN_NOT_FOUND', { statusCode: 404 });
});

test('an id that no plan can have finds nothing, and no subtree', async () => {
  for (const tariffID of [9_999, 0, -1, Number.MAX_SAFE_INTEGER]) {
    assert.deepEqual((await admin.getTariffs({ tariffID })).data.tariffs, []);
    await refuses(admin.getTariffs({ exceptSubtree: tariffID }), 'PLAN_NOT_FOUND', {
      field: 'exceptSubtree',
      statusCode: 404,
    });
  }
});

test('connCount counts Active and Disconnected subscriptions as they come, change and go', async () => {
  const plan = await newTariff(admin, context);
  const away = await newTariff(admin, context);
  const addOn = await newTariff(admin, context, { planType: 'ADDON_PLAN', uniqueLabel: 'Extra' });
  const partyNumber = await newParty(admin);
  const statuses = ['Active', 'Disconnected', 'Pending', 'Closed'] as const;
  const connection = Array.from({ length: 40 }, (_, index) => ({
    serviceCode: context,
    tariffCode: plan.code,
    postType: 'Post Subscription',
    connectionDate: '01012020',
    status: statuses[index % 4] ?? 'Active',
    users: [{ partyNumber }],
    addonTariffLabels: index < 4 ? ['Extra'] : [],
  }));
  const made = await admin.makeConnections({ batchUpload: true, connection });
  const numbers = made.headers.get('x-connection-number')?.split(',') ?? [];
  const count = async (one = plan) => (await shown(one.tariffID)).connCount;
  assert.deepEqual([await count(), await count(addOn)], [20, 2]);
  const [active = '', cut = '', pending = ''] = numbers;
  await admin.updateConnection({ data: { connectionNumber: pending, activate: true } });
  assert.deepEqual([await count(), await count(addOn)], [21, 3]);
  await admin.closeConnection({ data: { connectionNumber: cut } });
  assert.deepEqual([await count(), await count(addOn)], [20, 2]);
  await admin.changeTariff({ data: { connectionNumber: active, tariffCode: away.code } });
  assert.deepEqual([await count(), await count(away), await count(addOn)], [19, 1, 2]);
  await admin.updateConnection({ data: { connectionNumber: active, addonTariffLabels: [] } });
  assert.deepEqual([await count(away), await count(addOn)], [1, 1]);
  const { data } = await admin.getTariffs({ serviceCode: context });
  const listed = data.tariffs.find((one) => one.tariffID === plan.tariffID);
  assert.equal(listed?.connCount, 19);
});

test('saving a plan warns of what is allowed but probably a mistake', async () => {
  const serviceCode = await newService(admin);
  const tariff = { ...smallTariff, serviceCode, code: 'WARN', uniqueLabel: 'Warned' };
  const divided = { component: 'energyCharge', formula: 'rate / usage.energy' };
  const made = await admin.createTariff({ tariff: { ...tariff, componentRules: [divided] } });
  assert.equal(
    made.message,
    'Plan WARN created. ' +
      'DIVISOR_CAN_BE_ZERO: tariff.componentRules[0].formula at 7: this divisor can be zero; ' +
      'VALUE_UNUSED: no plan uses the value `needed`; ' +
      'VALUE_UNUSED: no plan uses the value `spare`; ' +
      'COMPONENT_NEVER_COMPUTED: no plan computes `gst`',
  );
  const valueFormulas = [{ name: 'needed', formula: '1' }];
  const componentRules = [
    { component: 'energyCharge', formula: 'usage.energy * rate * spare' },
    { component: 'gst', scope: 'Term' as const, formula: 'SUMCAT("taxable") * needed' },
  ];
  const change = { serviceCode, code: 'WARN', valueFormulas, componentRules };
  const changed = await admin.updateTariff({ tariff: change });
  assert.equal(changed.message, 'Plan WARN updated; version 2');
});
