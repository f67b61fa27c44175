import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { newService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('lookups');
await scene.enter(admin);

test('a workspace begins with nine billing periods, and takes more', async () => {
  const { periods } = (await admin.getPeriods()).data;
  assert.deepEqual(
    periods.map((period) => [period.billingPeriodID, period.name]),
    [
      [1, 'Monthly'],
      [2, 'Two-monthly'],
      [3, 'Quarterly'],
      [4, 'Half-yearly'],
      [5, 'Yearly'],
      [6, 'Weekly'],
      [7, 'Fortnightly'],
      [8, 'Daily'],
      [9, 'One-time'],
    ],
  );
  const made = await admin.makePeriods({
    periods: [
      { name: 'Four-monthly', unit: 'Month', count: 4, anchorDay: 15, months: 4 },
      { name: 'Ten days', unit: 'Day', count: 10, months: '0.3285', description: 'Short' },
    ],
  });
  assert.equal(made.headers.get('x-resource-id'), '10,11');
  const after = (await admin.getPeriods()).data.periods.slice(9);
  assert.deepEqual(
    after.map(({ name, unit, count, anchorDay, months, description }) => [
      name,
      unit,
      count,
      anchorDay,
      months,
      description,
    ]),
    [
      ['Four-monthly', 'Month', 4, 15, '4', null],
      ['Ten days', 'Day', 10, null, '0.3285', 'Short'],
    ],
  );
  const serviceCode = await newService(admin, { billingCycle: 10 });
  const [service] = (await admin.getServices({ serviceCode })).data.services;
  assert.equal(service?.billingCycleLookupID, 10);
});

test('make-periods takes all or none, and refuses taken names and wrong fields', async () => {
  const period = { name: 'New', unit: 'Day', count: 1, months: '1' } as const;
  const make = (...periods: object[]) => admin.makePeriods({ periods: periods as never });
  await refuses(make(period, { ...period, name: 'mONTHLY' }), 'DUPLICATE', {
    field: 'periods[1].name',
    statusCode: 409,
  });
  await refuses(make(period, { ...period, name: 'NEW' }), 'DUPLICATE');
  await refuses(make({ ...period, unit: 'Once' }), 'INVALID_ENUM', { field: 'periods[0].unit' });
  await refuses(make({ ...period, count: 0 }), 'INVALID_NUMBER');
  await refuses(make({ ...period, months: 'x' }), 'INVALID_NUMBER');
  await refuses(make({ ...period, name: ' ' }), 'REQUIRED_FIELD');
  await refuses(make(), 'REQUIRED_FIELD', { field: 'periods' });
  assert.equal((await admin.getPeriods()).data.periods.length, 11);
});

test('a workspace begins with a bill and an e-mail template; a change is a new version', async () => {
  const { templates } = (await admin.getTemplates()).data;
  assert.deepEqual(
    templates.map((template) => [template.templateID, template.type, template.version]),
    [
      [1, 'Invoice', 1],
      [2, 'Email', 1],
    ],
  );
  const made = await admin.makeTemplates({
    templates: [{ type: 'SMS', name: 'Short', language: 'ur', body: 'Bill {{bill.billNumber}}' }],
  });
  assert.equal(made.headers.get('x-resource-id'), '3');
  const { ts } = (await admin.getTemplates({ templateID: 3 })).data.templates[0] ?? { ts: 0 };
  await admin.updateTemplate({ data: { templateID: 3, body: 'Changed', ts } });
  const [changed] = (await admin.getTemplates({ type: 'SMS' })).data.templates;
  assert.deepEqual(
    [changed?.name, changed?.language, changed?.body, changed?.version],
    ['Short', 'ur', 'Changed', 2],
  );
  await refuses(admin.updateTemplate({ data: { templateID: 3, ts } }), 'STALE_OBJECT');
  await refuses(admin.updateTemplate({ data: { templateID: 99 } }), 'TEMPLATE_NOT_FOUND', {
    statusCode: 404,
  });
  await refuses(admin.getTemplates({ type: 'Fax' as never }), 'INVALID_FILTER_VALUE');
  const { rows } = await scene.sql.query(
    'select version, body from template_versions where template_id = 3 order by version',
  );
  assert.deepEqual(
    rows.map((row) => row.body),
    ['Bill {{bill.billNumber}}', 'Changed'],
  );
});

test('a template that no bill can fill is refused, with the place that is wrong', async () => {
  const make = (over: object) =>
    admin.makeTemplates({ templates: [{ type: 'Email', name: 'x', body: 'x', ...over } as never] });
  const wrong = { field: 'templates[0].body' };
  const count = async () => {
    const { rows } = await scene.sql.query('select count(*)::int as n from template_versions');
    return rows[0]?.n;
  };
  const before = await count();
  await refuses(make({ body: 'Dear {{bill.nmae}}' }), 'TEMPLATE_INVALID', wrong);
  await refuses(make({ body: 'Dear {{bill.partyName' }), 'TEMPLATE_INVALID', wrong);
  await refuses(make({ body: '{{constructor}}' }), 'TEMPLATE_INVALID', wrong);
  await refuses(make({ subject: '{{x}}' }), 'TEMPLATE_INVALID', { field: 'templates[0].subject' });
  await refuses(
    admin.updateTemplate({ data: { templateID: 1, body: '{{bill.}}' } }),
    'TEMPLATE_INVALID',
    { field: 'data.body' },
  );
  assert.equal(await count(), before, 'nothing is stored');
  await admin.updateTemplate({ data: { templateID: 1, body: 'Pay {{ bill.dueDate! }}, {sic}' } });
});

test('a context shows the names of the templates it uses', async () => {
  const made = await admin.makeTemplates({
    templates: [{ type: 'Invoice', name: 'Wide bill', body: 'x' }],
  });
  const templateID = Number(made.headers.get('x-resource-id'));
  const serviceCode = await newService(admin, {
    invoiceTemplate: { templateID },
    emailTemplate: { templateID: 2 },
  });
  const [service] = (await admin.getServices({ serviceCode })).data.services;
  assert.deepEqual(
    [service?.templateID, service?.templateName, service?.emailTemplateName],
    [templateID, 'Wide bill', 'Bill by e-mail'],
  );
});

test('lookups tell the words and ids that other operations take', async () => {
  const { lookups } = (await admin.getLookups()).data;
  assert.ok(lookups.billingCycles.length >= 9);
  assert.deepEqual(
    lookups.countries.find((country) => country.code === 'PK'),
    { id: 586, code: 'PK', alpha3: 'PAK' },
  );
  assert.deepEqual(lookups.planTypes, ['BASE_PLAN', 'ADDON_PLAN', 'ONE_TIME_PLAN']);
  assert.ok(lookups.postTypes.includes('Post Subscription'));
  assert.ok(lookups.paymentMethods.includes('DirectDebit'));
});
