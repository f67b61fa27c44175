// Parties: what is stored and shown, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newParty, view } from '../support/viewed-parties.ts';

const scene = await openScene();
const admin = await scene.workspace('parties');
await scene.enter(admin);

async function total(): Promise<string | null> {
  const listed = await admin.listUsers({ metaData: { includeArchived: true } });
  return listed.headers.get('x-total-count');
}

test('the first party has number 100001, and a view shows every field', async () => {
  const users = [
    {
      name: '  A. Khan ',
      email: 'a.khan@example.com',
      country: 'PK',
      contacts: [{ contactType: 'mobile', contactValue: ' +92 300 1234567 ' }],
      identityNumber: '35202-1234567-1',
      taxNumber: 'NTN-1',
      address: { city: 'Lahore', block: 'B', countryId: 586, street: null },
      language: 'ur',
      competencies: [{ name: 'Electrician', level: '2', validFrom: '01/01/2026', validTo: null }],
    },
  ];
  const made = await admin.makeUsers({ userType: 'employee', users });
  assert.deepEqual(made.data, {});
  assert.equal(made.headers.get('x-party-number'), '100001');
  assert.equal(made.headers.get('x-resource-id'), '1');
  assert.equal(made.headers.get('x-resource-count'), '1');
  const { createdAt, modifiedAt, ts, ...user } = await view(admin, 100_001);
  assert.deepEqual(user, {
    partyID: 1,
    partyNumber: 100_001,
    name: 'A. Khan',
    email: 'a.khan@example.com',
    userType: 'Employee',
    country: 'PK',
    contacts: [{ contactType: 'Mobile', contactValue: '+92 300 1234567' }],
    archiveStatus: 0,
    createdBy: 'admin@parties.example',
    modifiedBy: 'admin@parties.example',
    erasedOn: null,
    identityNumber: '35202-1234567-1',
    taxNumber: 'NTN-1',
    address: {
      title: null,
      shopNo: null,
      buildingNo: null,
      buildingName: null,
      street: null,
      block: 'B',
      society: null,
      city: 'Lahore',
      countryId: 586,
    },
    language: 'ur',
    deliveryChannels: null,
    competencies: [{ name: 'Electrician', level: '2', validFrom: '01/01/2026', validTo: null }],
    walletAccount: { balance: 0 },
    outstandingAccount: { balance: 0 },
    userAccount: { status: 'NONE' },
    dunningHold: null,
    subscriptionGroups: [],
    subscriptions: [],
  });
  assert.match(createdAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.equal(modifiedAt, createdAt);
  const local = Temporal.Instant.fromEpochMilliseconds(ts).toZonedDateTimeISO('Asia/Karachi');
  assert.equal(
    local.toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' '),
    createdAt,
  );
});

test('customers have no skills, and skills do not end before they begin', async () => {
  const competencies = [{ name: 'Collector', validFrom: '01/01/2026', validTo: '01/01/2026' }];
  const users = [{ name: 'A' }, { name: 'B', competencies }];
  const made = await admin.makeUsers({ userType: 'customer', users });
  assert.equal(made.headers.get('x-ignored-fields'), 'users[1].competencies');
  const [, partyNumber = 0] = (made.headers.get('x-party-number') ?? '').split(',').map(Number);
  const updated = await admin.updateUser({ user: { partyNumber, competencies, language: 'ur' } });
  assert.equal(updated.headers.get('x-ignored-fields'), 'user.competencies');
  const user = await view(admin, partyNumber);
  assert.deepEqual([user.competencies, user.language], [[], 'ur']);
  const hired = await admin.makeUsers({ userType: 'vendor', users: [{ name: 'C', competencies }] });
  assert.equal(hired.headers.get('x-ignored-fields'), null);
  const vendor = Number(hired.headers.get('x-party-number'));
  const whole = competencies.map((one) => ({ level: null, ...one }));
  assert.deepEqual((await view(admin, vendor)).competencies, whole);
  const ended = [{ name: 'Collector', validFrom: '02/01/2026', validTo: '01/01/2026' }];
  const change = { partyNumber: vendor, competencies: ended };
  await refuses(admin.updateUser({ user: change }), 'INVALID_DATE', {
    field: 'user.competencies[0].validTo',
  });
});

