// Many callers at once: no lost update, no wrong count, no ts that stays the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('races');
const second = (await scene.anotherServer()).visitor('races');
second.useToken(admin.token);
await scene.enter(admin);

async function newParty(name = 'A'): Promise<number> {
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name }] });
  return Number(made.headers.get('x-party-number'));
}

async function view(partyNumber: number) {
  return (await admin.getUsers({ partyNumber })).data.user;
}

function client(i: number) {
  return i % 2 === 0 ? admin : second;
}

test('of twenty updates at once that saw the same ts one wins, the others are stale', async () => {
  const partyNumber = await newParty();
  const { ts } = await view(partyNumber);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      client(i).updateUser({ user: { partyNumber, name: `W${i}`, ts } }),
    ),
  );
  const winners = results.flatMap((result, i) => (result.status === 'fulfilled' ? [i] : []));
  assert.equal(winners.length, 1);
  const after = await view(partyNumber);
  assert.equal(after.name, `W${winners[0]}`);
  assert.ok(after.ts > ts);
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    assert.equal(result.reason.code, 'STALE_OBJECT');
    assert.equal(result.reason.statusCode, 409);
    assert.equal(result.reason.error.current, after.ts);
  }
});

test('updates at once without ts lose nothing of each other', async () => {
  const partyNumber = await newParty();
  const changes = [
    { name: 'New' },
    { email: 'new@example.com' },
    { country: 'DE' },
    { taxNumber: 'T' },
    { identityNumber: 'I' },
    { language: 'de' },
    { address: { city: 'Bonn' } },
    { contacts: [{ contactType: 'Fax', contactValue: '9' }] },
    { deliveryChannels: ['Print' as const] },
    ...Array.from({ length: 8 }, (_, i) => ({
      connectionGroups: [{ connectionGroupLabel: `House ${i}` }],
    })),
  ];
  await Promise.all(
    changes.map((change, i) => client(i).updateUser({ user: { partyNumber, ...change } })),
  );
  const user = await view(partyNumber);
  assert.deepEqual(
    [user.name, user.email, user.country, user.taxNumber, user.identityNumber, user.language],
    ['New', 'new@example.com', 'DE', 'T', 'I', 'de'],
  );
  assert.equal(user.address?.city, 'Bonn');
  assert.deepEqual([user.contacts.length, user.deliveryChannels], [1, ['Print']]);
  const labels = user.subscriptionGroups.map((group) => group.connectionGroupLabel).sort();
  assert.deepEqual(labels, [
    'House 0',
    'House 1',
    'House 2',
    'House 3',
    'House 4',
    'House 5',
    'House 6',
    'House 7',
  ]);
});

test('the same new account label in ten calls at once makes one account', async () => {
  const partyNumber = await newParty();
  const connectionGroups = [{ connectionGroupLabel: 'Only' }];
  await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      client(i).updateUser({ user: { partyNumber, connectionGroups } }),
    ),
  );
  assert.equal((await view(partyNumber)).subscriptionGroups.length, 1);
});

test('ts grows with every change, also if the clock stops or is set back', async () => {
  const partyNumber = await newParty();
  let last = (await view(partyNumber)).ts;
  for (const minutes of [0, 0, -10, -10, 0, 15]) {
    scene.clock.advance({ minutes });
    await admin.updateUser({ user: { partyNumber, name: `At ${minutes}` } });
    const { ts } = await view(partyNumber);
    assert.ok(ts > last, `${ts} after ${last}`);
    last = ts;
  }
  scene.clock.advance({ minutes: 5 });
  await admin.updateUser({ user: { partyNumber, name: 'Back' } });
  assert.ok(Math.abs((await view(partyNumber)).ts - scene.clock.now().epochMilliseconds) < 60_000);
});

