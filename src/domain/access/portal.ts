// What happens to the logins of a party that goes.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { revokeSessionsOf } from './sessions-store.ts';
import {
  countActiveAdministrators,
  listActiveLoginsOfParty,
  lockAdministrators,
  showPortalStatus,
  updateLogin,
} from './store.ts';

/**
 * A party that is archived cannot log in; restoring it does not open its logins again, nor the
 * sessions they had. Returns the logins that were closed.
 */
export async function closeLoginsOfParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
  stamp: Stamp,
): Promise<number[]> {
  const loginIds = await listActiveLoginsOfParty(tx, tenantId, partyId);
  if (loginIds.length === 0) return [];
  await lockAdministrators(tx, tenantId);
  for (const loginId of loginIds) {
    await updateLogin(tx, tenantId, loginId, { status: 'INACTIVE' }, stamp);
    const revocation = { at: stamp.at, reason: 'The party was archived' };
    await revokeSessionsOf(tx, tenantId, { loginId }, revocation);
  }
  await showPortalStatus(tx, tenantId, [partyId]);
  if ((await countActiveAdministrators(tx, tenantId)) === 0) {
    throw new AppError('LAST_ADMINISTRATOR', { field: 'user.archiveStatus' });
  }
  return loginIds;
}
