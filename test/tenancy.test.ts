// The wall between workspaces, attacked by SQL as the role that serves calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import * as Type from 'typebox';
import {
  type Database,
  openDatabase,
  openingFor,
  plainOpening,
  transact,
} from '../src/base/db/pool.ts';
import { sql } from '../src/base/db/sql.ts';
import { hashToken } from '../src/base/secrets.ts';
import { operations } from '../src/operations/catalogue.ts';
import { type Operation, operation } from '../src/operations/operation.ts';
import { openScene } from './support/scene.ts';
import { hashRows, known, openTwoWorkspaces, tablesOf } from './support/two-workspaces.ts';

/** A forbidden operation: no tenant in the statement. */
const forgetful = operation({
  path: '/billing/users/forget-tenant',
  method: 'Retrieve',
  action: 'Forget Tenant',
  access: { permission: 'parties:read' },
  summary: 'Lists parties and forgets whose.',
  request: Type.Object({}),
  response: Type.Unsafe<object>({}),
  errors: [],
  example: {},
  async handle(call) {
    const { rows } = await sql<object>`select * from parties`.execute(call.tx);
    return { message: '', data: rows };
  },
});

const scene = await openScene({
  ownDatabase: true,
  operations: [...operations, ['forgetTenant', forgetful as unknown as Operation]],
});
const { a, b, tenantA, tenantB, mark } = await openTwoWorkspaces(scene);
const connection = { ...scene.cluster.api, database: scene.databaseName };

/** One connection of the role that serves calls, in a transaction that is rolled back. */
async function asApi<T>(
  tenantId: number | null,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query('begin');
    if (tenantId !== null) await enter(client, tenantId);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function enter(client: pg.Client, tenantId: number): Promise<void> {
  const { text, values } = openingFor(tenantId);
  await client.query(text, [...values]);
}

const denied = { code: '42501' };

/** A cluster refuses two of the attempts by rules of its own, before the policy is asked. */
const refusedByCluster =
  /^(COPY FROM not supported with row-level|modifying the partition value of rows is not allowed)/;
const isDenied = ({ code, message }: Error & { code?: string }) =>
  code === '42501' || refusedByCluster.test(message);

async function tablesWith(right: string): Promise<string[]> {
  const tables = await tablesOf(scene.sql);
  const { rows } = await scene.sql.query<{ name: string }>(
    `select name from unnest($1::text[]) as t (name)
     where has_table_privilege('billwright_api', name, $2)`,
    [tables, right],
  );
  return rows.map((row) => row.name);
}

test('without a tenant every table is empty, and require_tenant() raises', async () => {
  const tables = await tablesWith('select');
  assert.ok(tables.length > 10);
  await asApi(null, async (client) => {
    for (const table of tables) {
      const { rows } = await client.query(`select count(*)::integer as count from ${table}`);
      assert.equal(rows[0].count, 0, table);
    }
    await assert.rejects(client.query('select require_tenant()'), denied);
  });
});

test('with a tenant set, no table shows a row of another', async () => {
  for (const table of await tablesWith('select')) {
    await asApi(tenantA, async (client) => {
      const { rows } = await client.query(`select distinct tenant_id::integer as id from ${table}`);
      for (const { id } of rows) assert.equal(id, tenantA, table);
      const foreign = `select count(*)::integer as count from ${table} where tenant_id = $1`;
      assert.equal((await client.query(foreign, [tenantB])).rows[0].count, 0, table);
    });
  }
});

test('one connection that serves two tenants in turn never mixes them up', async () => {
  const database = openDatabase({ connection, name: 'test one', max: 1 });
  try {
    const numbersOf = (tenantId: number, readOnly: boolean) =>
      transact(database, { opening: openingFor(tenantId), readOnly }, async (tx) => {
        // The same text each time: after a few calls PostgreSQL keeps one plan for all of them.
        const { rows } = await sql<{ tenant_id: number; name: string }>`
          select tenant_id, name from parties order by party_id
        `.execute(tx);
        assert.ok(rows.length > 0);
        return rows;
      });
    for (let turn = 0; turn < 40; turn += 1) {
      const wanted = turn % 2 === 0 ? tenantA : tenantB;
      const rows = await numbersOf(wanted, turn % 3 === 0);
      for (const row of rows) assert.equal(row.tenant_id, wanted, `turn ${turn}`);
      if (turn % 5 === 0) await failIn(database, tenantB);
      await assertNobody(database);
    }
    await Promise.all(
      Array.from({ length: 40 }, async (_, turn) => {
        const wanted = turn % 2 === 0 ? tenantA : tenantB;
        for (const row of await numbersOf(wanted, true)) assert.equal(row.tenant_id, wanted);
      }),
    );
  } finally {
    await database.close();
  }
});

async function failIn(database: Database, tenantId: number): Promise<void> {
  const failing = transact(database, { opening: openingFor(tenantId) }, async (tx) => {
    await sql`select 1 / 0`.execute(tx);
  });
  await assert.rejects(failing, { code: '22012' });
}

/** In a transaction without a tenant, no rows are visible. */
async function assertNobody(database: Database): Promise<void> {
  for (const readOnly of [true, false]) {
    const { rows } = await transact(database, { opening: plainOpening, readOnly }, (tx) =>
      sql`select party_id from parties`.execute(tx),
    );
    assert.deepEqual(rows, []);
  }
}

test('row-level security cannot be switched off', async () => {
  await asApi(tenantA, async (client) => {
    await client.query('set local row_security = off');
    await assert.rejects(client.query('select * from parties'), denied);
  });
  for (const attempt of [
    'alter table parties disable row level security',
    'drop policy tenant_wall on parties',
    'create policy mine on parties using (true)',
    'set role billwright',
    'set role billwright_worker',
    'set role billwright_search',
    'set session authorization billwright',
    'create function public.current_tenant() returns bigint return 1',
    'select * from workspaces',
    'truncate audit_entries',
    'update audit_entries set actor = actor',
    'delete from audit_entries',
    'delete from parties',
  ]) {
    await asApi(tenantA, async (client) => {
      await assert.rejects(client.query(attempt), denied, attempt);
    });
  }
});

/** Those that are not computed from others. */
async function writtenColumns(table: string): Promise<string> {
  const { rows } = await scene.sql.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0]?.columns ?? '';
}

