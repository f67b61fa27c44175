import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { ask } from '../support/http.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('fields', { sandbox: true });
const headers = { 'X-Workspace': 'fields', Authorization: admin.token ?? '' };

async function ignored(body: object): Promise<string | null> {
  const words = { method: 'Create', action: 'Create Parties', apiVersion: 'v2' };
  const sent = { ...words, userType: 'customer', users: [{ name: 'A' }], ...body };
  const answered = await ask(scene.baseUrl, '/billing/users/make-users', {
    headers,
    body: JSON.stringify(sent),
  });
  assert.equal(answered.envelope.success, true, answered.text);
  return answered.headers.get('x-ignored-fields');
}

test('unknown fields are ignored and named with their paths', async () => {
  assert.equal(await ignored({}), null);
  const users = [{ name: 'A' }, { name: 'B', nick: 'b', contacts: [], address: { planet: 1 } }];
  assert.equal(await ignored({ colour: 1, users }), 'users[1].nick,users[1].address.planet,colour');
  assert.equal(await ignored({ method2: 1, Method: 'Create' }), 'method2,Method');
});

test('at most 20 unknown fields are named', async () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]));
  const names = (await ignored(many))?.split(',') ?? [];
  assert.equal(names.length, 20);
  assert.equal(names[0], 'f0');
});

test('names that would break a header are written so that they cannot', async () => {
  const odd = { 'a\r\nSet-Cookie: x=1': 1, 'é,😀': 1, 'half \ud800': 1, 'a/b': 1, '': 1 };
  const header = (await ignored(odd)) ?? '';
  assert.match(header, /^[\x21-\x7e]+$/);
  assert.deepEqual(header.split(','), [
    'a%0D%0ASet-Cookie%3A%20x%3D1',
    '%C3%A9%2C%F0%9F%98%80',
    'half%20%EF%BF%BD',
    'a/b',
    '',
  ]);
});

test('many long unknown names leave the answer readable', async () => {
  const long = Object.fromEntries(Array.from({ length: 40 }, (_, i) => ['界'.repeat(300) + i, i]));
  const header = (await ignored(long)) ?? '';
  assert.ok(header.length > 0 && header.length <= 4096, `${header.length} characters`);
});

test('__proto__ and constructor are unknown fields like any other', async () => {
  const body = JSON.stringify({ method: 'Create', action: 'Create Parties', apiVersion: 'v2' });
  const answered = await ask(scene.baseUrl, '/billing/users/make-users', {
    headers,
    body:
      `${body.slice(0, -1)},"__proto__":{"userType":"customer"},"constructor":1,` +
      `"users":[{"__proto__":{"name":"A"},"country":"PK"}]}`,
  });
  assert.equal(answered.envelope.statusCode, 400);
  assert.deepEqual(
    answered.envelope.error?.details.map((detail) => [detail.field, detail.code]),
    [
      ['userType', 'REQUIRED_FIELD'],
      ['users[0].name', 'REQUIRED_FIELD'],
    ],
  );
  assert.equal(
    answered.headers.get('x-ignored-fields'),
    '__proto__,constructor,users[0].__proto__',
  );
  assert.equal(({} as { userType?: string }).userType, undefined);
});

test('unknown metaData keys are ignored and named; known ones of the wrong kind are refused', async () => {
  const metaData = { sortBy: 'name', colour: 'red', Search: 'x' } as object;
  const listed = await admin.listUsers({ metaData });
  assert.equal(listed.headers.get('x-ignored-fields'), 'metaData.colour,metaData.Search');
  const wrong = [
    [{ sortBy: 'email' }, 'INVALID_FILTER_VALUE', 'metaData.sortBy'],
    [{ sortOrder: 'up' }, 'INVALID_FILTER_VALUE', 'metaData.sortOrder'],
    [{ includeArchived: 'yes' }, 'INVALID_TYPE', 'metaData.includeArchived'],
    [{ updatedSince: -1 }, 'INVALID_FILTER_VALUE', 'metaData.updatedSince'],
    [{ updatedSince: 1e300 }, 'INVALID_FILTER_VALUE', 'metaData.updatedSince'],
    [{ fields: 'name' }, 'INVALID_TYPE', 'metaData.fields'],
  ] as const;
  for (const [sent, code, field] of wrong) {
    await refuses(admin.listUsers({ metaData: sent as never }), code, { field });
  }
  await admin.listUsers({ metaData: null });
});

