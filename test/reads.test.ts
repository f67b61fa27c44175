// Reads that share a connection and a transaction: each is as if it had been alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Lookup, openDatabase, openingFor, type Tx, transact } from '../src/base/db/pool.ts';
import { sql } from '../src/base/db/sql.ts';
import { openScene } from './support/scene.ts';

const scene = await openScene({ ownDatabase: true });
const clients = [await scene.workspace('left'), await scene.workspace('right')];
for (const [index, client] of clients.entries()) {
  const users = Array.from({ length: 20 }, (_, i) => ({ name: `${index} ${i}` }));
  await client.makeUsers({ userType: 'customer', users });
}
const { rows: found } = await scene.sql.query('select tenant_id::int from tenants order by 1');
const [left = 0, right = 0] = found.map((row) => row.tenant_id as number);

const connection = { ...scene.cluster.api, database: scene.databaseName };
type Asked = { kind?: object; max?: number };

/** A way to read as a tenant, with others of the same moment. */
async function reading(
  work: (
    read: <T>(tenantId: number, inside: (tx: Tx) => Promise<T>) => Promise<T>,
  ) => Promise<void>,
  asked: Asked = {},
): Promise<void> {
  const database = openDatabase({ connection, name: 'test reads', max: asked.max ?? 1 });
  const { kind = {} } = asked;
  try {
    await work((tenantId, inside) =>
      transact(
        database,
        {
          opening: openingFor(tenantId),
          readOnly: true,
          company: { tenantId, kind },
        },
        inside,
      ),
    );
  } finally {
    await database.close();
  }
}

type Seen = { tenants: number[]; at: string };

/** Without naming a tenant: what is seen is what row-level security lets through. */
async function see(tx: Tx): Promise<Seen> {
  const { rows } = await sql<{ tenant_id: number; at: string }>`
    select tenant_id, now()::text as at from parties
  `.execute(tx);
  return { tenants: [...new Set(rows.map((row) => row.tenant_id))], at: rows[0]?.at ?? '' };
}

test('reads of one moment share a transaction with their own tenant and with no other', async () => {
  // A kind of its own for each round: on a busy machine one may be found to be slow.
  for (let round = 0; round < 10; round += 1) {
    await reading(async (read) => {
      const wanted = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? left : right));
      const seen = await Promise.all(wanted.map((tenantId) => read(tenantId, see)));
      assert.deepEqual(
        seen.map((one) => one.tenants),
        wanted.map((tenantId) => [tenantId]),
      );
      const times = new Set(seen.map((one) => one.at));
      assert.equal(times.size, 3, 'at most 16 together: one transaction for 14, two for 26');
    });
  }
});

test('a statement that comes later is still of the tenant, and still changes nothing', async () => {
  await reading(async (read) => {
    const both = [left, right].map((tenantId) =>
      read(tenantId, async (tx) => {
        const first = await see(tx);
        await new Promise((resolve) => setTimeout(resolve, 5));
        const second = await see(tx);
        assert.deepEqual([first.tenants, second.tenants], [[tenantId], [tenantId]]);
        assert.notEqual(first.at, second.at);
        const change = sql`update parties set name = 'x' where tenant_id = ${tenantId}`;
        await assert.rejects(change.execute(tx), { code: '25006' });
      }),
    );
    await Promise.all(both);
    const [names] = (
      await scene.sql.query(`select count(*)::int as changed from parties where name = 'x'`)
    ).rows;
    assert.equal(names.changed, 0);
  });
});

test('what fails in one read fails in no other', async () => {
  await reading(async (read) => {
    const tries = Array.from({ length: 12 }, (_, i) =>
      read(left, async (tx) => {
        if (i % 4 === 1) await sql`select 1 / 0`.execute(tx);
        return see(tx);
      }),
    );
    const settled = await Promise.allSettled(tries);
    for (const [i, one] of settled.entries()) {
      if (i % 4 !== 1) assert.deepEqual(one.status === 'fulfilled' && one.value.tenants, [left]);
      else assert.equal(one.status === 'rejected' && one.reason.code, '22012');
    }
  });
});

test('a value that cannot be sent fails its own read, on a connection that stays good', async () => {
  await reading(async (read) => {
    const unsendable = {
      toPostgres: () => {
        throw new Error('no such form');
      },
    };
    const [bad, good, other] = await Promise.allSettled([
      read(left, (tx) => sql`select ${unsendable}::text`.execute(tx)),
      read(left, see),
      read(right, see),
    ]);
    assert.match(String(bad.status === 'rejected' && bad.reason), /no such form/);
    assert.deepEqual(good.status === 'fulfilled' && good.value.tenants, [left]);
    assert.deepEqual(other.status === 'fulfilled' && other.value.tenants, [right]);
    assert.deepEqual((await read(left, see)).tenants, [left]);
  });
});

