// Changing a party: its facts, its billing accounts, and whether it is archived.

import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../base/counted.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Stamp } from '../../base/stamp.ts';
import { closeLoginsOfParty } from '../access/portal.ts';
import { type EventType, eventsOf, insertEvents } from '../events/events-store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  type AccountRow,
  insertAccounts,
  listAccountsOfParty,
  renameAccounts,
} from './accounts-store.ts';
import { hasIdleSkills, type PartyDetails } from './party.ts';
import { findArchiveObstacles, lockPartiesByKeys, type PartyRow, updateParty } from './store.ts';

export type PartyKeys = { partyId: number | undefined; partyNumber: number | undefined };

export type PartyChange = {
  /** Absent facts stay as they are. */
  facts: Partial<PartyDetails>;
  archived: boolean | undefined;
  accounts: readonly { accountId?: number; label: string }[];
  /** The `ts` that the caller has seen. */
  seenTs: number | undefined;
};

export type PartyUpdate = {
  before: PartyRow;
  after: PartyRow;
  accountsBefore: AccountRow[];
  accountsAfter: AccountRow[];
  /** Logins of the party that ended with its archiving. */
  closedLogins: number[];
};

export async function changeParty(
  tx: Tx,
  tenantId: number,
  keys: PartyKeys,
  change: PartyChange,
  stamp: Stamp,
): Promise<PartyUpdate> {
  const before = await lockParty(tx, tenantId, keys);
  const facts = factsFor(before, change.facts);
  const what = `Party ${before.party_number}`;
  assertNotStale(change.seenTs, before, { what, field: 'user.ts' });
  if (before.erased_on !== null) {
    const message = `The personal data of party ${before.party_number} was erased`;
    throw new AppError('PARTY_ARCHIVED', { message, field: 'user.archiveStatus' });
  }
  const archived = change.archived ?? before.archived;
  if (before.archived && archived && (changesFacts(before, facts) || change.accounts.length > 0)) {
    throw new AppError('PARTY_ARCHIVED', { field: 'user.archiveStatus' });
  }
  if (archived && !before.archived) await assertArchivable(tx, tenantId, before);
  const closedLogins =
    archived && !before.archived
      ? await closeLoginsOfParty(tx, tenantId, before.party_id, stamp)
      : [];
  const accountsBefore = await listAccountsOfParty(tx, tenantId, before.party_id);
  const accountsAfter = await changeAccounts(tx, tenantId, before.party_id, {
    accounts: accountsBefore,
    wanted: change.accounts,
    stamp,
  });
  const after = await updateParty(
    tx,
    tenantId,
    before.party_id,
    { ...factsOf(before), ...facts, partyNumber: before.party_number, archived },
    stamp,
  );
  const type = eventOf(before, after);
  const events = eventsOf(type, 'partyNumber', [after.party_number]);
  await insertEvents(tx, tenantId, events, stamp.at);
  return { before, after, accountsBefore, accountsAfter, closedLogins };
}

function eventOf(before: PartyRow, after: PartyRow): EventType {
  if (before.archived === after.archived) return 'party.updated';
  return after.archived ? 'party.archived' : 'party.restored';
}

/** Skills of a customer can only be taken away. */
function factsFor({ kind }: PartyRow, sent: Partial<PartyDetails>): Partial<PartyDetails> {
  const { competencies, ...others } = sent;
  return hasIdleSkills(kind, competencies) ? others : sent;
}

export async function lockParty(tx: Tx, tenantId: number, keys: PartyKeys): Promise<PartyRow> {
  const rows = await lockPartiesByKeys(tx, tenantId, keys);
  const { partyId, partyNumber } = keys;
  const byId = rows.find((row) => row.party_id === partyId);
  const byNumber = rows.find((row) => row.party_number === partyNumber);
  if (partyId !== undefined && !byId) {
    const message = `No party has the id ${partyId}`;
    throw new AppError('PARTY_NOT_FOUND', { message, field: 'user.partyID' });
  }
  if (partyNumber !== undefined && !byNumber) {
    const message = `No party has the number ${partyNumber}`;
    throw new AppError('PARTY_NOT_FOUND', { message, field: 'user.partyNumber' });
  }
  const party = byId ?? byNumber;
  if (!party) throw new Error('a party is looked for by a key');
  if (byNumber && party !== byNumber) {
    throw new AppError('PARTY_KEY_MISMATCH', { field: 'user.partyNumber' });
  }
  return party;
}