test('a list that does not sort or search names the options for it as ignored', async () => {
  const options = {
    sortBy: 'colour',
    sortOrder: 'desc',
    search: 'x',
    includeArchived: true,
    updatedSince: 1,
    language: 'en',
  };
  const metaData = { ...options, fields: ['status'] } as object;
  const named = Object.keys(options).map((key) => `metaData.${key}`);
  for (const listed of [
    await admin.getDeliveries({ metaData }),
    await admin.getPrintFiles({ metaData }),
    await admin.getJobs({ metaData }),
    await admin.getReadings({ metaData }),
  ]) {
    assert.deepEqual(listed.headers.get('x-ignored-fields')?.split(','), named);
  }
});

test('a page outside its limits is INVALID_PAGE, one past the end is empty', async () => {
  const wrong = [
    { pageNumber: -1, size: 10 },
    { pageNumber: 0, size: 0 },
    { pageNumber: 0, size: 1001 },
    { pageNumber: 0.5, size: 10 },
    { pageNumber: '0', size: 10 },
    { pageNumber: 0, size: null },
    { pageNumber: 0 },
    {},
    [],
    'all',
    0,
  ];
  for (const page of wrong) {
    const { error } = await refuses(admin.listUsers({ page: page as never }), 'INVALID_PAGE');
    assert.match(error.field ?? '', /^page/, JSON.stringify(page));
  }
  for (const pageNumber of [1, 2_147_483_647, 9_000_000_000]) {
    const { data, headers } = await admin.listUsers({ page: { pageNumber, size: 1000 } });
    assert.deepEqual(data.users, []);
    assert.equal(
      headers.get('x-total-count'),
      (await admin.listUsers()).headers.get('x-total-count'),
    );
  }
});

test('dates that no calendar has are refused', async () => {
  const wrong = ['31/02/2026', '29/02/2025', '00/01/2026', '01/13/2026', '1/1/2026', '2026-01-01'];
  for (const fromDate of [...wrong, '01/01/0000', '01/01/26', '', ' 01/01/2026']) {
    await refuses(admin.getAudit({ fromDate }), 'INVALID_DATE', { field: 'fromDate' });
  }
  for (const fromDate of ['29/02/2024', '31/12/9999', '01/01/1000']) {
    await admin.getAudit({ fromDate, toDate: '31/12/9999' });
  }
  const times = ['2027-02-30T00:00:00', '2027-01-01T24:00:00', '2027-01-01T23:59:60'];
  for (const to of [...times, '2027-01-01', '2027-01-01 24:00:00', '2027-01-01T00:00:00Z']) {
    await refuses(admin.moveClock({ data: { to } }), 'INVALID_DATETIME', { field: 'data.to' });
  }
});

test('a timestamp is accepted with a space or a T, and is returned with a space', async () => {
  const clientSecret = 'a secret of at least thirty-two characters';
  const client = { clientSecret, roles: ['Meter Reader' as const] };
  await admin.makeClients({
    clients: [
      { ...client, clientID: 'with-space', expiresAt: '2099-01-31 23:30:00' },
      { ...client, clientID: 'with-t', expiresAt: '2099-01-31T23:30:00' },
    ],
  });
  const expiries = async () =>
    (await admin.getClients()).data.clients.map((one) => [one.clientID, one.expiresAt]);
  assert.deepEqual(await expiries(), [
    ['with-space', '2099-01-31 23:30:00'],
    ['with-t', '2099-01-31 23:30:00'],
  ]);
  const [[, printed]] = (await expiries()) as [[string, string]];
  await admin.updateClient({ data: { clientID: 'with-t', expiresAt: printed } });
  assert.deepEqual((await expiries())[1], ['with-t', printed]);
});

test('numbers beyond what a number holds, and numbers as text, are refused', async () => {
  for (const partyNumber of [0, -1, 1.5, 1e300, 2 ** 53]) {
    await refuses(
      admin.getUsers({ partyNumber }),
      partyNumber === 1.5 ? 'INVALID_TYPE' : 'INVALID_NUMBER',
      {
        field: 'partyNumber',
      },
    );
  }
  await refuses(admin.getUsers({ partyNumber: '100001' as never }), 'INVALID_TYPE');
  await refuses(admin.getUsers({ partyNumber: null as never }), 'REQUIRED_FIELD');
});

test('texts with a NUL or half a character are refused in every field', async () => {
  for (const text of ['a\u0000b', 'a\ud800b', '\udc00']) {
    const field = 'users[0].name';
    const users = [{ name: text }];
    await refuses(admin.makeUsers({ userType: 'customer', users }), 'INVALID_CHARACTER', { field });
    await refuses(admin.listUsers({ name: text }), 'INVALID_CHARACTER', { field: 'name' });
    const search = { search: text };
    await refuses(admin.listUsers({ metaData: search }), 'INVALID_CHARACTER');
    for (const letterhead of [{ a: text }, { a: { b: [text] } }, { [text]: 'a' }]) {
      await refuses(admin.updateSettings({ data: { letterhead } }), 'INVALID_CHARACTER');
    }
    await refuses(
      admin.updateSettings({ data: { reminders: [{ x: text }] } }),
      'INVALID_CHARACTER',
    );
  }
});

