import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('list');

type Listing = Parameters<typeof admin.listUsers>[0];

async function names(request: Listing): Promise<(string | undefined)[]> {
  return (await admin.listUsers(request)).data.users.map((user) => user.name);
}

async function make(userType: 'customer' | 'employee' | 'vendor', users: { name: string }[]) {
  const made = await admin.makeUsers({ userType, users });
  return made.headers.get('x-party-number')?.split(',').map(Number) ?? [];
}

const people = [
  { name: 'Aisha Khan', email: 'Aisha@example.com' },
  { name: 'Bilal KHAN', contacts: [{ contactType: 'Mobile', contactValue: '+92 300 111' }] },
  { name: '100%_\\ Pure', email: 'pure@example.com' },
  { name: 'Élodie Łukasz', email: 'elodie@khan.example' },
  { name: 'Jose\u0301', email: null },
  { name: 'ＷＩＤＥ Ltd' },
  { name: 'Two\nLines' },
];
const numbers = await make('customer', people);
await make('employee', [{ name: 'Zed' }]);
await make('vendor', [{ name: 'Yolanda' }]);

test('lists can be narrowed by each filter', async () => {
  assert.deepEqual(await names({ userType: 'employee' }), ['Zed']);
  assert.deepEqual(await names({ userType: 'Vendor' }), ['Yolanda']);
  assert.deepEqual(await names({ name: 'khan' }), ['Aisha Khan', 'Bilal KHAN']);
  assert.deepEqual(await names({ email: 'aisha@EXAMPLE.com' }), ['Aisha Khan']);
  assert.deepEqual(await names({ email: 'isha@example.com' }), []);
  assert.deepEqual(await names({ contactValue: '+92 300 111' }), ['Bilal KHAN']);
  assert.deepEqual(await names({ partyID: 3 }), ['100%_\\ Pure']);
  assert.deepEqual(await names({ partyID: 4711 }), []);
  assert.deepEqual(await names({ name: 'khan', email: 'aisha@example.com' }), ['Aisha Khan']);
  const nulls = { userType: null, name: null, email: null, contactValue: null, partyID: null };
  assert.equal((await names({ ...nulls, page: null, metaData: null })).length, 9);
  await refuses(admin.listUsers({ userType: 'friend' as never }), 'INVALID_FILTER_VALUE');
});

test('names are found in any case, with accents, in any Unicode form, and signs mean themselves', async () => {
  assert.deepEqual(await names({ name: '%' }), ['100%_\\ Pure']);
  assert.deepEqual(await names({ name: '0%_\\ p' }), ['100%_\\ Pure']);
  assert.deepEqual(await names({ name: '_' }), ['100%_\\ Pure']);
  assert.deepEqual(await names({ name: 'ÉLODIE' }), ['Élodie Łukasz']);
  assert.deepEqual(await names({ name: 'łuka' }), ['Élodie Łukasz']);
  assert.deepEqual(await names({ name: 'jos\u00e9' }), ['Jose\u0301']);
  assert.deepEqual(await names({ name: 'wide' }), ['ＷＩＤＥ Ltd']);
  assert.deepEqual(await names({ name: 'two lines' }), ['Two\nLines']);
  assert.deepEqual(await names({ metaData: { search: 'JOS\u00c9' } }), ['Jose\u0301']);
});

test('a search looks at name, number, e-mail and contacts', async () => {
  const search = (text: string) => names({ metaData: { search: text } });
  assert.deepEqual(await search('khan'), ['Aisha Khan', 'Bilal KHAN', 'Élodie Łukasz']);
  assert.deepEqual(await search(String(numbers[2])), ['100%_\\ Pure']);
  assert.deepEqual(await search('300 11'), ['Bilal KHAN']);
  assert.deepEqual(await search('z'), ['Élodie Łukasz', 'Zed']);
  assert.deepEqual(await search('no such name'), []);
  assert.equal((await search('')).length, 9);
});

test('lists are sorted by each field, both ways', async () => {
  const all = (await admin.listUsers()).data.users;
  const ids = all.map((user) => user.partyID ?? 0);
  assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const sortBy of ['partyID', 'partyNumber', 'name', 'ts'] as const) {
    const up = (await admin.listUsers({ metaData: { sortBy } })).data.users;
    const down = (await admin.listUsers({ metaData: { sortBy, sortOrder: 'desc' } })).data.users;
    assert.deepEqual(
      down.map((user) => user.partyID),
      up.map((user) => user.partyID).reverse(),
      sortBy,
    );
  }
  const byName = await names({ name: 'khan', metaData: { sortBy: 'name', sortOrder: 'desc' } });
  assert.deepEqual(byName, ['Bilal KHAN', 'Aisha Khan']);
});

