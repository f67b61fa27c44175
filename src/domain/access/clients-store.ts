import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { timeText } from '../../base/db/types.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';

export type ClientRow = {
  client_number: number;
  client_id: string;
  roles: string[];
  expires_at: Temporal.Instant | null;
  allowed_addresses: string[];
  status: 'ACTIVE' | 'INACTIVE';
  created_at: Temporal.Instant;
  modified_at: Temporal.Instant;
  ts: number;
};

const columns = sql.raw(`client_number, client_id, roles, expires_at, allowed_addresses, status,
  created_at, modified_at, ts`);

export type ClientFacts = {
  clientId: string;
  secretHash: string;
  roles: readonly string[];
  expiresAt: Temporal.Instant | null;
  allowedAddresses: readonly string[];
};

export async function insertClients(
  tx: Tx,
  tenantId: number,
  firstNumber: number,
  clients: readonly ClientFacts[],
  stamp: Stamp,
): Promise<void> {
  const rows = clients.map((client, index) => ({
    client_number: firstNumber + index,
    client_id: client.clientId,
    secret_hash: client.secretHash,
    roles: client.roles,
    expires_at: client.expiresAt && timeText(client.expiresAt),
    allowed_addresses: client.allowedAddresses,
  }));
  await sql`
    insert into clients (
      tenant_id, client_number, client_id, secret_hash, roles, expires_at, allowed_addresses,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.client_number, r.client_id, r.secret_hash, r.roles, r.expires_at,
      r.allowed_addresses, ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by},
      ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      client_number bigint, client_id text, secret_hash text, roles text[],
      expires_at timestamptz, allowed_addresses text[]
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        clients_client_id_key: () =>
          new AppError('DUPLICATE', {
            message: 'An API client with this clientID exists already',
            field: 'clients',
          }),
      }),
    );
}

export async function findTakenClientIds(
  tx: Tx,
  tenantId: number,
  clientIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ client_id: string }>`
    select client_id from clients
    where tenant_id = ${tenantId} and client_id = any(${clientIds}::text[])
  `.execute(tx);
  return new Set(rows.map((row) => row.client_id));
}

export async function findClient(
  tx: Tx,
  tenantId: number,
  clientId: string,
): Promise<(ClientRow & { secret_hash: string }) | undefined> {
  const { rows } = await sql<ClientRow & { secret_hash: string }>`
    select ${columns}, secret_hash
    from clients
    where tenant_id = ${tenantId} and client_id = ${clientId}
  `.execute(tx);
  return rows[0];
}

export async function lockClient(
  tx: Tx,
  tenantId: number,
  clientId: string,
): Promise<ClientRow | undefined> {
  const { rows } = await sql<ClientRow>`
    select ${columns}
    from clients
    where tenant_id = ${tenantId} and client_id = ${clientId}
    for no key update
  `.execute(tx);
  return rows[0];
}

export async function listClients(
  tx: Tx,
  tenantId: number,
  options: { afterNumber: number; limit: number; offset: number },
): Promise<ClientRow[]> {
  const { rows } = await sql<ClientRow>`
    select ${columns}
    from clients
    where tenant_id = ${tenantId} and client_number > ${options.afterNumber}
    order by client_number
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countClients(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from clients where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export type ClientChange = {
  roles?: readonly string[];
  status?: string;
  secretHash?: string;
  allowedAddresses?: readonly string[];
  /** null takes an expiry away. */
  expiresAt?: Temporal.Instant | null;
};

export async function updateClient(
  tx: Tx,
  tenantId: number,
  clientNumber: number,
  change: ClientChange,
  stamp: Stamp,
): Promise<void> {
  const expiry =
    change.expiresAt === undefined ? sql`expires_at` : sql`${change.expiresAt}::timestamptz`;
  await sql`
    update clients
    set roles = coalesce(${change.roles ?? null}::text[], roles),
      status = coalesce(${change.status ?? null}, status),
      secret_hash = coalesce(${change.secretHash ?? null}, secret_hash),
      allowed_addresses = coalesce(${change.allowedAddresses ?? null}::text[], allowed_addresses),
      expires_at = ${expiry},
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and client_number = ${clientNumber}
  `.execute(tx);
}

export async function findClientOfSession(
  tx: Tx,
  tenantId: number,
  sessionId: string,
): Promise<ClientRow | undefined> {
  const { rows } = await sql<ClientRow>`
    select ${columns}
    from clients
    where tenant_id = ${tenantId} and client_number = (
      select s.client_number from sessions s
      where s.tenant_id = ${tenantId} and s.session_id = ${sessionId}
    )
  `.execute(tx);
  return rows[0];
}