test('all problems of a request are reported at once, with their paths', async () => {
  const users = [{ name: '' }, { name: 'B', email: 'x', country: 'XX' }, 7, { name: null }];
  const { error } = await refuses(
    admin.makeUsers({ userType: 'friend' as never, users: users as never }),
    'REQUIRED_FIELD',
  );
  assert.deepEqual(error.details.map((detail) => [detail.field, detail.code]).sort(), [
    ['userType', 'INVALID_ENUM'],
    ['users[0].name', 'REQUIRED_FIELD'],
    ['users[1].country', 'INVALID_COUNTRY'],
    ['users[1].email', 'INVALID_EMAIL'],
    ['users[2]', 'INVALID_TYPE'],
    ['users[3].name', 'REQUIRED_FIELD'],
  ]);
});

test('texts and arrays over their size are refused by their own codes', async () => {
  const name = 'x'.repeat(201);
  await refuses(admin.makeUsers({ userType: 'customer', users: [{ name }] }), 'FIELD_TOO_LONG');
  await refuses(admin.makeUsers({ userType: 'customer', users: [] }), 'REQUIRED_FIELD');
  const users = Array.from({ length: 1001 }, () => ({ name: 'A' }));
  await refuses(admin.makeUsers({ userType: 'customer', users }), 'TOO_MANY_ITEMS', {
    field: 'users',
  });
  const metaData = { search: 'x'.repeat(201) };
  await refuses(admin.listUsers({ metaData }), 'FIELD_TOO_LONG', { field: 'metaData.search' });
});

test('a date or time that is too long is refused with its form, not its length', async () => {
  const clock = admin.moveClock({ data: { to: '2026-12-01T00:00:00Z' } });
  const { error: time } = await refuses(clock, 'INVALID_DATETIME', { field: 'data.to' });
  assert.match(
    time.message,
    /does not have the expected form \(YYYY-MM-DDTHH:MM:SS or YYYY-MM-DD HH:MM:SS/,
  );
  const audit = admin.getAudit({ fromDate: '01/01/20266' });
  const { error: date } = await refuses(audit, 'INVALID_DATE', { field: 'fromDate' });
  assert.match(date.message, /does not have the expected form \(DD\/MM\/YYYY\)/);
  assert.equal(date.details.length, 1);
});

test('a date of the right form that does not exist is refused as such', async () => {
  const refused = async (fromDate: string) =>
    (await refuses(admin.getAudit({ fromDate }), 'INVALID_DATE')).error.message;
  assert.equal(await refused('31/02/2026'), 'fromDate is 31/02/2026, a day that does not exist');
  assert.equal(await refused('29/02/2100'), 'fromDate is 29/02/2100, a day that does not exist');
  for (const other of ['2026-02-28', '28022026', '01/01/0026', '31/2/2026']) {
    assert.match(await refused(other), /the expected form \(DD\/MM\/YYYY\)$/, other);
  }
  const clock = admin.moveClock({ data: { to: '2026-02-31T25:00:00' } });
  const { error } = await refuses(clock, 'INVALID_DATETIME');
  assert.equal(error.message, 'data.to is 2026-02-31T25:00:00, a time that does not exist');
});

test('a field of several kinds that may be null is refused when it is of another kind', async () => {
  const offer = { serviceCode: 'ELEC', tariffCode: 'RES', postType: 'Post Subscription' };
  for (const quantity of [true, [], {}]) {
    const addonTariffLabels = [{ label: 'Internet', quantity: quantity as never }];
    const call = admin.makeConnections({ connection: { ...offer, addonTariffLabels } });
    const { error } = await refuses(call, 'INVALID_TYPE', {
      field: 'connection.addonTariffLabels[0].quantity',
    });
    assert.match(error.message, /must be a string or a number$/);
  }
});

test('a field that may only be null says so', async () => {
  const asked = { operation: 'schedule', data: { termID: 1 }, billId: 7 as never } as const;
  for (const call of [admin.postBills, admin.publishBills]) {
    const { error } = await refuses(call(asked), 'INVALID_TYPE', { field: 'billId' });
    assert.equal(error.message, 'billId must be null');
  }
});
