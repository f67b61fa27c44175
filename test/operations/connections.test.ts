// Creating subscriptions: what is stored, and every rule that can refuse one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import {
  type Connection,
  day,
  newMeter,
  newOffer,
  newParty,
  shown,
  subscribe,
} from '../support/subscriptions.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('subscriptions');
await scene.enter(admin);

const offer = await newOffer(admin, {
  connectionInputs: [
    { name: 'load', type: 'Number', required: 1, minValue: '1', maxValue: '50' },
    { name: 'phase', type: 'Select', options: ['Single', 'Three'], defaultValue: 'Single' },
    { name: 'plot', type: 'Text', unique: 1, pattern: '[A-Z]{1,2}-[0-9]{1,4}' },
    { name: 'since', type: 'Date' },
    { name: 'shared', type: 'Boolean' },
  ],
  unmeteredInputs: [{ name: 'lamps', minValue: '0', maxValue: '20', decimals: 0 }],
  values: [
    { name: 'rate', type: 'Number', default: '20', overridable: 1 },
    { name: 'spare', type: 'Number', default: '1' },
    { name: 'needed', type: 'Number', default: null },
  ],
  batches: [{ batchCode: 'B01' }, { batchCode: 'OLD', archiveStatus: 1 }],
});
const { serviceCode } = offer;
await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Internet' });
await newTariff(admin, serviceCode, {
  planType: 'ADDON_PLAN',
  uniqueLabel: 'Gone',
  visibility: 'Hidden',
});
const owner = await newParty(admin);
const plain: Connection = {
  ...offer,
  connectionInputs: [{ name: 'load', value: '5' }],
  users: [{ partyNumber: owner }],
};

function make(fields: object, options: { batchUpload?: boolean } = {}) {
  const connection = { ...plain, ...fields } as Connection;
  return admin.makeConnections({ batchUpload: options.batchUpload ?? false, connection });
}

/** Nothing is stored of a call that is refused: not a row, not a number of a series. */
async function storesNothing(work: () => Promise<void>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}

