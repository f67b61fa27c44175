import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { nameKey, usernameOf } from './names.ts';

export type LoginRow = {
  login_id: number;
  username: string;
  email: string | null;
  name: string;
  roles: string[];
  status: 'ACTIVE' | 'INACTIVE';
  party_id: number | null;
  party_number: number | null;
  party_kind: string | null;
  party_language: string | null;
  created_at: Temporal.Instant;
  modified_at: Temporal.Instant;
  ts: number;
};

export type LoginFacts = {
  username: string;
  email: string | null;
  name: string;
  passwordHash: string;
  roles: readonly string[];
  partyId: number | null;
};

export async function insertLogins(
  tx: Tx,
  tenantId: number,
  firstId: number,
  logins: readonly LoginFacts[],
  stamp: Stamp,
): Promise<void> {
  const rows = logins.map((login, index) => ({
    login_id: firstId + index,
    username: usernameOf(login.username),
    email: login.email,
    name: login.name,
    password_hash: login.passwordHash,
    roles: login.roles,
    party_id: login.partyId,
  }));
  await sql`
    insert into logins (
      tenant_id, login_id, username, email, name, password_hash, roles, party_id,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.login_id, r.username, r.email, r.name, r.password_hash, r.roles,
      r.party_id, ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by},
      ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      login_id bigint, username text, email text, name text, password_hash text, roles text[],
      party_id bigint
    )
  `.execute(tx);
  const names = logins.flatMap((login, index) =>
    namesOf(login).map((name) => ({ name, login_id: firstId + index })),
  );
  await sql`
    insert into login_names (tenant_id, name, login_id)
    select own.tenant_id, r.name, r.login_id
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as r (name text, login_id bigint)
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        login_names_taken: () =>
          new AppError('DUPLICATE', {
            message: 'A login with this user name or e-mail address exists already',
            field: 'logins',
          }),
      }),
    );
}

/** The names a login answers to, user name and e-mail address, as keys, each once. */
export function namesOf(login: { username: string; email: string | null }): string[] {
  const names = [login.username, ...(login.email === null ? [] : [login.email])];
  return [...new Set(names.map(nameKey))];
}

const loginColumns = sql.raw(`l.login_id, l.username, l.email, l.name, l.roles, l.status,
  l.party_id, p.party_number, p.kind as party_kind,
  p.language as party_language, l.created_at, l.modified_at, l.ts`);

export async function findLoginByName(
  tx: Tx,
  tenantId: number,
  name: string,
): Promise<(LoginRow & { password_hash: string }) | undefined> {
  const { rows } = await sql<LoginRow & { password_hash: string }>`
    select ${loginColumns}, l.password_hash
    from login_names n
    join logins l on l.tenant_id = ${tenantId} and l.login_id = n.login_id
    left join parties p on p.tenant_id = ${tenantId} and p.party_id = l.party_id
    where n.tenant_id = ${tenantId} and n.name = ${nameKey(name)}
  `.execute(tx);
  return rows[0];
}

export async function findLoginById(
  tx: Tx,
  tenantId: number,
  loginId: number,
): Promise<LoginRow | undefined> {
  const { rows } = await sql<LoginRow>`
    select ${loginColumns}
    from logins l
    left join parties p on p.tenant_id = ${tenantId} and p.party_id = l.party_id
    where l.tenant_id = ${tenantId} and l.login_id = ${loginId}
  `.execute(tx);
  return rows[0];
}

export type PasswordRow = { username: string; email: string | null; password_hash: string };

export async function findPassword(
  tx: Tx,
  tenantId: number,
  loginId: number,
  options: { lock: boolean },
): Promise<PasswordRow | undefined> {
  const { rows } = await sql<PasswordRow>`
    select username, email, password_hash from logins
    where tenant_id = ${tenantId} and login_id = ${loginId}
    ${options.lock ? sql`for no key update` : sql``}
  `.execute(tx);
  return rows[0];
}

/** The page is found by the index alone, before any party is looked up. */
export async function listLogins(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number; offset: number; username: string | null },
): Promise<LoginRow[]> {
  const { rows } = await sql<LoginRow>`
    select ${loginColumns}
    from logins l
    left join parties p on p.tenant_id = ${tenantId} and p.party_id = l.party_id
    where l.tenant_id = ${tenantId} and l.login_id = any(array(
      select l.login_id from logins l
      where l.tenant_id = ${tenantId} and l.login_id > ${options.afterId}
        and ${isNamed(options.username)}
      order by l.login_id
      limit ${options.limit} offset ${options.offset}
    ))
    order by l.login_id
  `.execute(tx);
  return rows;
}

export async function countLogins(
  tx: Tx,
  tenantId: number,
  username: string | null,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from logins l where l.tenant_id = ${tenantId} and ${isNamed(username)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isNamed(username: string | null): Sql {
  return username === null ? sql`true` : sql`l.username = ${usernameOf(username)}`;
}

/** Locks one login, and with it the question who the last administrator is. */
export async function lockLogin(
  tx: Tx,
  tenantId: number,
  username: string,
): Promise<LoginRow | undefined> {
  await lockAdministrators(tx, tenantId);
  const { rows } = await sql<LoginRow>`
    select l.login_id, l.username, l.email, l.name, l.roles, l.status, l.party_id,
      null::bigint as party_number, null::text as party_kind, l.created_at, l.modified_at, l.ts
    from logins l
    where l.tenant_id = ${tenantId} and l.username = ${usernameOf(username)}
    for no key update
  `.execute(tx);
  return rows[0];
}

/** Locked before a role or a login is removed, so that two calls cannot remove the last two. */
export async function lockAdministrators(tx: Tx, tenantId: number): Promise<void> {
  await sql`
    select 1 from logins
    where tenant_id = ${tenantId} and status = 'ACTIVE' and 'Administrator' = any(roles)
    order by login_id
    for no key update
  `.execute(tx);
}

export async function updateLogin(
  tx: Tx,
  tenantId: number,
  loginId: number,
  change: { roles?: readonly string[]; status?: string; passwordHash?: string },
  stamp: Stamp,
): Promise<void> {
  await sql`
    update logins
    set roles = coalesce(${change.roles ?? null}::text[], roles),
      status = coalesce(${change.status ?? null}, status),
      password_hash = coalesce(${change.passwordHash ?? null}, password_hash),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and login_id = ${loginId}
  `.execute(tx);
}

export async function countActiveAdministrators(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from logins
    where tenant_id = ${tenantId} and status = 'ACTIVE' and 'Administrator' = any(roles)
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Which of these names are taken, in the form of namesOf(). */
export async function findTakenNames(
  tx: Tx,
  tenantId: number,
  names: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from login_names where tenant_id = ${tenantId} and name = any(${names}::text[])
  `.execute(tx);
  return new Set(rows.map((row) => row.name));
}

