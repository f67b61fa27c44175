// What the old installation may have done after the backup was made, and the new one must not do
// once more in a way that others cannot tell apart.
import type pg from 'pg';
import { exists } from './tables.ts';

/** So many events an installation does not write between a backup and its end. */
const gap = 10_000_000;

/**
 * Receivers know events and messages of the time after the backup by their numbers. What happens
 * now gets other numbers, so that a receiver does not take it for what it has already.
 */
export async function leaveGap(client: pg.Client): Promise<void> {
  await client.query(`update counters set last_number = last_number + $1 where series = 'event'`, [
    gap,
  ]);
  if (!(await exists(client, 'webhooks'))) return;
  await client.query('update webhooks set last_sequence = last_sequence + $1', [gap]);
}

const reason = 'It waited when the backup was made, and may have been sent since';

/**
 * Mails that wait may have been sent since: an operator decides about each of them. Triggers must
 * be on, because a delivery that does not wait any more is sealed.
 */
export async function doubtWaitingMails(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ tenant_id: string }>('select tenant_id from workspaces');
  for (const { tenant_id: tenantId } of rows) {
    await client.query(`select set_config('app.tenant', $1, true)`, [tenantId]);
    await client.query(
      `update deliveries
       set status = 'Uncertain', reason = $2, next_attempt_at = null, modified_at = now()
       where tenant_id = $1 and channel = 'Email' and status in ('Queued', 'Sending')`,
      [tenantId, reason],
    );
    await client.query(
      `update notices set status = 'Uncertain', reason = $2, modified_at = now()
       where tenant_id = $1 and status in ('Queued', 'Sending')`,
      [tenantId, reason],
    );
  }
}