test('make-connections stores all that was sent, and get-connections shows it', async () => {
  const payer = await newParty(admin, 'B. Payer');
  const meter = await newMeter(admin);
  const made = await make({
    batchCode: 'B01',
    addonTariffLabels: [{ label: 'Internet', quantity: '2', fromDate: day(10) }],
    connectionRefNo: ' REF-1 ',
    description: 'Corner house',
    paymentMethod: 'Bank',
    projectName: 'Green Town',
    connectionInputs: [
      { name: 'load', value: '7.5' },
      { name: 'plot', value: 'AB-12' },
      { name: 'since', value: '29/02/2024' },
      { name: 'shared', value: 'true' },
      { name: 'phase', value: '' },
    ],
    unmeteredInputs: [
      { name: 'lamps', value: 4, fromDate: day(5) },
      { name: 'lamps', value: '3' },
    ],
    meters: [{ number: meter, initialReading: '120' }],
    users: [
      { partyNumber: payer, role: 'Payer' },
      { partyNumber: owner, role: 'Owner', connectionGroupLabel: 'House 1' },
    ],
    variants: [
      { name: 'rate', value: '18.5', fromDate: day(0), toDate: day(30), reason: 'agreed' },
      { colour: 'blue' },
    ],
    address: { buildingNo: '1', city: 'Lahore', countryId: 586 },
  });
  assert.deepEqual(made.data, {});
  const number = made.headers.get('x-connection-number') ?? '';
  assert.match(number, new RegExp(`^${serviceCode}-\\d{8}$`));
  assert.equal(made.message, `Subscription ${number} created`);
  const one = await shown(admin, number);
  assert.equal(String(one.id), made.headers.get('x-resource-id'));
  const { createdAt, modifiedAt, ts, variants, ...facts } = one;
  const today = day(0);
  assert.deepEqual(facts, {
    id: one.id,
    connectionNumber: number,
    connectionRefNo: 'REF-1',
    serviceCode,
    tariffCode: offer.tariffCode,
    tariffLabel: 'Domestic',
    batchCode: 'B01',
    status: 'Active',
    disconnectionKind: null,
    chargingType: 'Postpaid',
    postType: 'Post Subscription',
    connectionDate: today.replaceAll('/', ''),
    billedThrough: day(-1).replaceAll('/', ''),
    description: 'Corner house',
    paymentMethod: 'Bank',
    projectName: 'Green Town',
    partyID: 1,
    partyNumber: owner,
    partyName: 'A. Khan',
    connectionGroupID: one.connectionGroupID,
    connectionGroupLabel: 'House 1',
    connectionInputs: [
      { name: 'load', value: '7.5' },
      { name: 'plot', value: 'AB-12' },
      { name: 'since', value: '29/02/2024' },
      { name: 'shared', value: 'true' },
    ],
    meteredConnectionInputs: [
      {
        name: 'energy',
        meterNumber: meter,
        register: 'kWh',
        unit: 'kWh',
        openingReading: '120',
        openingDate: today,
        lastReading: '120',
        lastReadingDate: today,
        lastReadingType: 'Installation',
      },
    ],
    unmeteredInputs: [
      { name: 'lamps', value: '3', fromDate: today, toDate: day(4) },
      { name: 'lamps', value: '4', fromDate: day(5), toDate: null },
    ],
    meters: [
      {
        number: meter,
        meterType: 'Electric single phase',
        brand: 'Itron',
        mf: 1,
        status: 'Active',
        meterHealth: 'ok',
        installDate: today,
        removeDate: null,
        registers: [{ register: 'kWh', unit: 'kWh', lastReading: '120', lastReadingDate: today }],
      },
    ],
    accounts: [
      { title: 'Receivable', balance: 0 },
      { title: 'Advance', balance: 0 },
      { title: 'Security Deposit', balance: 0 },
      { title: 'Disputed', balance: 0 },
    ],
    address: {
      title: null,
      shopNo: null,
      buildingNo: '1',
      buildingName: null,
      street: null,
      block: null,
      society: null,
      city: 'Lahore',
      countryId: 586,
    },
    users: [
      {
        partyID: 2,
        partyNumber: payer,
        partyName: 'B. Payer',
        role: 'Payer',
        fromDate: today,
        toDate: null,
      },
      {
        partyID: 1,
        partyNumber: owner,
        partyName: 'A. Khan',
        role: 'Owner',
        fromDate: today,
        toDate: null,
      },
    ],
    addOns: [
      {
        tariffCode: one.addOns?.[0]?.tariffCode ?? '',
        tariffLabel: 'Domestic',
        quantity: '2',
        fromDate: day(10),
        toDate: null,
        status: 'Pending',
      },
    ],
    documents: [],
    bills: [],
    transfers: [],
    tariffHistory: [{ tariffCode: offer.tariffCode, fromDate: today }],
    statusHistory: [{ status: 'Active', fromDate: today, kind: null, reason: null }],
    createdBy: 'admin@subscriptions.example',
    modifiedBy: 'admin@subscriptions.example',
  });
  assert.equal(createdAt, modifiedAt);
  assert.ok(ts);
  const [variant, free] = variants as Record<string, unknown>[];
  assert.deepEqual(variant, {
    name: 'rate',
    value: '18.5',
    reason: 'agreed',
    fromDate: today,
    toDate: day(30),
    createdAt,
    createdBy: 'admin@subscriptions.example',
  });
  assert.deepEqual(free, { colour: 'blue' });
});

test('fields that are left out have a default: today, batch null, an account named after the number', async () => {
  const number = await subscribe(admin, plain);
  const one = await shown(admin, number);
  assert.equal(one.connectionDate, day(0).replaceAll('/', ''));
  assert.equal(one.batchCode, null);
  assert.equal(one.connectionGroupLabel, number);
  assert.equal(one.address?.city, null);
  const byId = await subscribe(admin, { ...plain, users: [], partyID: 1 });
  assert.equal((await shown(admin, byId)).partyNumber, owner);
  const again = await subscribe(admin, {
    ...plain,
    users: [{ partyNumber: owner, connectionGroupLabel: number }],
  });
  assert.equal((await shown(admin, again)).connectionGroupID, one.connectionGroupID);
});

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

