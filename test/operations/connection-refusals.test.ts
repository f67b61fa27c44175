// Creating subscriptions: every rule that can refuse one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { openStrictOffer } from '../support/strict-offer.ts';
import { day, newMeter, newOffer, newParty, shown } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, serviceCode, owner, plain, make, storesNothing } = await openStrictOffer(
  scene,
  'subscription-refusals',
);
// Party 2, for keys that name two parties.
await newParty(admin, 'B. Payer');

type Refusal = [fields: object, code: string, field: string, statusCode: number];

const codes: Refusal[] = [
  [{ serviceCode: 'NONE' }, 'SERVICE_NOT_FOUND', 'serviceCode', 404],
  [{ tariffCode: 'NONE' }, 'PLAN_NOT_FOUND', 'tariffCode', 404],
  [{ batchCode: 'NONE' }, 'BATCH_NOT_FOUND', 'batchCode', 404],
  [{ batchCode: 'OLD' }, 'BATCH_NOT_FOUND', 'batchCode', 404],
  [{ addonTariffLabels: ['Internet', 'None'] }, 'ADDON_NOT_FOUND', 'addonTariffLabels[1]', 422],
  [{ addonTariffLabels: ['Gone'] }, 'ADDON_NOT_FOUND', 'addonTariffLabels[0]', 422],
  [{ addonTariffLabels: ['Internet', 'Internet'] }, 'DUPLICATE', 'addonTariffLabels[1]', 409],
  [
    { addonTariffLabels: [{ label: 'Internet', quantity: 1e-7 }] },
    'INVALID_NUMBER',
    'addonTariffLabels[0].quantity',
    400,
  ],
  [
    { addonTariffLabels: [{ label: 'Internet', quantity: '-1' }] },
    'INVALID_NUMBER',
    'addonTariffLabels[0].quantity',
    400,
  ],
  [{ postType: 'Post Account' }, 'POST_TYPE_MISMATCH', 'postType', 422],
  [{ postType: 'post subscription' }, 'POST_TYPE_MISMATCH', 'postType', 422],
  [{ users: [] }, 'OWNER_REQUIRED', 'users', 422],
  [{ users: [{ partyNumber: owner, role: 'Payer' }] }, 'OWNER_REQUIRED', 'users', 422],
  [{ users: [{ partyNumber: 999 }] }, 'PARTY_NOT_FOUND', 'users[0].partyNumber', 404],
  [{ users: [{ partyID: 999 }] }, 'PARTY_NOT_FOUND', 'users[0].partyID', 404],
  [{ users: [{}] }, 'REQUIRED_FIELD', 'users[0]', 400],
  [{ users: [{ role: 'Boss', partyID: 1 }] }, 'INVALID_ENUM', 'users[0].role', 400],
  [
    { users: [{ partyID: 2, partyNumber: owner }] },
    'PARTY_KEY_MISMATCH',
    'users[0].partyNumber',
    422,
  ],
  [{ partyID: 2 }, 'PARTY_KEY_MISMATCH', 'partyID', 422],
  [{ users: [], partyID: 999 }, 'PARTY_NOT_FOUND', 'partyID', 404],
  [{ users: [{ partyNumber: owner, fromDate: day(1) }] }, 'INVALID_DATE', 'users[0].fromDate', 400],
  [
    { variants: [{ name: 'spare', value: '1' }] },
    'VARIANT_NOT_OVERRIDABLE',
    'variants[0].name',
    422,
  ],
  [
    { variants: [{ name: 'none', value: '1' }] },
    'VARIANT_NOT_OVERRIDABLE',
    'variants[0].name',
    422,
  ],
  [{ variants: [{ name: 'rate', value: 'dear' }] }, 'INVALID_NUMBER', 'variants[0].value', 400],
  [
    { variants: [{ name: 'rate', value: '1', fromDate: '31/02/2026' }] },
    'INVALID_DATE',
    'variants[0].fromDate',
    400,
  ],
  [
    {
      variants: [
        { name: 'rate', value: '1' },
        { name: 'rate', value: '2' },
      ],
    },
    'DUPLICATE',
    'variants[1].name',
    409,
  ],
  [{ connectionDate: day(-367, '') }, 'DATE_TOO_FAR_BACK', 'connectionDate', 422],
  [{ connectionDate: '31022026' }, 'INVALID_DATE', 'connectionDate', 400],
  [
    { accounts: [{ title: 'Receivable', balance: 5 }] },
    'OPENING_BALANCE_NOT_ALLOWED',
    'accounts',
    422,
  ],
  [{ connectionNumber: 'OWN-1' }, 'BATCH_UPLOAD_REQUIRED', 'connectionNumber', 422],
  [{ status: 'Active' }, 'BATCH_UPLOAD_REQUIRED', 'status', 422],
  [{ billedThrough: '01012026' }, 'BATCH_UPLOAD_REQUIRED', 'billedThrough', 422],
  [{ paymentMethod: 'Gold' }, 'INVALID_ENUM', 'paymentMethod', 400],
  [{ meters: [424242] }, 'METER_NOT_REGISTERED', 'meters[0].number', 422],
  [
    { unmeteredInputs: [{ name: 'lamps', value: '2', fromDate: day(-3) }] },
    'INVALID_DATE',
    'unmeteredInputs[0].fromDate',
    400,
  ],
];

