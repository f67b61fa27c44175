// Webhooks: where events are sent, and the secrets that sign them.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type WebhookStatus = 'Active' | 'Paused' | 'Disabled';

export type WebhookRow = {
  webhook_id: number;
  url: string;
  description: string | null;
  types: string[];
  status: WebhookStatus;
  reason: string | null;
  old_secret_until: Temporal.Instant | null;
  failures: number;
  last_success_at: Temporal.Instant | null;
  last_failure_at: Temporal.Instant | null;
  last_error: string | null;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const columns = sql.raw(`webhook_id, url, description, types, status, reason, old_secret_until,
  failures, last_success_at, last_failure_at, last_error, created_at, created_by, modified_at,
  modified_by, ts`);

export type NewWebhook = {
  url: string;
  description: string | null;
  types: readonly string[];
  /** Sealed. */
  secret: Buffer;
};

/** Events before this transaction are not sent to them. */
export async function insertWebhooks(
  tx: Tx,
  tenantId: number,
  firstId: number,
  webhooks: readonly NewWebhook[],
  stamp: Stamp,
): Promise<void> {
  const rows = webhooks.map(({ secret, ...one }, index) => {
    return { ...one, id: firstId + index, secret: secret.toString('hex') };
  });
  await sql`
    insert into webhooks (tenant_id, webhook_id, url, description, types, secret, created_at,
      created_by, modified_at, modified_by, ts)
    select own.tenant_id, r.id, r.url, r.description, r.types, decode(r.secret, 'hex'),
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      id bigint, url text, description text, types text[], secret text
    )
  `.execute(tx);
}

export async function countWebhooks(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhooks where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export type ListedWebhook = WebhookRow & { waiting: number; dead: number };

/** Figures of messages end at this. */
const countedMax = 10_000;

export async function listWebhooks(
  tx: Tx,
  tenantId: number,
  { afterId, offset, limit }: { afterId: number; offset: number; limit: number },
): Promise<ListedWebhook[]> {
  const { rows } = await sql<ListedWebhook>`
    select ${columns}, waiting.count as waiting, dead.count as dead
    from webhooks w
    cross join lateral (
      select count(*)::integer as count from (
        select from webhook_messages m
        where m.tenant_id = ${tenantId} and m.webhook_id = w.webhook_id
          and m.next_attempt_at is not null
        limit ${countedMax}
      ) found
    ) waiting
    cross join lateral (
      select count(*)::integer as count from (
        select from webhook_messages m
        where m.tenant_id = ${tenantId} and m.webhook_id = w.webhook_id and m.status = 'Dead'
        limit ${countedMax}
      ) found
    ) dead
    where w.tenant_id = ${tenantId} and w.webhook_id > ${afterId}
    order by w.webhook_id
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

export type LockedWebhook = WebhookRow & { secret: Buffer; read_in: string; read_event_id: string };

export async function lockWebhook(
  tx: Tx,
  tenantId: number,
  webhookId: number,
): Promise<LockedWebhook | undefined> {
  const { rows } = await sql<LockedWebhook>`
    select ${columns}, secret, read_in::text as read_in, read_event_id::text as read_event_id
    from webhooks
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
    for no key update
  `.execute(tx);
  return rows[0];
}

export type WebhookChange = {
  url: string;
  description: string | null;
  types: readonly string[];
  status: WebhookStatus;
  reason: string | null;
  /** Sealed. Undefined: they stay as they are. */
  secrets?: { secret: Buffer; oldSecret: Buffer | null; oldSecretUntil: Temporal.Instant | null };
};

export async function updateWebhook(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  { secrets, ...change }: WebhookChange,
  stamp: Stamp,
): Promise<void> {
  const keeps = secrets === undefined;
  await sql`
    update webhooks
    set url = ${change.url}, description = ${change.description},
      types = ${[...change.types]}::text[], status = ${change.status}, reason = ${change.reason},
      secret = case when ${keeps} then secret else ${secrets?.secret ?? null}::bytea end,
      old_secret = case when ${keeps} then old_secret
        else ${secrets?.oldSecret ?? null}::bytea end,
      old_secret_until = case when ${keeps} then old_secret_until
        else ${secrets?.oldSecretUntil ?? null}::timestamptz end,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
  `.execute(tx);
}

export type BatchHealth = {
  succeeded: boolean;
  /** Why an attempt failed; null if none did. */
  error: string | null;
  /** The receiver answered 410 Gone. */
  isGone: boolean;
  at: Temporal.Instant;
};

/** What a batch of attempts says about the receiver. */
export async function noteHealth(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  { succeeded, error, isGone, at }: BatchHealth,
): Promise<void> {
  const failed = error !== null;
  await sql`
    update webhooks
    set failures = case when ${succeeded} then 0 else least(failures + 1, 1000000) end,
      last_success_at = case when ${succeeded} then ${at} else last_success_at end,
      last_failure_at = case when ${failed} then ${at} else last_failure_at end,
      last_error = case when ${failed} then ${error} else last_error end,
      status = case when ${isGone} then 'Disabled' else status end,
      reason = case when ${isGone} then 'The receiver answered 410 Gone' else reason end,
      modified_at = case when ${isGone} then ${at} else modified_at end,
      modified_by = case when ${isGone} then 'webhooks' else modified_by end,
      ts = case when ${isGone} then greatest(ts + 1, ${at.epochMilliseconds}::bigint) else ts end
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
  `.execute(tx);
}
