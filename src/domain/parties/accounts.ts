// Finds billing accounts by their labels, and creates those that do not exist.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  type AccountLabel,
  insertAccountsOfParties,
  listAccountsByLabels,
} from './accounts-store.ts';

/** The ids of the accounts, in the order asked for. The caller has locked the parties. */
export async function ensureAccounts(
  tx: Tx,
  tenantId: number,
  wanted: readonly AccountLabel[],
  stamp: Stamp,
): Promise<number[]> {
  const found = await listAccountsByLabels(tx, tenantId, wanted);
  const idByKey = new Map(found.map((one) => [keyOf(one), one.accountId]));
  const missing = new Map<string, AccountLabel>();
  for (const one of wanted) if (!idByKey.has(keyOf(one))) missing.set(keyOf(one), one);
  if (missing.size > 0) {
    const firstId = await takeNumbers(tx, tenantId, 'account', missing.size);
    await insertAccountsOfParties(tx, tenantId, firstId, [...missing.values()], stamp);
    for (const [index, key] of [...missing.keys()].entries()) idByKey.set(key, firstId + index);
  }
  return wanted.map((one) => idByKey.get(keyOf(one)) ?? 0);
}

function keyOf({ partyId, label }: AccountLabel): string {
  return JSON.stringify([partyId, label]);
}