test('a unique input is taken once, and free again when its subscription is closed', async () => {
  const inputs = (value: string) => ({
    connectionInputs: [
      { name: 'load', value: '5' },
      { name: 'plot', value },
    ],
  });
  const first = await subscribe(admin, { ...plain, ...inputs('Q-1') });
  await storesNothing(async () => {
    const { error } = await refuses(make(inputs('Q-1')), 'CONNECTION_INPUTS_MISMATCH');
    assert.deepEqual(
      [error.field, error.details[0]?.code],
      ['connection.connectionInputs[1].value', 'INVALID_INPUT_VALUE'],
    );
    const twice = {
      batchUpload: true,
      connection: ['Q-2', 'Q-2'].map((v) => ({ ...plain, ...inputs(v) })),
    };
    const batch = await refuses(admin.makeConnections(twice), 'CONNECTION_INPUTS_MISMATCH');
    assert.equal(batch.error.details[0]?.field, 'connection[1].connectionInputs[1].value');
  });
  await admin.disconnectConnection({ data: { connectionNumber: first } });
  await admin.closeConnection({ data: { connectionNumber: first } });
  await make(inputs('Q-1'));
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

test('a subscription dated ahead is Pending; one of the past year is caught up', async () => {
  const ahead = await subscribe(admin, { ...plain, connectionDate: day(20, '') });
  const one = await shown(admin, ahead);
  assert.equal(one.status, 'Pending');
  assert.deepEqual(
    one.statusHistory?.map(({ status, fromDate, kind }) => [status, fromDate, kind]),
    [
      ['Pending', day(0), 'Date'],
      ['Active', day(20), null],
    ],
  );
  const past = await shown(
    admin,
    await subscribe(admin, { ...plain, connectionDate: day(-366, '') }),
  );
  assert.deepEqual([past.status, past.billedThrough], ['Active', day(-367, '')]);
});

test('documents and deposits that the context demands make a subscription Pending', async () => {
  const strict = await newOffer(admin, { requiredDocs: ['Identity card', 'Deed'] });
  const base = { ...plain, ...strict, connectionInputs: [] };
  const without = await shown(admin, await subscribe(admin, { ...base, documents: ['Deed'] }));
  assert.deepEqual([without.status, without.statusHistory?.[0]?.kind], ['Pending', 'Documents']);
  const documents = ['Deed', 'Identity card'];
  assert.equal(
    (await shown(admin, await subscribe(admin, { ...base, documents }))).status,
    'Active',
  );
  const secured = await newOffer(admin, { requireDeposit: 1, securityDeposit: 250 });
  const owing = await subscribe(admin, { ...plain, ...secured, connectionInputs: [] });
  const one = await shown(admin, owing);
  assert.deepEqual([one.status, one.statusHistory?.[0]?.kind], ['Pending', 'Deposit']);
  const data = { connectionNumber: owing, activate: true };
  await refuses(admin.updateConnection({ data }), 'DEPOSIT_UNPAID', { statusCode: 422 });
  await admin.updateConnection({ data: { ...data, force: true } });
  assert.equal((await shown(admin, owing)).status, 'Active');
  const { connectionNumber = '' } = without;
  await admin.updateConnection({ data: { connectionNumber, activate: true } });
  const served = await shown(admin, connectionNumber);
  assert.deepEqual(
    [served.status, served.connectionDate, served.documents?.toSorted()],
    ['Active', day(0, ''), ['Deed', 'Identity card']],
  );
});

test('a security deposit is an open item from the beginning, by plan or by context', async () => {
  const byPlan = await newOffer(
    admin,
    {
      securityDeposit: 99,
      connectionInputs: [{ name: 'load', type: 'Number', required: 1 }],
    },
    {
      securityAttributes: [
        { name: 'By load', formula: 'input.load * 150.5', dueAt: 'Connection' },
        { name: 'Later', amount: '10', dueAt: 'FirstBill' },
        { note: 'kept' },
      ],
    },
  );
  const number = await subscribe(admin, { ...plain, ...byPlan });
  const one = await shown(admin, number, { ledger: true });
  assert.deepEqual(
    one.accounts?.map(({ title, balance }) => [title, balance]),
    [
      ['Receivable', 752.5],
      ['Advance', 0],
      ['Security Deposit', 752.5],
      ['Disputed', 0],
    ],
  );
  assert.deepEqual(
    one.ledger?.map((entry) => [entry.type, entry.account, entry.debit, entry.credit]),
    [
      ['Deposit', 'Security Deposit', 0, 752.5],
      ['Deposit', 'Receivable', 752.5, 0],
    ],
  );
  const byContext = await newOffer(admin, { securityDeposit: 99 });
  const plainOne = await subscribe(admin, { ...plain, ...byContext, connectionInputs: [] });
  assert.equal((await shown(admin, plainOne)).accounts?.[0]?.balance, 99);
});
