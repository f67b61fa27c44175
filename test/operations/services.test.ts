// Contexts: what is stored, shown and changed, and what subscribers and bills fix.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import {
  newService,
  newTariff,
  priceOf,
  type Service,
  shownService,
  smallService,
} from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
const admin = await scene.workspace('contexts');
await scene.enter(admin);

const contractFields = `serviceID appCode serviceCode serviceLabel serviceType chargingType
  billingCycleLookupID dueDateOffset postBilling postType paymentSettlementMethod cashAccountID
  businessUnitID securityDeposit description requiredDocs templateID templateName emailTemplateID
  emailTemplateName archiveStatus ts createdAt modifiedAt createdBy modifiedBy`.split(/\s+/);

const full = {
  ...smallService,
  code: 'FULL',
  dueDateOffset: 21,
  description: 'All of it',
  postBilling: 0,
  paymentSettlementMethod: 'Latest First',
  cashAccountID: 7,
  businessUnitID: 3,
  securityDeposit: '12.50',
  requiredDocs: ['Identity card'],
  billRounding: { scale: 0, mode: 'HalfUp' },
  holdRules: [{ name: 'large', when: 'bill.current > 5000', reason: 'large' }],
  readingGraceDays: 3,
  graceDays: 2,
  lateFeeBasis: 'UnpaidAmount',
  autoApplyWallet: 0,
  requireDeposit: 1,
  connectionInputs: [
    { name: 'phase', type: 'Select', options: ['One', 'Three'], required: 1, sequence: 1 },
  ],
  unmeteredInputs: [{ name: 'taps', unit: 'taps', source: 'Subscription', changeInTerm: 'End' }],
  bankAccounts: [
    { title: 'Main', bankName: 'First', iban: 'PK36SCBL0000001123456702', isDefault: 1 },
  ],
  batches: [{ batchCode: 'B01', label: 'Block A', readingDay: 5 }],
  invoiceTemplate: { templateID: null },
  emailTemplate: { templateID: null },
} satisfies Service;

test('create-service stores every field, and get-services reads it back', async () => {
  const made = await admin.createService({ service: full });
  assert.deepEqual(made.data, {});
  const service = await shownService(admin, 'FULL');
  assert.equal(String(service.serviceID), made.headers.get('x-resource-id'));
  const { name, code, billingCycle, securityDeposit, bankAccounts, batches, ...same } = full;
  for (const [key, value] of Object.entries({
    ...same,
    invoiceTemplate: { templateID: 1 },
    serviceCode: code,
    serviceLabel: name,
    billingCycleLookupID: billingCycle,
    securityDeposit: 12.5,
    appCode: 1,
    templateID: 1,
    emailTemplateID: null,
    version: 1,
    effectiveDate: null,
  })) {
    if (key === 'code') continue;
    assert.deepEqual(service[key as keyof typeof service], value, key);
  }
  assert.partialDeepStrictEqual(service.bankAccounts, bankAccounts);
  assert.deepEqual(
    service.batches?.map((batch) => [batch.batchCode, batch.label, batch.readingDay]),
    [
      ['DEFAULT', 'Default', null],
      ['B01', 'Block A', 5],
    ],
  );
});

test("a list of contexts has exactly the contract's fields; an unknown code is an empty list", async () => {
  const { data } = await admin.getServices();
  const listed = data.services.find((service) => service.serviceCode === 'FULL');
  assert.deepEqual(Object.keys(listed ?? {}).sort(), contractFields.toSorted());
  assert.equal(listed?.templateName, 'Bill');
  assert.deepEqual((await admin.getServices({ serviceCode: 'NONE' })).data.services, []);
});

test('create-service refuses what is missing, malformed, taken or unknown, and stores nothing', async () => {
  const before = (await admin.getServices()).data.services.length;
  const create = (fields: object) =>
    admin.createService({ service: { ...smallService, code: 'NEW', ...fields } });
  for (const field of ['name', 'serviceType', 'chargingType', 'postType', 'billingCycle']) {
    await refuses(create({ [field]: undefined }), 'REQUIRED_FIELD', { field: `service.${field}` });
  }
  await refuses(create({ code: 'no' }), 'INVALID_FORMAT', { field: 'service.code' });
  await refuses(create({ code: 'FULL' }), 'DUPLICATE', { field: 'service.code', statusCode: 409 });
  await refuses(create({ postType: 'Post' }), 'INVALID_ENUM', { field: 'service.postType' });
  await refuses(create({ billingCycle: 99 }), 'PERIOD_NOT_FOUND', { statusCode: 404 });
  await refuses(create({ dueDateOffset: 366 }), 'INVALID_NUMBER');
  await refuses(create({ dueDateOffset: 'x' }), 'INVALID_TYPE');
  await refuses(create({ securityDeposit: '1.234' }), 'INVALID_NUMBER', {
    field: 'service.securityDeposit',
  });
  for (const [key, templateID] of [
    ['invoiceTemplate', 2],
    ['emailTemplate', 77],
  ] as const) {
    await refuses(create({ [key]: { templateID } }), 'TEMPLATE_NOT_FOUND', {
      field: `service.${key}.templateID`,
      statusCode: 404,
    });
  }
  assert.equal((await admin.getServices()).data.services.length, before);
});

