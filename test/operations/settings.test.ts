import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallLogo } from '../documents/ordinary-bill.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('settings', { sandbox: true });
const plain = await scene.workspace('settings-b');

async function settings(client = admin) {
  return (await client.getSettings()).data.settings;
}

test('a new workspace has the settings it was created with, and defaults', async () => {
  const { now, modifiedAt, ts, ...rest } = await settings(plain);
  assert.deepEqual(rest, {
    name: 'settings-b',
    timezone: 'Asia/Karachi',
    currency: 'PKR',
    currencyDecimals: 2,
    country: 'PK',
    locale: 'en',
    connectionNumberFormat: '{serviceCode}-{number:8}',
    billNumberFormat: '{serviceCode}-{year}-{number:6}',
    deliveryChannels: ['Email', 'Portal'],
    letterhead: {},
    mailSender: { name: null, replyTo: null },
    reminders: [],
    approvalLimit: null,
    documentRetentionYears: 10,
    receiptMail: null,
    portalAddress: null,
    eInvoice: null,
    accessTokenSeconds: null,
    idleSeconds: null,
    separationOfDuty: false,
    logPartyReads: false,
    sandbox: false,
    modifiedBy: 'command line',
  });
  assert.match(now, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.ok(modifiedAt <= now);
  assert.ok(ts > 0);
});

test('every setting is changed by sending it, and stays when it is left out', async () => {
  const changes = [
    { name: ' New Name ' },
    { timezone: 'Europe/Berlin' },
    { currency: 'KWD' },
    { currencyDecimals: 2 },
    { country: 'deu' },
    { locale: 'de-DE' },
    { connectionNumberFormat: 'C{number}' },
    { billNumberFormat: 'B-{serviceCode}-{year}-{number:4}' },
    { deliveryChannels: ['SMS', 'Print'] as const },
    { letterhead: { lines: ['a', { b: null }] } },
    { reminders: [{ afterDays: 7 }] },
    { accessTokenSeconds: 900 },
    { idleSeconds: 60 },
  ];
  let expected: Record<string, unknown> = await settings();
  for (const data of changes) {
    await admin.updateSettings({ data: data as never });
    const after = await settings();
    expected = { ...expected, ...data };
    if ('name' in data) expected.name = 'New Name';
    if ('country' in data) expected.country = 'DE';
    if ('currency' in data) expected.currencyDecimals = 3;
    const { now: _n, modifiedAt: _m, modifiedBy, ts, ...shown } = after;
    const { now: _o, modifiedAt: _p, modifiedBy: _q, ts: before, ...wanted } = expected;
    assert.deepEqual(shown, wanted);
    assert.equal(modifiedBy, 'admin@settings.example');
    assert.ok(ts > Number(before));
    expected.ts = ts;
  }
  await admin.updateSettings({ data: { accessTokenSeconds: null, idleSeconds: null } });
  await admin.updateSettings({ data: { deliveryChannels: null, reminders: null } });
  const { accessTokenSeconds, idleSeconds, deliveryChannels, reminders } = await settings();
  assert.deepEqual([accessTokenSeconds, idleSeconds], [null, null]);
  assert.deepEqual([deliveryChannels, reminders], [['SMS', 'Print'], [{ afterDays: 7 }]]);
});

test('times on the wire are local to the time zone of the workspace', async () => {
  await admin.updateSettings({ data: { timezone: 'Pacific/Auckland' } });
  const local = scene.clock.now().toZonedDateTimeISO('Pacific/Auckland').toPlainDateTime();
  assert.equal(
    (await settings()).now.slice(0, 13),
    local.toString().replace('T', ' ').slice(0, 13),
  );
});

test('a letterhead is checked where documents read it; other keys are kept', async () => {
  const fine = {
    name: 'City Power',
    addressLines: ['22 Canal Road', 'Lahore'],
    phone: '+92 42 111 000 222',
    email: 'care@city.example',
    website: 'www.city.example',
    taxNumber: '1234567-8',
    color: '#0B6e4f',
    pageSize: 'Letter',
    codeText: 'https://pay.example/{{bill.billRefNo}}',
    logo: smallLogo,
    slogan: { any: ['thing', 7] },
  };
  await admin.updateSettings({ data: { letterhead: fine } });
  assert.deepEqual((await settings()).letterhead, fine);
  await admin.updateSettings({ data: { letterhead: { ...fine, logo: null, phone: '' } } });
  const cases = [
    [{ name: 7 }, 'INVALID_TYPE', 'data.letterhead.name'],
    [{ name: 'x'.repeat(201) }, 'FIELD_TOO_LONG', 'data.letterhead.name'],
    [{ addressLines: 'Lahore' }, 'INVALID_TYPE', 'data.letterhead.addressLines'],
    [{ addressLines: ['a', 7] }, 'INVALID_TYPE', 'data.letterhead.addressLines[1]'],
    [{ addressLines: Array(7).fill('a') }, 'TOO_MANY_ITEMS', 'data.letterhead.addressLines'],
    [{ email: 'Name <a@b.example>' }, 'INVALID_EMAIL', 'data.letterhead.email'],
    [{ color: 'red;}' }, 'INVALID_FORMAT', 'data.letterhead.color'],
    [{ pageSize: 'A5' }, 'INVALID_ENUM', 'data.letterhead.pageSize'],
    [{ codeText: '{{bill.nothing}}' }, 'TEMPLATE_INVALID', 'data.letterhead.codeText'],
    [{ barcodeText: '{{bill.nothing}}' }, 'TEMPLATE_INVALID', 'data.letterhead.barcodeText'],
    [{ logo: 'bm8gcGljdHVyZQ==' }, 'INVALID_FORMAT', 'data.letterhead.logo'],
    [{ logo: hugePng() }, 'INVALID_FORMAT', 'data.letterhead.logo'],
  ] as const;
  const before = await settings();
  for (const [letterhead, code, field] of cases) {
    await refuses(admin.updateSettings({ data: { letterhead } }), code, { field });
  }
  const { letterhead: kept, ts } = await settings();
  assert.deepEqual([kept, ts], [before.letterhead, before.ts], 'nothing is stored');
  const both = { data: { letterhead: { color: 'x', email: 'y' } } };
  const { error } = await refuses(admin.updateSettings(both), 'INVALID_EMAIL');
  assert.equal(error.details.length, 2, 'all problems at once');
});

/** The head of a picture of 60,000 by 60,000 pixels, in a few bytes. */
function hugePng(): string {
  const bytes = Buffer.alloc(33);
  bytes.writeUInt32BE(0x89504e47, 0);
  bytes.writeUInt32BE(60_000, 16);
  bytes.writeUInt32BE(60_000, 20);
  return bytes.toString('base64');
}

test('wrong values are refused and change nothing', async () => {
  const before = await settings();
  const cases = [
    [{ name: ' ' }, 'REQUIRED_FIELD'],
    [{ name: null }, 'FIELD_NOT_NULLABLE'],
    [{ timezone: 'Asia/Atlantis' }, 'INVALID_ENUM'],
    [{ timezone: '+05:00' }, 'INVALID_ENUM'],
    [{ timezone: null }, 'FIELD_NOT_NULLABLE'],
    [{ currency: 'XYZ' }, 'INVALID_ENUM'],
    [{ currency: 'pkr' }, 'INVALID_ENUM'],
    [{ currencyDecimals: 5 }, 'INVALID_NUMBER'],
    [{ currencyDecimals: -1 }, 'INVALID_NUMBER'],
    [{ currencyDecimals: '2' }, 'INVALID_TYPE'],
    [{ country: 'XX' }, 'INVALID_COUNTRY'],
    [{ locale: 'not a locale' }, 'INVALID_ENUM'],
    [{ connectionNumberFormat: 'no number' }, 'INVALID_FORMAT'],
    [{ billNumberFormat: '{number:123}' }, 'INVALID_FORMAT'],
    [{ deliveryChannels: ['Pigeon'] }, 'INVALID_ENUM'],
    [{ letterhead: null }, 'FIELD_NOT_NULLABLE'],
    [{ letterhead: [] }, 'INVALID_TYPE'],
    [{ reminders: [7] }, 'INVALID_TYPE'],
    [{ accessTokenSeconds: 899 }, 'INVALID_NUMBER'],
    [{ accessTokenSeconds: 86_401 }, 'INVALID_NUMBER'],
    [{ idleSeconds: 0 }, 'INVALID_NUMBER'],
    [{ ts: -1 }, 'INVALID_NUMBER'],
  ] as const;
  for (const [data, code] of cases) {
    const [name] = Object.keys(data);
    const { error } = await refuses(admin.updateSettings({ data: data as never }), code);
    assert.ok(error.field?.startsWith(`data.${name}`), `${error.field} for ${name}`);
  }
  const { now: _, ...after } = await settings();
  const { now: __, ...unchanged } = before;
  assert.deepEqual(after, unchanged);
});

test('a new bill number format without service or year is refused with INVALID_FORMAT', async () => {
  const { billNumberFormat: before } = await settings();
  const formats = [
    'B-{number:4}',
    '{serviceCode}-{number:6}',
    '{year}-{number:6}',
    '{serviceCode}-{year}-{number}-{number}',
  ];
  for (const billNumberFormat of formats) {
    const { error } = await refuses(
      admin.updateSettings({ data: { billNumberFormat } }),
      'INVALID_FORMAT',
      { field: 'data.billNumberFormat', statusCode: 422 },
    );
    assert.match(error.message, /needs \{serviceCode\} and \{year\}, and \{number\} once/);
  }
  assert.equal((await settings()).billNumberFormat, before);
});

test('of two updates of settings with the same ts one is refused; without ts both are stored', async () => {
  const { ts } = await settings();
  await refuses(admin.updateSettings({ data: { name: 'X', ts: ts - 1 } }), 'STALE_OBJECT', {
    field: 'data.ts',
    statusCode: 409,
  });
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) => admin.updateSettings({ data: { name: `N${i}`, ts } })),
  );
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  await Promise.all([
    admin.updateSettings({ data: { locale: 'fr' } }),
    admin.updateSettings({ data: { country: 'FR' } }),
    admin.updateSettings({ data: { idleSeconds: 3600 } }),
    admin.updateSettings({ data: { letterhead: { a: 1 } } }),
  ]);
  const { locale, country, idleSeconds, letterhead } = await settings();
  assert.deepEqual([locale, country, idleSeconds, letterhead], ['fr', 'FR', 3600, { a: 1 }]);
  await admin.updateSettings({ data: { idleSeconds: null } });
});

