// A database that is migrated step by step while it is in use.
import { after } from 'node:test';
import pg from 'pg';
import { migrate, readMigrations } from '../../src/base/db/migrate.ts';
import { dropDatabase, emptyDatabase, stopOwnCluster, theCluster } from './cluster.ts';

/** Two workspaces, as the third migration knows them. */
const workspaces = `
  insert into workspaces select n, 'w' || n, now() from generate_series(1, 2) n;
  select set_config('app.tenant', '1', false);
  insert into tenants select 1, 'Active', 'One', 'UTC', 'PKR', 2, 'PK', 'en', '{number}',
    '{number}', '{Email}', '{}', '[]', null, null, false, 0, 1, now(), now(), 'x', 1;
  select set_config('app.tenant', '2', false);
  insert into tenants select 2, 'Active', 'Two', 'UTC', 'PKR', 2, 'PK', 'en', '{number}',
    '{number}', '{Email}', '{}', '[]', null, null, false, 0, 1, now(), now(), 'x', 1;
`;

export type InSteps = {
  /** Its owner's, inside the second workspace. */
  client: pg.Client;
  /** All migrations up to a number. */
  upTo(last: number): Promise<unknown>;
  enter(tenantId: number): Promise<unknown>;
};

export async function migratedInSteps(): Promise<InSteps> {
  const cluster = await theCluster();
  const database = await emptyDatabase(cluster);
  const connection = { ...cluster.owner, database };
  const migrations = await readMigrations(new URL('../../migrations/', import.meta.url));
  const upTo = (last: number) =>
    migrate(
      connection,
      migrations.filter(({ version }) => version <= last),
    );
  await upTo(3);
  const client = new pg.Client(connection);
  await client.connect();
  after(async () => {
    await client.end();
    await dropDatabase(cluster, database);
    await stopOwnCluster();
  });
  await client.query(workspaces);
  const enter = (tenantId: number) =>
    client.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  return { client, upTo, enter };
}
