// The accounts for what a workspace owes, on a database that is in use.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { migrate, readMigrations } from '../src/base/db/migrate.ts';
import { dropDatabase, emptyDatabase, stopOwnCluster, theCluster } from './support/cluster.ts';

const cluster = await theCluster();
const database = await emptyDatabase(cluster);
after(async () => {
  await dropDatabase(cluster, database);
  await stopOwnCluster();
});

const workspaceInUse = `
  insert into workspaces values (1, 'w1', now());
  select set_config('app.tenant', '1', false);
  insert into tenants select 1, 'Active', 'One', 'UTC', 'PKR', 2, 'PK', 'en', '{number}',
    '{number}', '{Email}', '{}', '[]', null, null, false, 0, 1, now(), now(), 'x', 1;
`;

test('a workspace gets both accounts, also if it has one of that name', async () => {
  const connection = { ...cluster.owner, database };
  const migrations = await readMigrations(new URL('../migrations/', import.meta.url));
  const upTo = (last: number) =>
    migrate(
      connection,
      migrations.filter(({ version }) => version <= last),
    );
  await upTo(3);
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(workspaceInUse);
    await upTo(28);
    await client.query(
      `insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind)
       values (1, 11, 'PAYABLE', 'PAYABLE', 'Income')`,
    );
    await upTo(29);
    const { rows } = await client.query(
      `select ledger_account_id::int as id, code, is_control from ledger_accounts
       where tenant_id = 1 and ledger_account_id > 10 order by 1`,
    );
    assert.deepEqual(rows, [
      { id: 11, code: 'PAYABLE', is_control: false },
      { id: 1000001, code: 'PAYABLE 1000001', is_control: true },
      { id: 1000002, code: 'EXPENSE', is_control: false },
    ]);
  } finally {
    await client.end();
  }
});
