// Creating subscriptions: what is stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { openStrictOffer } from '../support/strict-offer.ts';
import { day, newMeter, newOffer, newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, offer, serviceCode, owner, plain, make, storesNothing } = await openStrictOffer(
  scene,
  'subscriptions',
);

type Shown = Awaited<ReturnType<typeof shown>>;

/** A value in every field of a new subscription. */
function everything(meter: number, payer: number) {
  return {
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
  };
}

const noBalances = [
  { title: 'Receivable', balance: 0 },
  { title: 'Advance', balance: 0 },
  { title: 'Security Deposit', balance: 0 },
  { title: 'Disputed', balance: 0 },
];

const shownAddress = {
  title: null,
  shopNo: null,
  buildingNo: '1',
  buildingName: null,
  street: null,
  block: null,
  society: null,
  city: 'Lahore',
  countryId: 586,
};

/** A meter as it is shown on the day on which it was installed. */
function shownMeter(meter: number) {
  const today = day(0);
  return {
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
  };
}

function shownUsers(payer: number) {
  const term = { fromDate: day(0), toDate: null };
  return [
    { partyID: 2, partyNumber: payer, partyName: 'B. Payer', role: 'Payer', ...term },
    { partyID: 1, partyNumber: owner, partyName: 'A. Khan', role: 'Owner', ...term },
  ];
}

/** What get-connections shows of such a subscription on the day on which it was made. */
function shownOfEverything(one: Shown, meter: number, payer: number) {
  const today = day(0);
  return {
    id: one.id,
    connectionNumber: one.connectionNumber,
    connectionRefNo: 'REF-1',
    serviceCode,
    tariffCode: offer.tariffCode,
    tariffLabel: 'Domestic',
    batchCode: 'B01',
    status: 'Active',
    disconnectionKind: null,
    dunningHold: null,
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
    ...shownMeter(meter),
    unmeteredInputs: [
      { name: 'lamps', value: '3', fromDate: today, toDate: day(4) },
      { name: 'lamps', value: '4', fromDate: day(5), toDate: null },
    ],
    accounts: noBalances,
    address: shownAddress,
    users: shownUsers(payer),
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
  };
}

test('make-connections stores all that was sent, and get-connections shows it', async () => {
  const payer = await newParty(admin, 'B. Payer');
  const meter = await newMeter(admin);
  const made = await make(everything(meter, payer));
  assert.deepEqual(made.data, {});
  const number = made.headers.get('x-connection-number') ?? '';
  assert.match(number, new RegExp(`^${serviceCode}-\\d{8}$`));
  assert.equal(made.message, `Subscription ${number} created`);
  const one = await shown(admin, number);
  assert.equal(one.connectionNumber, number);
  assert.equal(String(one.id), made.headers.get('x-resource-id'));
  const { createdAt, modifiedAt, ts, variants, ...facts } = one;
  const today = day(0);
  assert.deepEqual(facts, shownOfEverything(one, meter, payer));
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