test('a ts that was seen lets an update through once, and a wrong one never', async () => {
  const partyNumber = await newParty();
  const { ts } = await view(partyNumber);
  for (const wrong of [0, ts - 1, ts + 1, Number.MAX_SAFE_INTEGER]) {
    const stale = admin.updateUser({ user: { partyNumber, name: 'X', ts: wrong } });
    await refuses(stale, 'STALE_OBJECT', { field: 'user.ts' });
  }
  await admin.updateUser({ user: { partyNumber, name: 'B', ts } });
  await refuses(admin.updateUser({ user: { partyNumber, name: 'C', ts } }), 'STALE_OBJECT');
  assert.equal((await view(partyNumber)).name, 'B');
});

test('parties made at once have numbers of their own, without gaps', async () => {
  const before = (await scene.sql.query('select max(party_number)::int as n from parties')).rows[0]
    .n;
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      client(i).makeUsers({ userType: 'customer', users: [{ name: `P${i}` }, { name: `Q${i}` }] }),
    ),
  );
  const numbers = made.flatMap(
    (one) => one.headers.get('x-party-number')?.split(',').map(Number) ?? [],
  );
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 60 }, (_, i) => before + 1 + i),
  );
});

async function assertCounted(): Promise<void> {
  const { rows } = await scene.sql.query(`
    with counted as (
      select party_id / 1000 as block, count(*) filter (where not archived)::int as live_rows,
        count(*)::int as all_rows
      from parties group by 1
    )
    select * from counted c full join row_blocks b on b.block = c.block and b.kind = 'party'
    where c.live_rows is distinct from b.live_rows or c.all_rows is distinct from b.all_rows`);
  assert.deepEqual(rows, []);
  const page = { pageNumber: 0, size: 1 };
  const live = await admin.listUsers({ page });
  const { rows: count } = await scene.sql.query(
    'select count(*)::int as live from parties where not archived',
  );
  assert.equal(live.headers.get('x-total-count'), String(count[0].live));
}

const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ make: fc.integer({ min: 1, max: 300 }), good: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ archive: fc.nat(), status: fc.constantFrom(0, 1) }) },
);

test('the counts of rows stay right under any mix of creates, archives and restores', async () => {
  const partyNumbers = (
    await scene.sql.query('select party_number::int as n from parties')
  ).rows.map((row) => row.n);
  // However few come by chance, they are of a second block.
  const users = Array.from({ length: 1_000 }, () => ({ name: 'R' }));
  await admin.makeUsers({ userType: 'customer', users });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await Promise.allSettled(
        steps.map((one, i) => {
          if ('make' in one) {
            const users: object[] = Array.from({ length: one.make }, () => ({ name: 'R' }));
            if (!one.good) users.push({ name: '' });
            return client(i).makeUsers({ userType: 'customer', users: users as never });
          }
          const partyNumber = partyNumbers[one.archive % partyNumbers.length];
          const archiveStatus = one.status as 0 | 1;
          return client(i).updateUser({ user: { partyNumber, archiveStatus } });
        }),
      );
      await assertCounted();
    }),
    { numRuns: 12 },
  );
  const { rows } = await scene.sql.query("select 1 from row_blocks where kind = 'party'");
  assert.ok(rows.length > 1, 'more than one block was counted');
});

test('subscriptions that go to the same new account at once make it once', async () => {
  const partyNumber = await newParty();
  const offer = await newOffer(admin);
  const make = () => subscribe(admin, { ...offer, users: [{ partyNumber }] });
  const numbers = [await make(), await make(), await make(), await make(), await make()];
  for (const connectionGroupLabel of ['North', 'South', 'East']) {
    await Promise.all(
      numbers.map((connectionNumber, i) =>
        client(i).updateConnection({ data: { connectionNumber, connectionGroupLabel } }),
      ),
    );
    const { subscriptionGroups } = await view(partyNumber);
    const made = subscriptionGroups.filter(
      (group) => group.connectionGroupLabel === connectionGroupLabel,
    );
    assert.deepEqual(
      made.map((group) => group.subscriptions.toSorted()),
      [numbers],
    );
  }
});
