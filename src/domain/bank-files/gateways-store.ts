// Payment gateways of a workspace, and the bank file of a day that their notices go into.

import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';

export type GatewayStatus = 'Active' | 'Paused';

export type GatewayRow = {
  adapter: string;
  bank_account_id: number;
  status: GatewayStatus;
  created_at: Temporal.Instant;
  modified_at: Temporal.Instant;
  modified_by: string;
  old_secret_until: Temporal.Instant | null;
  ts: number;
};

const columns = sql.raw(
  'adapter, bank_account_id, status, created_at, modified_at, modified_by, old_secret_until, ts',
);

export type NewGateway = { adapter: string; bankAccountId: number; secret: Buffer };

export async function insertGateways(
  tx: Tx,
  tenantId: number,
  gateways: readonly NewGateway[],
  stamp: Stamp,
): Promise<void> {
  const rows = gateways.map((one) => ({ ...one, secret: one.secret.toString('hex') }));
  await sql`
    insert into gateways (tenant_id, adapter, bank_account_id, secret, created_at, created_by,
      modified_at, modified_by, ts)
    select own.tenant_id, r.adapter, r."bankAccountId", decode(r.secret, 'hex'), ${stamp.at},
      ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      adapter text, "bankAccountId" bigint, secret text
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        gateways_pkey: () =>
          new AppError('DUPLICATE', {
            message: 'The workspace has this gateway already. Change it with update-gateway',
            field: 'gateways',
          }),
        gateways_account_fkey: () =>
          new AppError('BANK_ACCOUNT_NOT_FOUND', { field: 'gateways[0].bankAccountID' }),
      }),
    );
}

export async function listGateways(tx: Tx, tenantId: number): Promise<GatewayRow[]> {
  const { rows } = await sql<GatewayRow>`
    select ${columns} from gateways where tenant_id = ${tenantId} order by adapter
  `.execute(tx);
  return rows;
}

export type SecretGateway = GatewayRow & { secret: Buffer; old_secret: Buffer | null };

export async function findGateway(
  tx: Tx,
  tenantId: number,
  adapter: string,
): Promise<SecretGateway | undefined> {
  const { rows } = await sql<SecretGateway>`
    select ${columns}, secret, old_secret from gateways
    where tenant_id = ${tenantId} and adapter = ${adapter}
  `.execute(tx);
  return rows[0];
}

/** Sealed secrets that a notice may be signed with: the old one until its time is up. */
export function liveSecrets(gateway: SecretGateway, at: Temporal.Instant): Buffer[] {
  const { secret, old_secret: old, old_secret_until: until } = gateway;
  const isOldLive = old !== null && until !== null && Temporal.Instant.compare(at, until) < 0;
  return isOldLive ? [secret, old] : [secret];
}

export type GatewayChange = {
  bankAccountId: number;
  status: GatewayStatus;
  /** Sealed. Undefined: they stay as they are. */
  secrets?: { secret: Buffer; oldSecret: Buffer | null; oldSecretUntil: Temporal.Instant | null };
};

export async function updateGateway(
  tx: Tx,
  tenantId: number,
  adapter: string,
  { secrets, ...change }: GatewayChange,
  stamp: Stamp,
): Promise<void> {
  const keeps = secrets === undefined;
  await sql`
    update gateways
    set bank_account_id = ${change.bankAccountId}, status = ${change.status},
      secret = case when ${keeps} then secret else ${secrets?.secret ?? null}::bytea end,
      old_secret = case when ${keeps} then old_secret
        else ${secrets?.oldSecret ?? null}::bytea end,
      old_secret_until = case when ${keeps} then old_secret_until
        else ${secrets?.oldSecretUntil ?? null}::timestamptz end,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and adapter = ${adapter}
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        gateways_account_fkey: () =>
          new AppError('BANK_ACCOUNT_NOT_FOUND', { field: 'data.bankAccountID' }),
      }),
    );
}

export type DayFile = { bankAccountId: number; sha256: string; fileName: string };

/** Notices of a gateway and day are one file. Its row keeps them in one order until the commit. */
export async function lockDayFile(
  tx: Tx,
  tenantId: number,
  { bankAccountId, sha256 }: DayFile,
): Promise<{ bank_file_id: number; lines: number } | undefined> {
  const { rows } = await sql<{ bank_file_id: number; lines: number }>`
    select bank_file_id, lines from bank_files
    where tenant_id = ${tenantId} and bank_account_id = ${bankAccountId}
      and sha256 = decode(${sha256}, 'hex')
    for no key update
  `.execute(tx);
  return rows[0];
}

/** Does nothing if another call has made it. */
export async function insertDayFile(
  tx: Tx,
  tenantId: number,
  file: DayFile & { bankFileId: number },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into bank_files (tenant_id, bank_file_id, bank_account_id, format, file_name, sha256,
      created_at, created_by)
    values (${tenantId}, ${file.bankFileId}, ${file.bankAccountId}, 'GATEWAY', ${file.fileName},
      decode(${file.sha256}, 'hex'), ${stamp.at}, ${stamp.by})
    on conflict on constraint bank_files_sha256_key do nothing
  `.execute(tx);
}

export async function countLine(tx: Tx, tenantId: number, bankFileId: number): Promise<void> {
  await sql`
    update bank_files set lines = lines + 1
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
  `.execute(tx);
}
