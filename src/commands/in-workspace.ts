// Commands that work in one workspace, as the owner of the tables.
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { openOwnerDatabase, prepareDatabase } from '../context.ts';
import { findSettings, listWorkspaces } from '../domain/tenants/store.ts';
import { type Tenant, tenantFrom } from '../domain/tenants/tenant.ts';
import { openForCommand } from './shutdown.ts';

export type Workspace = {
  database: Database;
  tenant: Tenant;
  /** The workspace's time, which a sandbox may have moved ahead. */
  now: Temporal.Instant;
  realNow: Temporal.Instant;
};

/** Also works while a server runs: it joins the same database. */
export async function inWorkspace<T>(
  config: Config,
  name: string,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      const tenant = await findTenant(database, name.toLowerCase());
      const realNow = context.clock.now();
      const now = realNow.add({ milliseconds: tenant.clockOffsetMs });
      return await work({ database, tenant, now, realNow });
    } finally {
      await database.close();
    }
  } finally {
    await context.close();
  }
}

async function findTenant(database: Database, workspace: string): Promise<Tenant> {
  const options = { opening: plainOpening, readOnly: true };
  const all = await transact(database, options, (tx) => listWorkspaces(tx));
  const tenantId = all.find((one) => one.workspace === workspace)?.tenant_id;
  if (tenantId === undefined) throw new Error(`There is no workspace named '${workspace}'.`);
  const settings = await tenantTransact(database, tenantId, (tx) => findSettings(tx, tenantId));
  return { ...tenantFrom(tenantId, settings), workspace };
}