test('update-service changes what is sent, keeps the rest and counts versions', async () => {
  const code = await newService(admin, { description: 'before', dueDateOffset: 3 });
  const before = await shownService(admin, code);
  const { ts } = before;
  await admin.updateService({ service: { code, dueDateOffset: 9, securityDeposit: 5, ts } });
  const after = await shownService(admin, code);
  assert.equal(after.dueDateOffset, 9);
  assert.equal(after.securityDeposit, 5);
  assert.equal(after.description, 'before');
  assert.deepEqual(after.values, before.values);
  assert.equal(after.version, 2);
  assert.ok(after.ts > ts);
  await admin.updateService({ service: { code, securityDeposit: null } });
  assert.equal((await shownService(admin, code)).securityDeposit, null);
  await refuses(admin.updateService({ service: { code, name: 'late', ts } }), 'STALE_OBJECT', {
    field: 'service.ts',
    statusCode: 409,
  });
  const { data } = await admin.getAudit({ subject: 'pricing context', subjectID: code } as never);
  assert.equal(data.entries.length, 3);
});

test('two updates at once are both kept, one after the other; by ts only one passes', async () => {
  const code = await newService(admin);
  const { ts } = await shownService(admin, code);
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  await Promise.all([update({ description: 'one' }), update({ dueDateOffset: 30 })]);
  const both = await shownService(admin, code);
  assert.deepEqual([both.description, both.dueDateOffset, both.version], ['one', 30, 3]);
  const guarded = [1, 2, 3, 4].map((day) => update({ dueDateOffset: day, ts: both.ts }));
  const outcomes = await Promise.allSettled(guarded);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  await refuses(update({ ts }), 'STALE_OBJECT');
});

test('the code of a context cannot change', async () => {
  const code = await newService(admin);
  const other = await newService(admin);
  const { serviceID } = await shownService(admin, other);
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  for (const fields of [{ serviceID }, { newCode: 'OTHER' }, { code: 'RENAMED', serviceID }]) {
    await refuses(update(fields), 'SERVICE_CODE_IMMUTABLE', { statusCode: 422 });
  }
  await refuses(update({ code: 'NONE' }), 'SERVICE_NOT_FOUND', {
    field: 'service.code',
    statusCode: 404,
  });
  await update({ serviceID: (await shownService(admin, code)).serviceID, newCode: code });
});

const states = { Closed: 'Closed', Pending: 'Pending' } as const;

async function subscribed(
  serviceCode: string,
  status: keyof typeof states,
  postType: string,
): Promise<void> {
  const partyNumber = await newParty(admin);
  const users = [{ partyNumber }];
  const connection = { serviceCode, tariffCode: 'DOM', postType, users, status: states[status] };
  await subscribe(admin, { ...connection, connectionDate: '01012020' }, { batchUpload: true });
}

test('what subscribers agreed to cannot change while there are any', async () => {
  const code = await newService(admin);
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  await newTariff(admin, code, { code: 'DOM' });
  await update({ postType: 'Post Account' });
  await subscribed(code, 'Closed', 'Post Account');
  await update({ chargingType: 'Prepaid' });
  await subscribed(code, 'Pending', 'Post Account');
  for (const fields of [
    { chargingType: 'Postpaid' },
    { postType: 'Post Party' },
    { serviceType: 'Purchase' },
  ]) {
    const [field] = Object.keys(fields);
    await refuses(update(fields), 'SERVICE_IN_USE', { field: `service.${field}`, statusCode: 409 });
  }
  await update({ chargingType: 'Prepaid', description: 'still' });
});

test('with posted bills a context keeps its type, also without subscriptions', async () => {
  const code = await newService(admin);
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  const days = { startDate: '01/07/2026', endDate: '31/07/2026' };
  const termID = await newTerm(admin, { ...days, serviceCode: code });
  await scene.sql.query(
    `update terms set status = 'Published', stage = 'Published' where term_id = $1`,
    [termID],
  );
  const refusal = { field: 'service.serviceType', statusCode: 409 };
  await refuses(update({ serviceType: 'Purchase' }), 'SERVICE_IN_USE', refusal);
  await update({ postType: 'Post Account' });
});

test('an item that a plan uses cannot be removed, and the plan is named', async () => {
  const code = await newService(admin);
  await newTariff(admin, code, { code: 'USES-IT' });
  const { values, components } = smallService;
  for (const fields of [
    { values: values.filter(({ name }) => name !== 'rate') },
    { components: components.slice(1) },
    { meteredInputs: [] },
  ]) {
    const refusal = await refuses(
      admin.updateService({ service: { code, ...(fields as object) } }),
      'IN_USE',
      { field: `service.${Object.keys(fields)[0]}`, statusCode: 409 },
    );
    assert.match(refusal.message, /USES-IT/);
  }
  await admin.updateService({ service: { code, values: values.slice(0, 1) } });
  assert.equal((await shownService(admin, code)).version, 2);
});