test('what many look up at once is asked once, and each gets its own', async () => {
  const asked: (readonly number[])[] = [];
  const names: Lookup<number, string> = async (tx, tenantId, partyIds) => {
    asked.push(partyIds);
    const { rows } = await sql<{ party_id: number; name: string }>`
      select party_id, name from parties
      where tenant_id = ${tenantId} and party_id = any(${partyIds}::bigint[])
    `.execute(tx);
    return new Map(rows.map((row) => [row.party_id, row.name]));
  };
  await reading(async (read) => {
    const wanted = [1, 2, 2, 3, 999];
    const ask = (tenantId: number) =>
      wanted.map((partyId) => read(tenantId, (tx) => tx.lookUp(names, tenantId, partyId)));
    const both = await Promise.all([left, right].map((tenantId) => Promise.all(ask(tenantId))));
    assert.deepEqual(both, [
      ['0 0', '0 1', '0 1', '0 2', undefined],
      ['1 0', '1 1', '1 1', '1 2', undefined],
    ]);
    assert.deepEqual(asked, [
      [1, 2, 3, 999, -1, -2, -3, -4, -5, -6],
      [1, 2, 3, 999, -1, -2, -3, -4, -5, -6],
    ]);
  });
  const inWrite = await transact(scene.api, { opening: openingFor(left) }, (tx) =>
    tx.lookUp(names, left, 5),
  );
  assert.equal(inWrite, '0 4', 'in a transaction that may write it is asked for by itself');
});

test('a lookup that fails does so for all its callers, and leaves others alone', async () => {
  const broken: Lookup<number, string> = async (tx) => {
    await sql`select 1 / 0`.execute(tx);
    return new Map();
  };
  await reading(async (read) => {
    const settled = await Promise.allSettled([
      read(left, (tx) => tx.lookUp(broken, left, 1)),
      read(left, see),
      read(left, (tx) => tx.lookUp(broken, left, 2)),
    ]);
    assert.deepEqual(
      settled.map((one) => one.status),
      ['rejected', 'fulfilled', 'rejected'],
    );
  });
});

test('a kind of read that was slow does not keep other reads waiting again', async () => {
  const slow = {};
  await reading(
    async (read) => {
      for (let turn = 0; turn < 2; turn += 1) {
        await read(left, (tx) => sql`select pg_sleep(0.3)`.execute(tx));
      }
      const seen = await Promise.all([read(left, see), read(left, see)]);
      assert.notEqual(seen[0]?.at, seen[1]?.at, 'each has a connection to itself');
    },
    { kind: slow, max: 2 },
  );
});

test('a lost connection fails what was on it, and the next read has another', async () => {
  await reading(async (read) => {
    const lost = Array.from({ length: 30 }, (_, i) =>
      read(i % 2 === 0 ? left : right, (tx) => sql`select pg_sleep(10)`.execute(tx)),
    );
    const settling = Promise.allSettled(lost);
    const wanted = `application_name = 'test reads' and wait_event = 'PgSleep'`;
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where ${wanted}`;
    while ((await scene.sql.query(end)).rowCount === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const first = await Promise.race(lost.map((one) => one.catch((error) => error)));
    assert.ok(first instanceof Error);
    // Those that were only in company with a failed one are run again, each by itself.
    const ends = setInterval(() => void scene.sql.query(end), 20);
    assert.ok((await settling).every((one) => one.status === 'rejected'));
    clearInterval(ends);
    assert.deepEqual((await read(left, see)).tenants, [left]);
  });
});

test('the plan of a lookup of one key is kept', async () => {
  const names: Lookup<number, string> = async (tx, tenantId, partyIds) => {
    const { rows } = await sql<{ party_id: number; name: string }>`
      select name, party_id from parties
      where tenant_id = ${tenantId} and party_id = any(${partyIds}::bigint[])
    `.execute(tx);
    return new Map(rows.map((row) => [row.party_id, row.name]));
  };
  await reading(async (read) => {
    for (let i = 0; i < 8; i += 1) await read(left, (tx) => tx.lookUp(names, left, 5));
    const { rows } = await read(left, (tx) =>
      sql<{ kept: number }>`
        select generic_plans as kept from pg_prepared_statements
        where statement like '%select name, party_id from parties%'
          and statement not like '%pg_prepared_statements%'
      `.execute(tx),
    );
    assert.ok((rows[0]?.kept ?? 0) >= 1);
  });
});