test('the currency and its decimals are fixed once amounts are booked', async () => {
  await plain.updateSettings({ data: { currency: 'JPY' } });
  assert.equal((await settings(plain)).currencyDecimals, 0);
  const made = await plain.makeUsers({ userType: 'customer', users: [{ name: 'A' }] });
  const partyId = Number(made.headers.get('x-resource-id'));
  const tenantId = await scene.enter(plain);
  await scene.sql.query(
    `insert into party_wallets (tenant_id, party_id, balance) values (${tenantId}, $1, 1)`,
    [partyId],
  );
  for (const data of [{ currency: 'PKR' }, { currencyDecimals: 2 }]) {
    await refuses(plain.updateSettings({ data }), 'IN_USE', { statusCode: 409 });
  }
  await plain.updateSettings({ data: { currency: 'JPY', currencyDecimals: 0, name: 'Same' } });
});

test('only a sandbox moves its clock, and only forward', async () => {
  const to = (at: Temporal.Instant) =>
    at
      .toZonedDateTimeISO('Pacific/Auckland')
      .toPlainDateTime()
      .toString({ smallestUnit: 'second' });
  const realNow = scene.clock.now();
  await refuses(
    plain.moveClock({ data: { to: to(realNow.add({ hours: 48 })) } }),
    'NOT_A_SANDBOX',
    {
      statusCode: 422,
    },
  );
  const target = realNow.add({ hours: 24 * 40 });
  await admin.moveClock({ data: { to: to(target) } });
  assert.equal((await settings()).now.slice(0, 16), to(target).replace('T', ' ').slice(0, 16));
  const back = admin.moveClock({ data: { to: to(target.subtract({ hours: 1 })) } });
  await refuses(back, 'CLOCK_BACKWARDS', { field: 'data.to', statusCode: 422 });
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'Later' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const { createdAt } = (await admin.getUsers({ partyNumber })).data.user;
  assert.equal(createdAt.slice(0, 10), to(target).slice(0, 10));
  await admin.listUsers();
  const { data } = await scene
    .visitor('settings')
    .login({ username: 'admin@settings.example', password: 'correct horse battery' });
  assert.equal(data.expiresIn, 8 * 3600);
});

