// The README shows the demo's password: it must not guard anything that the network can reach.
import { plainOpening, transact } from '../base/db/pool.ts';
import { type Context, openOwnerDatabase } from '../context.ts';
import { hasDefaultPassword } from '../domain/access/default-password.ts';
import { listWorkspaces } from '../domain/tenants/store.ts';

const loopback = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** A workspace whose demo login still has its password. The demo may have any name. */
export async function findOpenWorkspace(context: Context): Promise<string | undefined> {
  const owner = openOwnerDatabase(context);
  try {
    const all = await transact(owner, { opening: plainOpening }, (tx) => listWorkspaces(tx));
    for (const { workspace } of all) {
      if (await hasDefaultPassword(owner, workspace)) return workspace;
    }
    return undefined;
  } finally {
    await owner.close();
  }
}