export type PartyOfLogin = { party_number: number; party_id: number; archived: boolean };

/** By their numbers, held still: one that is archived meanwhile would keep the login. */
export async function lockPartiesOfLogins(
  tx: Tx,
  tenantId: number,
  partyNumbers: readonly number[],
): Promise<Map<number, PartyOfLogin>> {
  const { rows } = await sql<PartyOfLogin>`
    select party_number, party_id, archived from parties
    where tenant_id = ${tenantId} and party_number = any(${partyNumbers}::bigint[])
    order by party_id
    for share
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_number, row]));
}

/** The party of a login, if it has one, held still; before the login itself, as archiving does. */
export async function lockPartyOfLogin(
  tx: Tx,
  tenantId: number,
  username: string,
): Promise<PartyOfLogin | undefined> {
  const { rows } = await sql<PartyOfLogin>`
    select p.party_number, p.party_id, p.archived
    from logins l
    join parties p on p.tenant_id = ${tenantId} and p.party_id = l.party_id
    where l.tenant_id = ${tenantId} and l.username = ${usernameOf(username)}
    for share of p
  `.execute(tx);
  return rows[0];
}

export async function listActiveLoginsOfParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<number[]> {
  const { rows } = await sql<{ login_id: number }>`
    select login_id from logins
    where tenant_id = ${tenantId} and party_id = ${partyId} and status = 'ACTIVE'
    order by login_id
  `.execute(tx);
  return rows.map((row) => row.login_id);
}

/** A party shows ACTIVE when one of its logins is; called wherever such a login changes. */
export async function showPortalStatus(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<void> {
  if (partyIds.length === 0) return;
  await sql`
    update parties p
    set portal_status = l.status
    from (
      select party_id, min(status) as status
      from logins
      where tenant_id = ${tenantId} and party_id = any(${partyIds}::bigint[])
      group by party_id
    ) l
    where p.tenant_id = ${tenantId} and p.party_id = l.party_id
  `.execute(tx);
}
