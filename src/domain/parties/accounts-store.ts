import { rethrowViolation } from '../../base/db/faults.ts';
import type { Lookup, Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';

export type AccountRow = {
  account_id: number;
  party_id: number;
  label: string;
  billing_group_id: number | null;
};

export async function listAccountsOfParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    select account_id, party_id, label, billing_group_id
    from billing_accounts
    where tenant_id = ${tenantId} and party_id = ${partyId}
    order by account_id
  `.execute(tx);
  return rows;
}

export async function insertAccounts(
  tx: Tx,
  tenantId: number,
  partyId: number,
  accounts: { firstId: number; labels: readonly string[] },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into billing_accounts (
      tenant_id, account_id, party_id, label, created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, ${accounts.firstId}::bigint + r.position - 1, ${partyId}, r.label,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(${accounts.labels}::text[]) with ordinality as r (label, position)
  `.execute(tx);
  await noteCreated(tx, tenantId, accounts.firstId, accounts.labels.length, stamp);
}

async function noteCreated(
  tx: Tx,
  tenantId: number,
  firstId: number,
  count: number,
  stamp: Stamp,
): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => firstId + index);
  await insertEvents(tx, tenantId, eventsOf('account.created', 'accountID', ids), stamp.at);
}

/** Gives accounts new labels, in one statement. */
export async function renameAccounts(
  tx: Tx,
  tenantId: number,
  partyId: number,
  renames: readonly { accountId: number; label: string }[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    update billing_accounts a
    set label = r.label, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from unnest(
      ${renames.map((rename) => rename.accountId)}::bigint[],
      ${renames.map((rename) => rename.label)}::text[]
    ) as r (account_id, label)
    where a.tenant_id = ${tenantId} and a.party_id = ${partyId} and a.account_id = r.account_id
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        billing_accounts_label_key: () =>
          new AppError('DUPLICATE', {
            message: 'The party has another billing account with this label',
            field: 'user.connectionGroups',
          }),
      }),
    );
}

export type AccountKeys = { ids: readonly number[] } | { labels: readonly string[] };

/** Locks the named accounts, in id order so that two such calls cannot wait for each other. */
export async function lockAccounts(
  tx: Tx,
  tenantId: number,
  keys: AccountKeys,
): Promise<AccountRow[]> {
  const named =
    'ids' in keys
      ? sql`account_id = any(${keys.ids}::bigint[])`
      : sql`label = any(${keys.labels}::text[])`;
  const { rows } = await sql<AccountRow>`
    select account_id, party_id, label, billing_group_id
    from billing_accounts
    where tenant_id = ${tenantId} and ${named}
    order by account_id
    for no key update
  `.execute(tx);
  return rows;
}

export async function setBillingGroup(
  tx: Tx,
  tenantId: number,
  accountIds: readonly number[],
  billingGroupId: number | null,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update billing_accounts
    set billing_group_id = ${billingGroupId}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and account_id = any(${accountIds}::bigint[])
  `.execute(tx);
}

export type AccountSummaryRow = {
  account_id: number;
  label: string;
  party_kind: string;
  context_code: string | null;
  plan_label: string | null;
};

/** The accounts of a group, with context and plan of each one's oldest active subscription. */
export async function listAccountsOfGroup(
  tx: Tx,
  tenantId: number,
  billingGroupId: number,
  window: { afterId: number; limit: number },
): Promise<AccountSummaryRow[]> {
  const found = await listAccountsOfGroups(tx, tenantId, [billingGroupId], window);
  return found.get(billingGroupId) ?? [];
}

/** The first accounts of each of several groups. */
export function firstAccountsOfGroups(limit: number): Lookup<number, AccountSummaryRow[]> {
  return (tx, tenantId, ids) => listAccountsOfGroups(tx, tenantId, ids, { afterId: 0, limit });
}

async function listAccountsOfGroups(
  tx: Tx,
  tenantId: number,
  billingGroupIds: readonly number[],
  window: { afterId: number; limit: number },
): Promise<Map<number, AccountSummaryRow[]>> {
  const { rows } = await sql<AccountSummaryRow & { billing_group_id: number }>`
    select wanted.billing_group_id, found.*
    from unnest(${billingGroupIds}::bigint[]) as wanted (billing_group_id)
    cross join lateral (
      select a.account_id, a.label, p.kind as party_kind, s.context_code, s.plan_label
      from billing_accounts a
      join parties p on p.tenant_id = ${tenantId} and p.party_id = a.party_id
      left join lateral ${oldestActiveSubscription(tenantId)} s on true
      where a.tenant_id = ${tenantId} and a.billing_group_id = wanted.billing_group_id
        and a.account_id > ${window.afterId}
      order by a.account_id
      limit ${window.limit}
    ) found
  `.execute(tx);
  return Map.groupBy(rows, (row) => row.billing_group_id);
}

function oldestActiveSubscription(tenantId: number): Sql {
  return sql`(
    select c.code as context_code, l.name as plan_label
    from subscriptions o
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = o.context_id
    join plans l on l.tenant_id = ${tenantId} and l.plan_id = o.plan_id
    where o.tenant_id = ${tenantId} and o.account_id = a.account_id and o.status = 'Active'
    order by o.subscription_id
    limit 1
  )`;
}

export type AccountLabel = { partyId: number; label: string };

/** The accounts that parties have under these labels. */
export async function listAccountsByLabels(
  tx: Tx,
  tenantId: number,
  wanted: readonly AccountLabel[],
): Promise<(AccountLabel & { accountId: number })[]> {
  const { rows } = await sql<{ account_id: number; party_id: number; label: string }>`
    select a.account_id, a.party_id, a.label
    from unnest(
      ${wanted.map((one) => one.partyId)}::bigint[], ${wanted.map((one) => one.label)}::text[]
    ) as w (party_id, label)
    join billing_accounts a
      on a.tenant_id = ${tenantId} and a.party_id = w.party_id and a.label = w.label
  `.execute(tx);
  return rows.map((row) => ({
    partyId: row.party_id,
    label: row.label,
    accountId: row.account_id,
  }));
}

export async function insertAccountsOfParties(
  tx: Tx,
  tenantId: number,
  firstId: number,
  accounts: readonly AccountLabel[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into billing_accounts (
      tenant_id, account_id, party_id, label, created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, ${firstId}::bigint + r.position - 1, r.party_id, r.label,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${accounts.map((one) => one.partyId)}::bigint[], ${accounts.map((one) => one.label)}::text[]
    ) with ordinality as r (party_id, label, position)
  `.execute(tx);
  await noteCreated(tx, tenantId, firstId, accounts.length, stamp);
}