test('only the asked fields are returned', async () => {
  const fields = ['partyNumber', 'name', 'nothing'];
  const { data } = await admin.listUsers({ partyID: 1, metaData: { fields } });
  assert.deepEqual(data.users, [{ partyNumber: numbers[0], name: 'Aisha Khan' }]);
});

test('a summary has the fields of a party, and null where nothing is known', async () => {
  const { data } = await admin.listUsers({ partyID: 5 });
  const [user] = data.users;
  assert.deepEqual(Object.keys(user ?? {}), [
    'partyID',
    'partyNumber',
    'name',
    'email',
    'userType',
    'country',
    'contacts',
    'archiveStatus',
    'createdAt',
    'createdBy',
    'modifiedAt',
    'modifiedBy',
    'ts',
  ]);
  assert.equal(user?.email, null);
});

test('updatedSince loses nothing to a caller that goes on from the last ts it saw', async () => {
  const [first] = await make('customer', [{ name: 'S1' }, { name: 'S2' }, { name: 'S3' }]);
  const one = (await admin.listUsers({ name: 'S1' })).data.users[0];
  const since = await names({ metaData: { updatedSince: one?.ts ?? 0 } });
  assert.deepEqual(since, ['S1', 'S2', 'S3']);
  await admin.updateUser({ user: { partyNumber: first ?? 0, language: 'ur' } });
  const changed = (await admin.listUsers({ name: 'S1' })).data.users[0];
  assert.deepEqual(await names({ metaData: { updatedSince: changed?.ts ?? 0 } }), ['S1']);
  assert.deepEqual(await names({ metaData: { updatedSince: (changed?.ts ?? 0) + 1 } }), []);
});

test('a list of another workspace shows nothing of this one', async () => {
  const other = await scene.workspace('list-b');
  assert.deepEqual((await other.listUsers({ metaData: { search: 'khan' } })).data.users, []);
  assert.equal((await other.listUsers({ page: { pageNumber: 0, size: 10 } })).data.users.length, 0);
});

async function pagesOf(request: object, size: number): Promise<(number | undefined)[]> {
  const ids: (number | undefined)[] = [];
  for (let pageNumber = 0; ; pageNumber += 1) {
    const answer = await admin.listUsers({ ...request, page: { pageNumber, size } });
    if (answer.data.users.length === 0) {
      assert.equal(ids.length, Number(answer.headers.get('x-total-count')));
      return ids;
    }
    ids.push(...answer.data.users.map((user) => user.partyID));
  }
}

test('pages add up to the whole list in its order, also beyond one chunk', async () => {
  for (let batch = 0; batch < 3; batch += 1) {
    const users = Array.from({ length: 830 }, (_, i) => ({ name: `Many ${(i * 7) % 50}` }));
    await make(batch === 1 ? 'vendor' : 'customer', users);
  }
  await scene.enter(admin);
  await scene.sql.query('update parties set archived = true where party_id % 5 = 0');
  await scene.sql.query('update parties set archived = true where party_id between 900 and 1100');
  const requests = [
    {},
    { metaData: { includeArchived: true } },
    { metaData: { sortOrder: 'desc' } },
    { metaData: { sortBy: 'name' } },
    { metaData: { sortBy: 'ts', sortOrder: 'desc', includeArchived: true } },
    { userType: 'customer', metaData: { sortBy: 'partyNumber' } },
    { name: 'many', metaData: { sortBy: 'name', sortOrder: 'desc' } },
  ] as const;
  for (const request of requests) {
    const whole = await admin.listUsers({ ...request, page: null });
    const ids = whole.data.users.map((user) => user.partyID);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(whole.headers.get('x-total-count'), String(ids.length));
    assert.ok(ids.length > 1000, `${ids.length} rows`);
    assert.deepEqual(await pagesOf(request, 700), ids, JSON.stringify(request));
  }
  const small = await pagesOf({ metaData: { search: 'many 7' } }, 9);
  const { data } = await admin.listUsers({ metaData: { search: 'many 7' } });
  assert.deepEqual(
    small,
    data.users.map((user) => user.partyID),
  );
});

test('a whole list of exactly one and exactly two chunks ends where it should', async () => {
  await scene.sql.query('update parties set archived = false where archived');
  const { rows } = await scene.sql.query(
    'select party_id::int as id from parties where not archived order by party_id',
  );
  for (const wanted of [1000, 2000]) {
    const last = rows[wanted - 1]?.id;
    await scene.sql.query('begin');
    await scene.sql.query('update parties set archived = true where party_id > $1', [last]);
    await scene.sql.query('commit');
    const whole = await admin.listUsers();
    assert.equal(whole.data.users.length, wanted);
    assert.equal(whole.headers.get('x-total-count'), String(wanted));
    assert.equal(whole.data.users.at(-1)?.partyID, last);
    const restored = rows.slice(wanted).map((row) => row.id);
    await scene.sql.query('update parties set archived = false where party_id = any($1)', [
      restored,
    ]);
  }
});
