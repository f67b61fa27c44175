// The workspace that a first `start` makes, so that there is something to log in to.
import { plainOpening, transact } from '../base/db/pool.ts';
import { type Context, openOwnerDatabase } from '../context.ts';
import { createWorkspace, prepareWorkspace } from '../domain/access/workspaces.ts';
import { listWorkspaces } from '../domain/tenants/store.ts';

export const demo = {
  workspace: 'demo',
  username: 'admin@demo.example',
  password: 'billwright-demo',
} as const;

/** Makes the demo workspace when there is none at all. */
export async function ensureDemo(context: Context): Promise<void> {
  const database = openOwnerDatabase(context);
  try {
    const options = { opening: plainOpening, readOnly: true };
    const existing = await transact(database, options, (tx) => listWorkspaces(tx));
    if (existing.length > 0) return;
    const prepared = await prepareWorkspace({
      workspace: demo.workspace,
      name: 'Demo Utility',
      timezone: 'Asia/Karachi',
      currency: 'PKR',
      country: 'PK',
      locale: 'en-PK',
      sandbox: true,
      adminEmail: demo.username,
      adminPassword: demo.password,
    });
    const { clock } = context;
    await transact(database, { opening: plainOpening }, (tx) =>
      createWorkspace(tx, prepared, clock.now()),
    );
    context.log.info({ workspace: demo.workspace }, 'demo workspace made');
  } finally {
    await database.close();
  }
}
