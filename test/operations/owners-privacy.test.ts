// Two owners of one subscription, one after the other. Each has a login of its own, and nothing
// that belongs to the other owner or names staff appears in any answer to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/operations/catalogue.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
scene.clock.begin(Temporal.Instant.from('2027-01-01T00:00:00Z'));
const password = 'correct horse battery';

const place = await openHandedOver();

/** July is billed to the former owner; the house is handed over on 11 August. */
async function openHandedOver() {
  const admin = await scene.workspace('privacy');
  const clerk = await staffLogin(admin);
  const offer = await newEnergyOffer(clerk);
  const old = await newParty(clerk, 'OLDMARK Former');
  const next = await newParty(clerk, 'NEWMARK Present');
  const tenant = await newParty(clerk, 'OLDMARK Occupant');
  const number = await newMeter(clerk);
  const connection = await subscribe(
    clerk,
    {
      ...offer,
      connectionDate: '01062026',
      billedThrough: '30062026',
      description: 'OLDMARK house',
      users: [
        { partyNumber: old, connectionGroupLabel: 'OLDMARK group' },
        { partyNumber: tenant, role: 'Occupant', fromDate: '01/06/2026' },
      ],
      variants: [
        {
          name: 'rate',
          value: '10',
          fromDate: '01/06/2026',
          toDate: '10/08/2026',
          note: 'OLDMARK',
        },
        { note: 'OLDMARK STAFFMARK variant' },
      ],
      meters: [{ number, installDate: '30/06/2026', initialReading: '0' }],
    } as never,
    { batchUpload: true },
  );
  await clerk.makeNotes({
    notes: [
      { partyNumber: old, text: 'OLDMARK STAFFMARK pays late' },
      { partyNumber: next, text: 'STAFFMARK OLDMARK asked' },
    ],
  });
  const oldLogin = await customerLogin(admin, 'OLDMARK-login', old);
  await oldLogin.makeReadings({
    readings: [
      { number, value: '777', readingDate: '31/07/2026', remark: 'OLDMARK remark' },
      { number, value: '1100', readingDate: '11/08/2026', remark: 'OLDMARK last' },
    ],
  });
  const july = { startDate: '01/07/2026', endDate: '31/07/2026', label: 'OLDMARK July' };
  await bill(clerk, { serviceCode: offer.serviceCode, ...july });
  await clerk.transferConnection({
    data: {
      connectionNumber: connection,
      transferDate: '11/08/2026',
      toPartyNumber: next,
      connectionGroupLabel: 'NEWMARK group',
      readings: [{ number, value: '1100' }],
      reason: 'STAFFMARK reason OLDMARK',
    },
  });
  const days = { startDate: '01/08/2026', endDate: '31/08/2026' };
  const context = { serviceCode: offer.serviceCode, ...days };
  const final = { type: 'Final' as const, connectionNumbers: [connection], label: 'OLDMARK last' };
  await bill(clerk, { ...context, ...final });
  const lines = [{ component: 'energyCharge', amount: 10 }];
  const credit = { billID: 1, lines, reason: 'OLDMARK goodwill', reference: 'OLDMARK-CN' };
  await clerk.makeCreditNotes({ creditNotes: [credit] });
  const newLogin = await customerLogin(admin, 'NEWMARK-login', next);
  return { admin, clerk, number, connection, old, next, context, oldLogin, newLogin };
}

