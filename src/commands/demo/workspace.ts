// The workspace that a first `start` makes, so that there is something to log in to and look at.
import { type Database, plainOpening, tenantTransact, transact } from '../../base/db/pool.ts';
import {
  type Context,
  inspectDatabase,
  openApiDatabase,
  openOwnerDatabase,
} from '../../context.ts';
import { demoLogin } from '../../domain/access/demo-login.ts';
import { createWorkspace, prepareWorkspace } from '../../domain/access/workspaces.ts';
import { findSettings, listWorkspaces, updateSettings } from '../../domain/tenants/store.ts';
import { demoLetterhead } from './letterhead.ts';

export const demo = demoLogin;

/**
 * Makes the demo workspace when there is no workspace at all and PostgreSQL is the embedded one. On
 * a database of the operator's own it is made only if it `isWanted`. Returns its id if it was made.
 */
export async function ensureDemo(
  context: Context,
  { isWanted }: { isWanted: boolean },
): Promise<number | undefined> {
  if (context.config.databaseUrl !== undefined && !isWanted) return undefined;
  const database = openOwnerDatabase(context);
  try {
    const options = { opening: plainOpening, readOnly: true };
    const existing = await transact(database, options, (tx) => listWorkspaces(tx));
    const isThere = existing.some(({ workspace }) => workspace === demo.workspace);
    if (isThere || (existing.length > 0 && !isWanted)) return undefined;
    const subscriptions = context.config.demoSubscriptions;
    const { workspace } = demo;
    const tenantId = await makeDemo(context, database, { workspace, subscriptions });
    context.log.info({ workspace, subscriptions }, 'demo workspace made');
    return tenantId;
  } finally {
    await database.close();
  }
}

export async function makeDemo(
  context: Context,
  owner: Database,
  options: { workspace: string; subscriptions: number; onProgress?: (done: number) => void },
): Promise<number> {
  const { username, password } = demo;
  const prepared = await prepareWorkspace({
    workspace: options.workspace,
    name: 'Demo Utility',
    timezone: 'Asia/Karachi',
    currency: 'PKR',
    country: 'PK',
    locale: 'en-PK',
    sandbox: true,
    adminEmail: username,
    adminPassword: password,
    isDemo: true,
  });
  const tenantId = await transact(owner, { opening: plainOpening }, (tx) =>
    createWorkspace(tx, prepared, context.clock.now()),
  );
  await tenantTransact(owner, tenantId, async (tx) => {
    const settings = { ...(await findSettings(tx, tenantId)), letterhead: demoLetterhead() };
    await updateSettings(tx, tenantId, settings, { at: context.clock.now(), by: 'demo' });
  });
  if (options.subscriptions === 0) return tenantId;
  // It makes calls, for which it loads all operations: a start that makes no demo does without.
  const { fillDemo } = await import('./fill.ts');
  // A program that only makes a demo has not done it before.
  if (context.isSpread === undefined) await inspectDatabase(context);
  const api = openApiDatabase(context);
  try {
    const target = { tenantId, workspace: options.workspace, username, password };
    await fillDemo(context, { owner, api }, target, options);
    return tenantId;
  } finally {
    await api.close();
  }
}
