// A subscription changes hands: the old owner's days end where the new one's begin.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ensureAccounts } from '../parties/accounts.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  assertNotAhead,
  assertNotBefore,
  assertState,
  assertUnbilled,
  type Changed,
  type DatedChange,
  enterReadings,
  type GivenReading,
  lockForChange,
} from './changes.ts';
import { lockPartiesInUse, type PartyInUse } from './lookups-store.ts';
import { contextOf, type Workspace } from './resolve.ts';
import { moveBalances } from './settlement.ts';
import { type SubscriptionRow, updateSubscription } from './store.ts';
import type { SubscriptionUser, Transfer } from './subscription.ts';

export const balanceHandlings = ['StayWithOld', 'MoveToNew'] as const;

export type WantedTransfer = DatedChange & {
  toPartyId: number | null;
  toPartyNumber: number | null;
  accountLabel: string | null;
  readings: readonly GivenReading[];
  balanceHandling: (typeof balanceHandlings)[number];
  reason: string | null;
};

export async function transferSubscription(
  tx: Tx,
  workspace: Workspace,
  change: WantedTransfer,
  stamp: Stamp,
): Promise<Changed> {
  const { tenantId } = workspace;
  const before = await lockForChange(tx, tenantId, change);
  const { date, dateField } = change;
  assertState(before, date, ['Active', 'Disconnected']);
  assertNotAhead(change, 'A subscription is transferred');
  assertUnbilled(before, date, dateField);
  const owner = ownerOf(before);
  assertNotBefore(owner.fromDate, date, dateField);
  const party = await newOwner(tx, tenantId, before, change);
  await enterReadings(tx, tenantId, before, { ...change, usualType: 'Check' }, stamp);
  const label = change.accountLabel ?? before.subscription_number;
  const wanted = [{ partyId: party.party_id, label }];
  const [accountId = 0] = await ensureAccounts(tx, tenantId, wanted, stamp);
  const transferId = await takeNumbers(tx, tenantId, 'transfer', 1);
  const amountMoved =
    change.balanceHandling === 'MoveToNew'
      ? await move(tx, workspace, before, { party, transferId, today: change.today }, stamp)
      : 0;
  const transfer = recordOf(before, change, { party, transferId, amountMoved, stamp });
  const after = await updateSubscription(
    tx,
    tenantId,
    {
      ...before,
      party_id: party.party_id,
      account_id: accountId,
      users: handedOver(before.users, party, date.toString()),
      transfers: [...before.transfers, transfer],
    },
    stamp,
  );
  return { before, after };
}

function ownerOf(row: SubscriptionRow): SubscriptionUser {
  const owner = row.users.findLast((user) => user.role === 'Owner');
  if (!owner) throw new Error(`subscription ${row.subscription_number} has no owner`);
  return owner;
}

async function newOwner(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  { toPartyId, toPartyNumber }: WantedTransfer,
): Promise<PartyInUse> {
  const field = toPartyId === null ? 'data.toPartyNumber' : 'data.toPartyID';
  if (toPartyId === null && toPartyNumber === null) {
    throw new AppError('REQUIRED_FIELD', {
      message: 'Name the new owner by toPartyID or toPartyNumber',
      field: 'data.toPartyID',
    });
  }
  const ids = toPartyId === null ? [] : [toPartyId];
  const numbers = toPartyNumber === null ? [] : [toPartyNumber];
  // The old owner, too: its wallet and balances may change hands, and it must not be archived now.
  const parties = await lockPartiesInUse(tx, tenantId, { ids: [...ids, row.party_id], numbers });
  const byId = parties.find((one) => one.party_id === toPartyId);
  const byNumber = parties.find((one) => one.party_number === toPartyNumber);
  const party = byId ?? byNumber;
  if (!party || (toPartyId !== null && !byId) || (toPartyNumber !== null && !byNumber)) {
    throw new AppError('PARTY_NOT_FOUND', { field });
  }
  if (byId && byNumber && byId !== byNumber) {
    throw new AppError('PARTY_KEY_MISMATCH', { field: 'data.toPartyNumber' });
  }
  if (party.archived) throw new AppError('PARTY_ARCHIVED', { field });
  if (party.party_id === row.party_id) {
    throw new AppError('DUPLICATE', {
      message: `Party ${party.party_number} owns ${row.subscription_number} already`,
      field,
    });
  }
  return party;
}

async function move(
  tx: Tx,
  workspace: Workspace,
  row: SubscriptionRow,
  options: { party: PartyInUse; transferId: number; today: Temporal.PlainDate },
  stamp: Stamp,
): Promise<number> {
  const { party, transferId, today } = options;
  const context = await contextOf(tx, workspace, row.context_id);
  const { business_unit_id: businessUnitId } = context.row;
  const posting = { toPartyId: party.party_id, transferId, today, businessUnitId };
  return moveBalances(tx, workspace.tenantId, row, posting, stamp);
}

function recordOf(
  before: SubscriptionRow,
  change: WantedTransfer,
  done: { party: PartyInUse; transferId: number; amountMoved: number; stamp: Stamp },
): Transfer {
  return {
    transferId: done.transferId,
    transferDate: change.date.toString(),
    fromPartyId: before.party_id,
    fromAccountId: before.account_id,
    toPartyId: done.party.party_id,
    readings: change.readings.map(({ meterNumber, register, value }) => ({
      number: meterNumber,
      register,
      value,
    })),
    balanceHandling: change.balanceHandling,
    amountMoved: done.amountMoved,
    reason: change.reason,
    createdAt: done.stamp.at.toString(),
    createdBy: done.stamp.by,
  };
}

/** The users of the former owner end with its last day, also those of days that were to come. */
function handedOver(
  users: readonly SubscriptionUser[],
  party: PartyInUse,
  date: string,
): SubscriptionUser[] {
  const ended = users
    .filter((user) => user.fromDate < date)
    .map((user) => ((user.toDate ?? date) < date ? user : { ...user, toDate: date }));
  return [...ended, { partyId: party.party_id, role: 'Owner', fromDate: date }];
}