function newEnergyOffer(clerk: TestClient) {
  return newOffer(
    clerk,
    {
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [{ name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 }],
      values: [{ name: 'rate', type: 'Number', default: '10', overridable: 1 }],
      holdRules: [],
    } as never,
    {
      componentRules: [
        { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * rate' },
      ],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
}

async function staffLogin(admin: TestClient): Promise<TestClient> {
  const login = { username: 'STAFFMARK-clerk', name: 'STAFFMARK', password };
  await admin.makeLogins({ logins: [{ ...login, roles: ['Administrator'] }] });
  return loggedIn(admin, login.username);
}

async function customerLogin(admin: TestClient, username: string, partyNumber: number) {
  const login = { username, name: username, password, roles: ['Customer' as const], partyNumber };
  await admin.makeLogins({ logins: [login] });
  return loggedIn(admin, username);
}

async function loggedIn(admin: TestClient, username: string): Promise<TestClient> {
  const client = scene.visitor(admin.workspace);
  const { data } = await client.login({ username, password });
  client.useToken(data.accessToken);
  return client;
}

async function bill(client: TestClient, data: Parameters<typeof newTerm>[1]): Promise<void> {
  const termID = await newTerm(client, data);
  const reading = { operation: 'schedule' as const, data: { termID, reading: 'current' } };
  await client.postMeterReadings(reading);
  await client.generateBills(schedule(termID));
  await client.postBills(schedule(termID));
  await client.publishBills(schedule(termID));
}

const included = { bills: true, payments: true, readings: true, ledger: true };

/** What a login can ask, of itself and of what it may suspect of the other owner. */
async function answersTo(client: TestClient, names: { own: number; other: number }) {
  const { number, connection: connectionNumber } = place;
  const said: string[] = [];
  const note = async (call: Promise<{ data: object; message: string }>) => {
    const answer = await call.catch((error: Error) => ({ data: {}, message: error.message }));
    said.push(JSON.stringify([answer.message, answer.data]));
  };
  for (const filters of [
    included,
    { ...included, fromDate: '01/01/2020', toDate: '31/12/2026' },
    { ...included, meterNumber: number },
    { ...included, connectionGroupLabel: 'OLDMARK group' },
  ]) {
    await note(client.getConnections({ filters }));
    await note(
      client.getConnections({ filters, connectionNumber, page: { pageNumber: 0, size: 9 } }),
    );
  }
  for (const search of ['OLDMARK', 'NEWMARK', connectionNumber, String(number)]) {
    await note(client.getConnections({ filters: included, metaData: { search } }));
  }
  await note(client.getReadings({}));
  await note(client.getReadings({ number, page: { pageNumber: 0, size: 50 } }));
  await note(client.getReadings({ connectionNumber, fromDate: '01/01/2026' }));
  for (const termID of [1, 2, 3]) await note(client.getReadings({ termID }));
  for (const status of ['Billed', 'Locked', 'Accepted', 'Review'] as const) {
    await note(client.getReadings({ status }));
  }
  await note(
    client.makeReadings({ readings: [{ number, value: '777', readingDate: '31/07/2026' }] }),
  );
  for (const partyNumber of [names.own, names.other]) {
    await note(client.getUsers({ partyNumber, includeBills: true }));
  }
  for (const filter of [{}, { connectionNumber }, { termID: 1 }, { partyID: 1 }, { partyID: 2 }]) {
    await note(client.getBills(filter));
  }
  for (const filter of [{}, { connectionNumber }, { partyID: 1 }, { partyID: 2 }]) {
    await note(client.getPayments(filter));
  }
  for (const paymentID of [1, 2]) {
    await note(client.getReceiptDocument({ paymentID }));
    await note(asText(client.getReceiptDocument({ paymentID, format: 'HTML' })));
  }
  await note(client.getStatement({ connectionNumber }));
  for (const partyNumber of [names.own, names.other]) {
    await note(client.getStatement({ partyNumber }));
    await note(asText(client.getStatementDocument({ partyNumber, format: 'HTML' })));
  }
  for (const call of portalCalls(client, names)) await note(call());
  for (const filter of [{}, { connectionNumber }, { partyID: 1 }, { billID: 1 }]) {
    await note(client.getCreditNotes(filter));
  }
  await note(client.getCreditNoteDocument({ creditNoteID: 1 }));
  await note(asText(client.getCreditNoteDocument({ creditNoteID: 1, format: 'HTML' })));
  for (const billID of [1, 2, 3]) {
    await note(client.explainBill({ billID }));
    await note(client.getBillDocument({ billID }));
    await note(asText(client.getBillDocument({ billID, format: 'HTML' })));
  }
  return said;
}

/** What the portal asks besides. */
function portalCalls(client: TestClient, names: { own: number; other: number }) {
  const { connection: connectionNumber } = place;
  return [
    ...[null, names.own, names.other].flatMap((partyNumber) => [
      () => client.getNotes({ partyNumber }),
      () => client.makeNotes({ notes: [{ partyNumber, text: 'No light' }] }),
      () => client.getUsage({ partyNumber }),
      () => client.getUsage({ partyNumber, connectionNumber }),
    ]),
    ...[1, 2, 3].map((billID) => () => client.getPaymentDetails({ billID })),
    () => client.updateOwnDetails({ data: { language: 'en' } }),
  ];
}

async function asText(call: ReturnType<TestClient['getBillDocument']>) {
  const { message, data } = await call;
  return { message, data: { html: Buffer.from(data.base64, 'base64').toString() } };
}

function assertNone(said: readonly string[], markers: readonly RegExp[]): void {
  for (const text of said) {
    for (const marker of markers) {
      const at = text.search(marker);
      assert.equal(at, -1, `${marker} in …${text.slice(Math.max(0, at - 200), at + 100)}`);
    }
  }
}

const staffMarks = [/STAFFMARK/, /admin@privacy/];

test('the questions of this file are all that a customer may ask', () => {
  const asked = operations.filter(([, { access }]) => typeof access === 'object' && access.own);
  assert.deepEqual(asked.map(([name]) => name).sort(), [
    'explainBill',
    'getBillDocument',
    'getBills',
    'getConnections',
    'getCreditNoteDocument',
    'getCreditNotes',
    'getNotes',
    'getPaymentDetails',
    'getPayments',
    'getReadings',
    'getReceiptDocument',
    'getStatement',
    'getStatementDocument',
    'getUsage',
    'getUsers',
    'makeNotes',
    'makeReadings',
    'updateOwnDetails',
  ]);
});

test('a customer sees the own usage by month and how to pay, and none of the other owner', async () => {
  const { oldLogin, newLogin, connection } = place;
  const { usage } = (await oldLogin.getUsage({})).data;
  const energy = usage.find(({ input }) => input === 'energy');
  assert.deepEqual([energy?.connectionNumber, energy?.unit], [connection, 'kWh']);
  assert.equal(energy?.months.length, 13);
  const july = energy?.months.find(({ month }) => month === '07/2026');
  assert.deepEqual(july, { month: '07/2026', quantity: '777', lastYear: null });
  const meter = usage.find(({ meterNumber }) => meterNumber === place.number);
  assert.equal(meter?.months.find(({ month }) => month === '07/2026')?.quantity, '777');
  assert.deepEqual((await newLogin.getUsage({ connectionNumber: connection })).data.usage, []);
  const pay = (await oldLogin.getPaymentDetails({ billID: 1 })).data;
  assert.equal(pay.payable, true);
  assert.match(pay.reference, /^\d{11}$/);
  await refuses(newLogin.getPaymentDetails({ billID: 1 }), 'BILL_NOT_FOUND');
});

test('a customer sees the own credit notes, and none of the other owner', async () => {
  const { oldLogin, newLogin } = place;
  const own = (await oldLogin.getCreditNotes({})).data.creditNotes;
  assert.deepEqual(
    own.map(({ reference, amount }) => [reference, amount]),
    [['OLDMARK-CN', 10]],
  );
  const { contentType } = (await oldLogin.getCreditNoteDocument({ creditNoteID: 1 })).data;
  assert.equal(contentType, 'application/pdf');
  assert.deepEqual((await newLogin.getCreditNotes({})).data.creditNotes, []);
  const other = newLogin.getCreditNoteDocument({ creditNoteID: 1 });
  await refuses(other, 'CREDIT_NOTE_NOT_FOUND');
});

test('the new owner enters no reading of a day before the transfer', async () => {
  const { newLogin, number } = place;
  const reading = { number, value: '1090', readingDate: '10/08/2026' };
  await refuses(newLogin.makeReadings({ readings: [reading] }), 'METER_NOT_ASSIGNED');
});

test('a customer sets no source, type, reference or rollover of a reading', async () => {
  const { newLogin, clerk, number } = place;
  const staffOnly = { source: 'Inspector', externalRef: 'X-1', readingType: 'Actual' as const };
  const reading = { number, value: '1733', readingDate: '31/08/2026', ...staffOnly };
  const { headers } = await newLogin.makeReadings({
    readings: [{ ...reading, remark: 'NEWMARK remark', rollover: true }],
  });
  assert.equal(
    headers.get('x-ignored-fields'),
    ['readingType', 'source', 'externalRef', 'rollover'].map((n) => `readings[0].${n}`).join(','),
  );
  const { readings } = (await clerk.getReadings({ number, fromDate: '31/08/2026' })).data;
  assert.deepEqual(
    readings.map((one) => [one.source, one.externalRef, one.readingType, one.rollover, one.remark]),
    [[null, null, 'Customer', 0, 'NEWMARK remark']],
  );
});

test('nothing of the former owner and no staff name appears in answers to the new owner', async () => {
  const { clerk, context, newLogin, old, next, connection } = place;
  await bill(clerk, { ...context, label: 'August' });
  const said = await answersTo(newLogin, { own: next, other: old });
  assertNone(said, [/OLDMARK/, new RegExp(`:${old}\\b`), /"777"/, /"323"/]);
  assertNone(said, staffMarks);
  const shown = (await newLogin.getConnections({ connectionNumber: connection, filters: included }))
    .data.connections[0];
  assert.deepEqual(
    shown?.transfers?.map(({ fromPartyName, toPartyName, reason, createdBy }) => [
      fromPartyName,
      toPartyName,
      reason,
      createdBy,
    ]),
    [[null, 'NEWMARK Present', null, 'Staff']],
  );
  assert.deepEqual(
    shown?.meteredConnectionInputs?.map((one) => [one.openingReading, one.lastReading]),
    [['1100', '1733']],
  );
  assert.deepEqual(
    shown?.readings?.map((one) => [one.readingDate, one.value, one.consumption]),
    [
      ['31/08/2026', '1733', '633'],
      ['11/08/2026', '1100', '0'],
      ['11/08/2026', '1100', null],
    ],
  );
  assert.deepEqual(
    shown?.bills?.map(({ partyNumber, history }) => [partyNumber, history]),
    [[next, []]],
  );
  assert.ok(shown?.ledger?.length === 1);
});

test('the former owner sees its own days, and nothing of the new owner', async () => {
  const { oldLogin, old, next } = place;
  const said = await answersTo(oldLogin, { own: old, other: next });
  assertNone(said, [/NEWMARK/, /"1733"/, /"633"/, new RegExp(`"partyNumber":${next}\\b`)]);
  assertNone(said, staffMarks);
  const { readings } = (await oldLogin.getReadings({})).data;
  assert.deepEqual(
    readings.map((one) => [one.readingDate, one.consumption, one.remark]),
    [
      ['30/06/2026', null, null],
      ['31/07/2026', '777', 'OLDMARK remark'],
      ['11/08/2026', '323', 'OLDMARK last'],
      ['11/08/2026', '0', null],
    ],
  );
  const { bills } = (await oldLogin.getBills({})).data;
  assert.deepEqual(
    bills.map(({ billedTo, history }) => [billedTo, history.map(({ quantity }) => quantity)]),
    [
      ['31/07/2026', []],
      ['10/08/2026', ['777']],
    ],
  );
});

test('operators see the whole past', async () => {
  const { clerk, connection, number } = place;
  const { connections } = (
    await clerk.getConnections({ connectionNumber: connection, filters: included })
  ).data;
  const [one] = connections;
  assert.equal(one?.transfers?.[0]?.fromPartyName, 'OLDMARK Former');
  assert.equal(one?.description, 'OLDMARK house');
  assert.equal(one?.readings?.length, 5);
  assert.equal((await clerk.getReadings({ number })).data.readings.length, 5);
  // Three bills and a credit note.
  assert.equal(one?.ledger?.length, 4);
});