test('an hour that the clock change skips is no trap', async () => {
  await admin.updateSettings({ data: { timezone: 'Europe/Berlin' } });
  await admin.moveClock({ data: { to: '2032-03-28T02:30:00' } });
  assert.equal((await settings()).now.slice(0, 16), '2032-03-28 03:30');
});

test('a sandbox clock moved more than 10 years ahead is refused with CLOCK_TOO_FAR', async () => {
  await scene.clock.whileStopped(async () => {
    const now = scene.clock.now().toZonedDateTimeISO('Europe/Berlin').toPlainDateTime();
    const inTenYears = now.add({ years: 10 }).round('second');
    for (const to of ['9999-12-31T23:59:59', inTenYears.add({ minutes: 1 }).toString()]) {
      const { error } = await refuses(admin.moveClock({ data: { to } }), 'CLOCK_TOO_FAR', {
        field: 'data.to',
        statusCode: 422,
      });
      assert.match(
        error.message,
        /^The clock may be moved to 20\d\d-.* at most, 10 years from now$/,
      );
    }
    const last = inTenYears.subtract({ seconds: 1 }).toString();
    await admin.moveClock({ data: { to: last } });
    assert.equal((await settings()).now, last.replace('T', ' '));
  });
  scene.clock.advance({ seconds: 2 });
  await admin.makeUsers({ userType: 'customer', users: [{ name: 'Last' }] });
  scene.clock.advance({ seconds: -2 });
});

test('settings are read with permission and changed by administrators only', async () => {
  const manager = await scene.loginAs(plain, ['Billing Manager']);
  assert.equal((await settings(manager)).name, 'Same');
  await refuses(manager.updateSettings({ data: { name: 'Mine' } }), 'PERMISSION_DENIED');
  const cashier = await scene.loginAs(plain, ['Cashier']);
  await refuses(cashier.getSettings(), 'PERMISSION_DENIED', { statusCode: 403 });
});

test('a channel that is named twice is kept once, of the workspace and of a party', async () => {
  await admin.updateSettings({ data: { deliveryChannels: ['Print', 'Email', 'Print'] } });
  assert.deepEqual((await settings()).deliveryChannels, ['Print', 'Email']);
  const users = [{ name: 'Twice', deliveryChannels: ['Portal', 'Portal'] as const }];
  const made = await admin.makeUsers({ userType: 'customer', users: users as never });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const shown = async () => (await admin.getUsers({ partyNumber })).data.user.deliveryChannels;
  assert.deepEqual(await shown(), ['Portal']);
  await admin.updateUser({ user: { partyNumber, deliveryChannels: ['Email', 'Email'] } });
  assert.deepEqual(await shown(), ['Email']);
});