test('no row can be put into, moved to or changed in another tenant', async () => {
  const before = await hashRows(scene.sql);
  let tried = 0;
  for (const table of await tablesWith('insert')) {
    const { rows } = await scene.sql.query<{ row: object }>(
      `select to_jsonb(t) as row from ${table} t where tenant_id = $1 limit 1`,
      [tenantB],
    );
    if (!rows[0]) continue;
    tried += 1;
    const columns = await writtenColumns(table);
    const insert = `insert into ${table} (${columns})
      select ${columns} from jsonb_populate_record(null::${table}, $1)`;
    await asApi(tenantA, async (client) => {
      await assert.rejects(client.query(insert, [rows[0]?.row]), isDenied, table);
    });
  }
  assert.ok(tried >= 10, `${tried} tables`);
  for (const table of await tablesWith('update')) {
    await asApi(tenantA, async (client) => {
      const foreign = `update ${table} set tenant_id = tenant_id where tenant_id = $1`;
      assert.equal((await client.query(foreign, [tenantB])).rowCount, 0, table);
      const { rows } = await client.query(`select 1 from ${table} limit 1`);
      if (rows.length === 0) return;
      const move = client.query(`update ${table} set tenant_id = $1`, [tenantB]);
      await assert.rejects(move, isDenied, table);
    });
  }
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('no row can be linked to a row of another tenant', async () => {
  const stamp = "now(), 'x', now(), 'x', 1";
  const links = {
    'an account to a party': `insert into billing_accounts (tenant_id, account_id, party_id, label,
      created_at, created_by, modified_at, modified_by, ts)
      values (${tenantA}, 99, 3, 'x', ${stamp})`,
    'an account to a group': `update billing_accounts set billing_group_id = 2
      where tenant_id = ${tenantA}`,
    'a meter to a type': `insert into meters (tenant_id, meter_id, number, brand, meter_type_id,
      purchase_date, mf, search_text, created_at, created_by, modified_at, modified_by, ts)
      values (${tenantA}, 99, 99, 'x', 7, '2024-01-01', 1, 'x', ${stamp})`,
    'a login to a party': `update logins set party_id = 3 where tenant_id = ${tenantA}`,
  };
  for (const [what, link] of Object.entries(links)) {
    await asApi(tenantA, async (client) => {
      await assert.rejects(client.query(link), { code: '23503' }, what);
    });
  }
});

test('names, numbers and addresses that another workspace uses are free', async () => {
  await a.addBillingGroup({ name: known.group });
  await a.makeLogins({
    logins: [
      {
        username: known.username,
        email: 'admin@beta.example',
        name: 'x',
        password: 'correct horse battery',
        roles: ['Auditor'],
      },
    ],
  });
  const clientSecret = 'a secret of at least thirty-two characters';
  await a.makeClients({
    clients: [{ clientID: known.clientId, clientSecret, roles: ['Auditor'] }],
  });
  const made = await a.makeUsers({ userType: 'customer', users: [{ name: known.party }] });
  assert.equal(made.headers.get('x-party-number'), '100002', 'a number that B uses too');
});

for (const search of ['search_parties', 'scan_parties']) {
  test(`${search}() finds own parties only, under every condition`, async () => {
    await assertFindsOwnOnly(`${search}('%', null, null, true)`);
  });
}

test('looking for a party by e-mail or contact needs a tenant and sees no other', async () => {
  const owner = scene.sql;
  await owner.query(
    `update parties set email = 'shared@mark.example',
       contacts = '[{"contactType": "Mobile", "contactValue": "+1 shared"}]'
     where party_id = 1`,
  );
  for (const call of [
    "find_parties_by_email('Shared@mark.example')",
    "find_parties_by_contact('+1 shared')",
  ]) {
    const { rows } = await owner.query(
      'select count(*)::integer as count from parties where party_id = 1',
    );
    assert.ok(rows[0].count >= 2, 'both tenants have such a party');
    await asApi(tenantA, async (client) => {
      const { rows: own } = await client.query(`select ${call} as id`);
      assert.deepEqual(
        own.map((row) => Number(row.id)),
        [1],
      );
    });
    await asApi(null, async (client) => {
      await assert.rejects(client.query(`select ${call}`), denied);
    });
  }
});

async function assertFindsOwnOnly(search: string): Promise<void> {
  const found = (tenantId: number, prepare: string) =>
    asApi(tenantId, async (client) => {
      if (prepare) await client.query(prepare);
      const { rows } = await client.query(`select ${search} as id order by 1`);
      const { rows: own } = await client.query(
        'select party_id as id from public.parties order by 1',
      );
      assert.deepEqual(rows, own);
      return rows.length;
    });
  const count = await found(tenantA, '');
  const decoy = `create temp table parties (tenant_id bigint, party_id bigint, search_text text);
    insert into pg_temp.parties values (${tenantA}, 3, 'x');
    set local search_path = pg_temp, public`;
  assert.equal(await found(tenantA, decoy), count);
  assert.equal(await found(tenantB, ''), 4);
  await asApi(null, async (client) => {
    await assert.rejects(client.query(`select ${search}`), denied);
  });
}

test('the searches of meters find own meters only', async () => {
  for (const search of ['search_meters', 'scan_meters']) {
    for (const [tenantId, count] of [
      [tenantA, 2],
      [tenantB, 4],
    ] as const) {
      await asApi(tenantId, async (client) => {
        const { rows } = await client.query(`select ${search}('%', null) as id`);
        assert.equal(rows.length, count);
      });
    }
    await asApi(null, async (client) => {
      await assert.rejects(client.query(`select ${search}('%', null)`), denied);
    });
  }
});

test('opening a call shows no token of another workspace, and nothing of the registry', async () => {
  const opened = async (tenantId: number, token: string | null) =>
    asApi(null, async (client) => {
      const { rows } = await client.query('select * from enter_call($1, $2)', [
        tenantId,
        hashToken(token ?? ''),
      ]);
      return rows[0];
    });
  assert.ok((await opened(tenantA, a.token)).session_id, 'its own is found');
  for (const [tenantId, token] of [
    [tenantA, b.token],
    [tenantB, a.token],
    [tenantB, 'x'],
  ] as const) {
    const row = await opened(tenantId, token);
    for (const column of ['session_id', 'principal_id', 'principal_name', 'roles', 'party_id']) {
      assert.equal(row[column], null, column);
    }
    assert.ok(!JSON.stringify(row).includes(mark));
  }
  assert.equal(await opened(4711, a.token), undefined);
  await asApi(null, async (client) => {
    const probe = "select find_workspace('beta') as id, find_workspace('%') as none";
    const { rows } = await client.query(probe);
    assert.deepEqual(rows, [{ id: String(tenantB), none: null }], 'an id and nothing else');
    assert.deepEqual((await client.query('select * from parties')).rows, []);
  });
});

test('the role of jobs sees one tenant at a time too', async () => {
  const worker = new pg.Client({ ...scene.cluster.owner, database: scene.databaseName });
  await worker.connect();
  try {
    await worker.query("begin; select set_config('role', 'billwright_worker', true)");
    assert.deepEqual((await worker.query('select * from parties')).rows, []);
    await enter(worker, tenantA);
    const { rows } = await worker.query('select distinct tenant_id::integer as id from parties');
    assert.deepEqual(rows, [{ id: tenantA }]);
    await worker.query('rollback');
  } finally {
    await worker.end();
  }
});

test('a handler that forgets its tenant sees the rows of its own workspace only', async () => {
  for (const [client, tenantId] of [
    [a, tenantA],
    [b, tenantB],
  ] as const) {
    const response = await fetch(new URL(forgetful.path, scene.baseUrl), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Workspace': client.workspace,
        Authorization: client.token ?? '',
      },
      body: JSON.stringify({ method: 'Retrieve', action: 'Forget Tenant', apiVersion: 'v2' }),
    });
    const { data } = (await response.json()) as { data: { tenant_id: number }[] };
    assert.ok(data.length > 0);
    for (const row of data) assert.equal(row.tenant_id, tenantId);
    assert.equal(JSON.stringify(data).includes(mark), client === b);
  }
});