for (const [fields, code, field, statusCode] of codes) {
  test(`make-connections refuses ${JSON.stringify(fields)} with ${code}`, async () => {
    await storesNothing(async () => {
      const expected = { field: `connection.${field}`, statusCode };
      await refuses(make(fields), code as 'DUPLICATE', expected);
    });
  });
}

const wrongInputs: [inputs: object[], details: [field: string, code: string][]][] = [
  [[], [['', 'MISSING_INPUT']]],
  [[{ name: 'load', value: '' }], [['', 'MISSING_INPUT']]],
  [[{ name: 'load', value: null }], [['', 'MISSING_INPUT']]],
  [
    [
      { name: 'load', value: '5' },
      { name: 'laod', value: '5' },
    ],
    [['[1].name', 'UNKNOWN_INPUT']],
  ],
  [
    [
      { name: 'load', value: '5' },
      { name: 'load', value: '6' },
    ],
    [['[1].name', 'DUPLICATE_INPUT']],
  ],
  [[{ name: 'load', value: 'five' }], [['[0].value', 'INVALID_INPUT_VALUE']]],
  [[{ name: 'load', value: '0.5' }], [['[0].value', 'INVALID_INPUT_VALUE']]],
  [[{ name: 'load', value: '51' }], [['[0].value', 'INVALID_INPUT_VALUE']]],
  [
    [
      { name: 'load', value: '5' },
      { name: 'phase', value: 'Two' },
      { name: 'plot', value: 'AB12' },
      { name: 'since', value: '2024-01-01' },
      { name: 'shared', value: 'yes' },
    ],
    [1, 2, 3, 4].map((at): [string, string] => [`[${at}].value`, 'INVALID_INPUT_VALUE']),
  ],
];

test('connectionInputs that do not match the context are named one by one', async () => {
  await storesNothing(async () => {
    for (const [connectionInputs, details] of wrongInputs) {
      const refusal = await refuses(make({ connectionInputs }), 'CONNECTION_INPUTS_MISMATCH', {
        statusCode: 422,
      });
      assert.deepEqual(
        refusal.error.details.map((detail) => [detail.field, detail.code]),
        details.map(([place, code]) => [`connection.connectionInputs${place}`, code]),
      );
    }
  });
});

test('the last day of a quantity cannot be set, and the field is named as ignored', async () => {
  const ending = { name: 'lamps', value: '2', fromDate: day(0), toDate: day(3) };
  const { headers } = await make({ unmeteredInputs: [ending] });
  assert.equal(headers.get('x-ignored-fields'), 'connection.unmeteredInputs[0].toDate');
  const one = await shown(admin, headers.get('x-connection-number') ?? '');
  assert.equal(one.unmeteredInputs?.[0]?.toDate, null);
});

test('unmeteredInputs are checked by name, number and range', async () => {
  const wrong: [object, string][] = [
    [{ name: 'none', value: '1' }, 'UNKNOWN_INPUT'],
    [{ name: 'lamps', value: '21' }, 'INVALID_INPUT_VALUE'],
    [{ name: 'lamps', value: '-1' }, 'INVALID_INPUT_VALUE'],
    [{ name: 'lamps', value: '1.5' }, 'INVALID_INPUT_VALUE'],
  ];
  await storesNothing(async () => {
    for (const [item, code] of wrong) {
      const call = make({ unmeteredInputs: [item] });
      const { error } = await refuses(call, 'CONNECTION_INPUTS_MISMATCH');
      assert.equal(error.details[0]?.code, code);
    }
  });
  const asking = await newOffer(admin, { unmeteredInputs: [{ name: 'taps', required: 1 }] });
  const call = make({ ...asking, connectionInputs: [] });
  const { error } = await refuses(call, 'CONNECTION_INPUTS_MISMATCH');
  assert.equal(error.details[0]?.code, 'MISSING_INPUT');
});