test('what is not given is empty, and the country is that of the workspace', async () => {
  const user = await view(
    admin,
    await newParty(admin, { email: null, contacts: null, address: null }),
  );
  assert.equal(user.email, null);
  assert.equal(user.country, 'PK');
  assert.deepEqual([user.contacts, user.competencies], [[], []]);
  assert.deepEqual([user.address, user.language, user.taxNumber], [null, null, null]);
});

test('countries are taken as alpha-2 or alpha-3 in any case and shown as alpha-2', async () => {
  for (const [sent, shown] of [
    ['DE', 'DE'],
    ['de', 'DE'],
    ['DEU', 'DE'],
    ['gbr', 'GB'],
  ]) {
    assert.equal((await view(admin, await newParty(admin, { country: sent }))).country, shown);
  }
});

test('each contact type is taken in any case', async () => {
  const types = ['Mobile', 'Phone', 'WhatsApp', 'Email', 'Fax', 'Other'];
  const spelled = types.flatMap((type) => [type, type.toLowerCase(), type.toUpperCase()]);
  const contactValue = 'a@example.com';
  const contacts = spelled.map((contactType) => ({ contactType, contactValue }));
  const user = await view(admin, await newParty(admin, { contacts }));
  assert.deepEqual(
    user.contacts.map((contact) => contact.contactType),
    types.flatMap((type) => [type, type, type]),
  );
});

test('each kind of party is made by its word, and by no other', async () => {
  for (const [userType, kind] of [
    ['customer', 'Customer'],
    ['employee', 'Employee'],
    ['vendor', 'Vendor'],
  ] as const) {
    const made = await admin.makeUsers({ userType, users: [{ name: 'K' }] });
    const partyNumber = Number(made.headers.get('x-party-number'));
    assert.equal((await view(admin, partyNumber)).userType, kind);
  }
  for (const userType of ['Customer', 'friend', '', 7]) {
    const call = admin.makeUsers({ userType: userType as never, users: [{ name: 'K' }] });
    await refuses(call, 'INVALID_ENUM', { field: 'userType', statusCode: 400 });
  }
});

test('wrong facts are refused with their own codes', async () => {
  const cases = [
    [{ name: undefined }, 'REQUIRED_FIELD', 'users[0].name'],
    [{ name: null }, 'REQUIRED_FIELD', 'users[0].name'],
    [{ name: ' \t\n ' }, 'REQUIRED_FIELD', 'users[0].name'],
    [{ name: 7 }, 'INVALID_TYPE', 'users[0].name'],
    [{ email: 'nobody' }, 'INVALID_EMAIL', 'users[0].email'],
    [{ email: 'a@b' }, 'INVALID_EMAIL', 'users[0].email'],
    [{ email: 'a@b.example\nBcc: x@y.example' }, 'INVALID_EMAIL', 'users[0].email'],
    [{ email: 'A <a@b.example>' }, 'INVALID_EMAIL', 'users[0].email'],
    [{ country: 'XX' }, 'INVALID_COUNTRY', 'users[0].country'],
    [{ country: '' }, 'INVALID_COUNTRY', 'users[0].country'],
    [{ country: 'Pakistan' }, 'INVALID_COUNTRY', 'users[0].country'],
    [
      { contacts: [{ contactType: 'Pigeon', contactValue: '1' }] },
      'INVALID_ENUM',
      'users[0].contacts[0].contactType',
    ],
    [
      { contacts: [{ contactType: 'Fax', contactValue: '' }] },
      'REQUIRED_FIELD',
      'users[0].contacts[0].contactValue',
    ],
    [{ contacts: [{ contactValue: '1' }] }, 'REQUIRED_FIELD', 'users[0].contacts[0].contactType'],
    [{ contacts: {} }, 'INVALID_TYPE', 'users[0].contacts'],
    [
      { competencies: [{ name: 'x', validFrom: '31/02/2026' }] },
      'INVALID_DATE',
      'users[0].competencies[0].validFrom',
    ],
    [
      { competencies: [{ name: 'x', validFrom: '02/01/2026', validTo: '01/01/2026' }] },
      'INVALID_DATE',
      'users[0].competencies[0].validTo',
    ],
    [{ address: 'Lahore' }, 'INVALID_TYPE', 'users[0].address'],
    [{ address: { city: 7 } }, 'INVALID_TYPE', 'users[0].address.city'],
    [{ address: { countryId: 999 } }, 'INVALID_COUNTRY', 'users[0].address.countryId'],
    [{ address: { countryId: 'PK' } }, 'INVALID_COUNTRY', 'users[0].address.countryId'],
  ] as const;
  const before = await total();
  for (const [facts, code, field] of cases) {
    const users = [{ name: 'A', ...facts }] as never;
    await refuses(admin.makeUsers({ userType: 'customer', users }), code, {
      field,
      statusCode: 400,
    });
  }
  assert.equal(await total(), before);
});