/** Refuses a party that still has subscriptions, owes, is owed, or has a wallet. */
export async function assertArchivable(
  tx: Tx,
  tenantId: number,
  party: PartyRow,
  field = 'user.archiveStatus',
): Promise<void> {
  const obstacles = await findArchiveObstacles(tx, tenantId, party.party_id);
  if (obstacles.activeSubscriptions > 0) {
    throw new AppError('PARTY_HAS_ACTIVE_SUBSCRIPTIONS', {
      message:
        `Party ${party.party_number} still has ` +
        `${counted(obstacles.activeSubscriptions, 'active subscription')}, ` +
        'with those that begin later',
      field,
    });
  }
  if (obstacles.hasBalance) {
    throw new AppError('PARTY_HAS_BALANCE', { field });
  }
}

/** Labels that exist are kept, new ones make an account, an id renames. Nothing is ever removed. */
async function changeAccounts(
  tx: Tx,
  tenantId: number,
  partyId: number,
  change: { accounts: AccountRow[]; wanted: PartyChange['accounts']; stamp: Stamp },
): Promise<AccountRow[]> {
  const labelById = new Map(change.accounts.map((account) => [account.account_id, account.label]));
  const renamed = new Map<number, string>();
  for (const { accountId, label } of change.wanted) {
    if (accountId === undefined) continue;
    if ((renamed.get(accountId) ?? label) !== label) {
      throw new AppError('DUPLICATE', {
        message: `The billing account with id ${accountId} is given two labels`,
        field: 'user.connectionGroups',
      });
    }
    renamed.set(accountId, label);
    if (!labelById.has(accountId)) {
      throw new AppError('ACCOUNT_NOT_FOUND', {
        message: `The party has no billing account with id ${accountId}`,
        field: 'user.connectionGroups',
      });
    }
    labelById.set(accountId, label);
  }
  const renames = change.accounts
    .map((account) => ({ account, label: labelById.get(account.account_id) ?? account.label }))
    .filter(({ account, label }) => account.label !== label)
    .map(({ account, label }) => ({ accountId: account.account_id, label }));
  // The labels as they are once renamed: one that a rename sets free is new again.
  const known = new Set(labelById.values());
  const labels = new Set(
    change.wanted
      .filter(({ accountId, label }) => accountId === undefined && !known.has(label))
      .map(({ label }) => label),
  );
  if (renames.length === 0 && labels.size === 0) return change.accounts;
  if (renames.length > 0) await renameAccounts(tx, tenantId, partyId, renames, change.stamp);
  if (labels.size > 0) {
    const firstId = await takeNumbers(tx, tenantId, 'account', labels.size);
    const accounts = { firstId, labels: [...labels] };
    await insertAccounts(tx, tenantId, partyId, accounts, change.stamp);
  }
  return listAccountsOfParty(tx, tenantId, partyId);
}

/** Facts sent as they are change nothing: callers often send the whole party back. */
function changesFacts(before: PartyRow, facts: Partial<PartyDetails>): boolean {
  const known = factsOf(before);
  return !isDeepStrictEqual({ ...known, ...facts }, known);
}

function factsOf(row: PartyRow): PartyDetails {
  return {
    name: row.name,
    email: row.email,
    country: row.country,
    contacts: row.contacts,
    identityNumber: row.identity_number,
    taxNumber: row.tax_number,
    address: row.address,
    language: row.language,
    competencies: row.competencies,
    deliveryChannels: row.delivery_channels,
  };
}
