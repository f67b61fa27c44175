// Whether the demo's login can still be used by all who have read the README.
import { type Database, plainOpening, transact } from '../../base/db/pool.ts';
import { commandLine, verifySecret } from '../../base/secrets.ts';
import { enterTenant, findStatus, findTenantId } from '../tenants/store.ts';
import { demoLogin } from './demo-login.ts';
import { findLoginByName } from './store.ts';

/** True if the workspace exists and the demo's login still has the password from the README. */
export async function hasDefaultPassword(
  database: Database,
  workspace: string = demoLogin.workspace,
): Promise<boolean> {
  // No read-only one: what such a transaction sets holds for the statements sent with it alone.
  const login = await transact(database, { opening: plainOpening }, async (tx) => {
    const tenantId = await findTenantId(tx, workspace);
    if (tenantId === undefined) return undefined;
    await enterTenant(tx, tenantId);
    if ((await findStatus(tx, tenantId)) !== 'Active') return undefined;
    return findLoginByName(tx, tenantId, demoLogin.username);
  });
  if (login?.status !== 'ACTIVE') return false;
  return verifySecret(demoLogin.password, login.password_hash, commandLine);
}