test('a version holds from its effective date; the first holds before', async () => {
  const code = await newService(admin);
  const plan = await newTariff(admin, code);
  const values = (rate: string) =>
    smallService.values.map((value) =>
      value.name === 'rate' ? { ...value, default: rate } : value,
    );
  const effectiveDate = '01/07/2031';
  await admin.updateService({ service: { code, values: values('30'), effectiveDate } as never });
  assert.equal(await priceOf(admin, plan, '06/2031'), 2200); // 100 * 20 * 1.1
  assert.equal(await priceOf(admin, plan, '07/2031'), 3300); // 100 * 30 * 1.1
  assert.equal((await shownService(admin, code)).effectiveDate, effectiveDate);
});

test('batches and bank accounts are replaced as whole lists; DEFAULT stays', async () => {
  const code = await newService(admin, { batches: [{ batchCode: 'B1' }, { batchCode: 'B2' }] });
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  const codes = async () =>
    (await admin.getBatches({ serviceCode: code })).data.batches.map((one) => one.batchCode);
  const ids = (await shownService(admin, code)).batches?.map((batch) => batch.batchID);
  await update({ batches: [{ batchCode: 'B3' }, { batchCode: 'B2', label: 'Two' }] });
  assert.deepEqual(await codes(), ['DEFAULT', 'B2', 'B3']);
  assert.equal((await shownService(admin, code)).batches?.[1]?.batchID, ids?.[2]);
  await update({ bankAccounts: [{ title: 'A' }, { title: 'B' }] });
  const [a, b] = (await shownService(admin, code)).bankAccounts ?? [];
  const swapped = [
    { bankAccountID: a?.bankAccountID, title: 'B' },
    { bankAccountID: b?.bankAccountID, title: 'A' },
  ];
  await update({ bankAccounts: swapped });
  assert.deepEqual(
    (await shownService(admin, code)).bankAccounts?.map((one) => one.title),
    ['B', 'A'],
  );
  const unknown = { bankAccounts: [{ bankAccountID: 999, title: 'C' }] };
  await refuses(update(unknown), 'BANK_ACCOUNT_NOT_FOUND', { statusCode: 404 });
  await refuses(update({ batches: [{ batchCode: 'X', billingPeriodID: 77 }] }), 'PERIOD_NOT_FOUND');
  await update({ bankAccounts: [], batches: [] });
  assert.deepEqual(await codes(), ['DEFAULT']);
  assert.ok((await admin.getBatches()).data.batches.length > 3);
});

test('the currency of a workspace is fixed once it has a context', async () => {
  const fresh = await scene.workspace('currencies');
  await fresh.updateSettings({ data: { currencyDecimals: 3 } });
  const rounding = { scale: 3, mode: 'HalfUp' as const };
  await newService(fresh, { billRounding: rounding });
  for (const data of [{ currencyDecimals: 2 }, { currency: 'USD' }]) {
    await refuses(fresh.updateSettings({ data }), 'IN_USE', { statusCode: 409 });
  }
});

test('an item that subscriptions use cannot be removed; an unused one can', async () => {
  const service = {
    values: [
      ...smallService.values,
      { name: 'own', type: 'Number' as const, default: '1', overridable: 1 as const },
    ],
    connectionInputs: [
      { name: 'load', type: 'Number' as const },
      { name: 'floor', type: 'Text' as const },
    ],
    unmeteredInputs: [{ name: 'lamps', defaultValue: '0' }, { name: 'taps' }],
    batches: [{ batchCode: 'B01' }, { batchCode: 'B02' }],
  };
  const code = await newService(admin, service);
  await newTariff(admin, code, { code: 'DOM', componentRules: [] });
  const meter = await newMeter(admin);
  const connection = {
    serviceCode: code,
    tariffCode: 'DOM',
    postType: 'Post Subscription',
    batchCode: 'B01',
    users: [{ partyNumber: await newParty(admin) }],
    connectionInputs: [{ name: 'load', value: '5' }],
    unmeteredInputs: [{ name: 'lamps', value: '2' }],
    variants: [{ name: 'own', value: '2' }],
    meters: [meter],
  };
  const connectionNumber = await subscribe(admin, connection);
  const update = (fields: object) => admin.updateService({ service: { code, ...fields } });
  const without = {
    connectionInputs: service.connectionInputs.slice(1),
    unmeteredInputs: service.unmeteredInputs.slice(1),
    values: smallService.values,
    meteredInputs: [],
    batches: [{ batchCode: 'B02' }],
  };
  for (const [list, left] of Object.entries(without)) {
    const expected = { field: `service.${list}`, statusCode: 409 };
    await refuses(update({ [list]: left }), 'IN_USE', expected);
  }
  await update({ connectionInputs: service.connectionInputs.slice(0, 1) });
  await update({ unmeteredInputs: service.unmeteredInputs.slice(0, 1) });
  await admin.disconnectConnection({ data: { connectionNumber, kind: 'Permanent' } });
  await admin.closeConnection({ data: { connectionNumber } });
  const { batches: _stays, ...rest } = without;
  await update(rest);
});