test('plans that cannot be subscribed to are refused with different codes', async () => {
  const plans: [object, string][] = [
    [{ abstract: 1 }, 'PLAN_ABSTRACT'],
    [{ planType: 'ADDON_PLAN' }, 'PLAN_NOT_BASE'],
    [{ visibility: 'Hidden' }, 'PLAN_NOT_AVAILABLE'],
  ];
  for (const [fields, code] of plans) {
    const { code: tariffCode } = await newTariff(admin, serviceCode, fields);
    const expected = { field: 'connection.tariffCode', statusCode: 422 };
    await storesNothing(async () => {
      await refuses(make({ tariffCode }), code as 'PLAN_ABSTRACT', expected);
    });
  }
  const { code: once } = await newTariff(admin, serviceCode, { planType: 'ONE_TIME_PLAN' });
  await make({ tariffCode: once });
  const { code: hidden } = await newTariff(admin, serviceCode, { visibility: 'Private' });
  await make({ tariffCode: hidden });
});

test('a custom plan is for the party that took it first', async () => {
  const { code: tariffCode } = await newTariff(admin, serviceCode, { custom: 1 });
  const others = [{ partyNumber: await newParty(admin) }];
  const rows = [
    { ...plain, tariffCode },
    { ...plain, tariffCode, users: others },
  ];
  const both = admin.makeConnections({ batchUpload: true, connection: rows });
  await refuses(both, 'PLAN_NOT_AVAILABLE', { field: 'connection[1].tariffCode' });
  await make({ tariffCode });
  await make({ tariffCode });
  await refuses(make({ tariffCode, users: others }), 'PLAN_NOT_AVAILABLE');
});

test('an archived context and an archived party take no subscriptions', async () => {
  const old = await newOffer(admin);
  await admin.updateService({ service: { code: old.serviceCode, archiveStatus: 1 } });
  await refuses(make({ ...old, connectionInputs: [] }), 'SERVICE_ARCHIVED', {
    field: 'connection.serviceCode',
    statusCode: 422,
  });
  const gone = await newParty(admin);
  await admin.updateUser({ user: { partyNumber: gone, archiveStatus: 1 } });
  await refuses(make({ users: [{ partyNumber: gone }] }), 'PARTY_ARCHIVED', {
    field: 'connection.users[0].partyNumber',
    statusCode: 422,
  });
});

test('a plan of another context, and an add-on of another context, are not found', async () => {
  const other = await newOffer(admin);
  await newTariff(admin, other.serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Foreign' });
  await refuses(make({ tariffCode: other.tariffCode }), 'PLAN_NOT_FOUND');
  await refuses(make({ addonTariffLabels: ['Foreign'] }), 'ADDON_NOT_FOUND');
});

test('several mistakes are all reported, under the code that comes first', async () => {
  const fields = {
    serviceCode,
    tariffCode: 'NONE',
    postType: 'x',
    connectionInputs: [],
    users: [],
  };
  const { error } = await refuses(make(fields), 'PLAN_NOT_FOUND');
  const found = error.details.map((detail) => detail.code).sort();
  assert.deepEqual(found, [
    'MISSING_INPUT',
    'OWNER_REQUIRED',
    'PLAN_NOT_FOUND',
    'POST_TYPE_MISMATCH',
  ]);
  const mismatch = await refuses(make({ postType: 'x' }), 'POST_TYPE_MISMATCH');
  assert.deepEqual((mismatch.error as { allowed?: unknown }).allowed, ['Post Subscription']);
});

test('a meter is assigned once, of an allowed type, in good health, and where one is needed', async () => {
  const metered = await newOffer(admin, {
    meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh', meterTypes: [1], required: 1 }],
  });
  const base = { ...metered, connectionInputs: [] };
  const taken = await newMeter(admin);
  await make({ ...base, meters: [taken] });
  const sick = await newMeter(admin);
  await admin.updateMeter({ data: { number: sick, meterHealth: 'faulty' } });
  const water = await newMeter(admin, { meterType: 3 });
  const fine = await newMeter(admin);
  const wrong: [number[], string, string, number][] = [
    [[taken], 'METER_ALREADY_ASSIGNED', 'meters[0].number', 409],
    [[fine, fine], 'METER_ALREADY_ASSIGNED', 'meters[1].number', 409],
    [[sick], 'METER_NOT_ASSIGNABLE', 'meters[0].number', 422],
    [[water], 'METER_TYPE_NOT_ALLOWED', 'meters[0].number', 422],
    [[], 'METER_REQUIRED', 'meters', 422],
  ];
  await storesNothing(async () => {
    for (const [meters, code, field, statusCode] of wrong) {
      const { error, statusCode: answered } = await refuses(
        make({ ...base, meters }),
        code as 'METER_REQUIRED',
      );
      assert.deepEqual([error.field, answered], [`connection.${field}`, statusCode]);
    }
  });
  await make({ ...base, meters: [fine] });
  const two = await newOffer(
    admin,
    {
      meteredInputs: [
        { name: 'peak', unit: 'kWh' },
        { name: 'other', unit: 'kWh' },
      ],
    },
    { componentRules: [] },
  );
  const meters = [await newMeter(admin)];
  await refuses(make({ ...two, connectionInputs: [], meters }), 'METER_BINDING_AMBIGUOUS');
});