test('a contact of the type Email is an address, or is refused wherever it is sent', async () => {
  const emails = (...values: string[]) =>
    values.map((contactValue) => ({ contactType: 'eMail', contactValue }));
  const partyNumber = await newParty(admin, {
    contacts: emails(' b@example.com ', 'c@example.com'),
  });
  const before = await view(admin, partyNumber);
  assert.deepEqual(
    before.contacts.map(({ contactValue }) => contactValue),
    ['b@example.com', 'c@example.com'],
  );
  const field = 'user.contacts[1].contactValue';
  for (const wrong of ['nobody', 'a@b', '+92 300 1', 'A <a@b.example>', 'ü@example.com']) {
    const user = { partyNumber, contacts: emails('d@example.com', wrong) };
    await refuses(admin.updateUser({ user }), 'INVALID_EMAIL', { field, statusCode: 400 });
  }
  assert.deepEqual(await view(admin, partyNumber), before);
  const users = [
    { name: 'A', contacts: emails('a@example.com') },
    { name: 'B', contacts: emails('nobody') },
    { name: 'C', contacts: emails('a@example.com', 'no one') },
  ];
  const count = await total();
  await assert.rejects(admin.makeUsers({ userType: 'customer', users }), (error: BillingError) => {
    assert.equal(error.code, 'INVALID_EMAIL');
    assert.deepEqual(
      error.error.details.map((detail) => [detail.field, detail.rejectedValue]),
      [
        ['users[1].contacts[0].contactValue', 'nobody'],
        ['users[2].contacts[1].contactValue', 'no one'],
      ],
    );
    return true;
  });
  assert.equal(await total(), count);
});

test('several parties may share an e-mail address', async () => {
  await newParty(admin, { email: 'family@example.com' });
  await newParty(admin, { email: 'family@example.com' });
  const { data } = await admin.listUsers({ email: 'FAMILY@example.com' });
  assert.equal(data.users.length, 2);
});

test('a batch of 1,000 is created as a whole, and the answer has its first 100 numbers', async () => {
  const before = Number(await total());
  const users = Array.from({ length: 1000 }, (_, i) => ({ name: `Batch ${i}` }));
  const made = await admin.makeUsers({ userType: 'vendor', users });
  assert.equal(made.headers.get('x-resource-count'), '1000');
  const numbers = made.headers.get('x-party-number')?.split(',').map(Number) ?? [];
  assert.equal(numbers.length, 100);
  assert.equal((await view(admin, numbers[99] ?? 0)).name, 'Batch 99');
  assert.equal(Number(await total()), before + 1000);
});

test('a batch with bad rows stores nothing and names each bad row, the first 500', async () => {
  const before = await total();
  const last = Number(
    (await scene.sql.query('select max(last_number)::int as n from counters')).rows[0].n,
  );
  const users = Array.from({ length: 1000 }, (_, i) =>
    i % 100 === 7 ? { name: 'x', country: 'XX' } : { name: `Row ${i}` },
  );
  const some = await refuses(admin.makeUsers({ userType: 'vendor', users }), 'INVALID_COUNTRY');
  assert.deepEqual(
    some.error.details.map((detail) => detail.field),
    Array.from({ length: 10 }, (_, i) => `users[${i * 100 + 7}].country`),
  );
  const allBad = Array.from({ length: 1000 }, () => ({ name: '' }));
  const all = await refuses(
    admin.makeUsers({ userType: 'vendor', users: allBad }),
    'REQUIRED_FIELD',
  );
  assert.equal(all.error.details.length, 500);
  assert.equal(all.error.details[499]?.field, 'users[499].name');
  assert.equal(await total(), before);
  const after = Number(
    (await scene.sql.query('select max(last_number)::int as n from counters')).rows[0].n,
  );
  assert.equal(after, last);
});

test('a view of an unknown party is refused', async () => {
  await refuses(admin.getUsers({ partyNumber: 4_711 }), 'PARTY_NOT_FOUND', { statusCode: 404 });
});
