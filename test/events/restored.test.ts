// Events and webhooks of a database that was restored beside another count of transactions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { renumberEvents } from '../../src/base/db/backup/transactions.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
await scene.workspace('restored');
const found = await scene.sql.query<{ id: string }>("select find_workspace('restored') as id");
const tenantId = Number(found.rows[0]?.id);
const far = 4_000_000_000;

async function unread(client: pg.Client, webhookId: number): Promise<number[]> {
  const { rows } = await client.query<{ event_id: string }>(
    `select e.event_id from events e join webhooks w on w.tenant_id = e.tenant_id
     where e.tenant_id = $1 and w.webhook_id = $2
       and (e.written_in, e.event_id) > (w.read_in, w.read_event_id)
     order by e.written_in, e.event_id`,
    [tenantId, webhookId],
  );
  return rows.map(({ event_id }) => Number(event_id));
}

test('after a restore a webhook goes on with the first event that it has not read', async () => {
  const client = scene.sql;
  await client.query('begin');
  // As a restore loads rows: no trigger fires.
  await client.query('set local session_replication_role = replica');
  // The other database had counted far more transactions. The third event was written first.
  for (const [eventId, place] of [
    [1, 5],
    [2, 9],
    [3, 2],
    [4, 12],
  ] as const) {
    await client.query(
      `insert into events (tenant_id, event_id, type, data, at, written_in)
       values ($1, $2, 'wallet.low', '{}', now(), $3::text::xid8)`,
      [tenantId, eventId, far + place],
    );
  }
  const wanted = new Map([
    [1, { place: far + 5, eventId: 1, left: [2, 4] }],
    [2, { place: far + 12, eventId: 4, left: [] }],
    [3, { place: far, eventId: 0, left: [3, 1, 2, 4] }],
  ]);
  for (const [webhookId, { place, eventId, left }] of wanted) {
    await client.query(
      `insert into webhooks (tenant_id, webhook_id, url, secret, read_in, read_event_id, created_at,
         created_by, modified_at, modified_by, ts)
       values ($1, $2, 'https://hooks.invalid/', '\\x00', $3::text::xid8, $4, now(), 'a', now(),
         'a', 1)`,
      [tenantId, webhookId, place, eventId],
    );
    assert.deepEqual(await unread(client, webhookId), left);
  }
  await renumberEvents(client, tenantId);
  for (const [webhookId, { left }] of wanted) {
    assert.deepEqual(await unread(client, webhookId), left, `webhook ${webhookId}`);
  }
  const { rows } = await client.query<{ late: number }>(
    'select count(*)::integer as late from events where written_in > pg_current_xact_id()',
  );
  assert.equal(rows[0]?.late, 0);
  await client.query('rollback');
});
