// How a few mails ended is written down without looking through all that wait: counted by
// PostgreSQL, as the role that sends them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { endPrinting, endSending, putOff } from '../../src/domain/delivery/sending-store.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });

const workspace = 'many-waiting';
/** Of each state. */
const waiting = 500;
const few = 20;
const at = Temporal.Now.instant();

/** One bill that was asked for many times: half of its mails wait, the others are on their way. */
async function openWaiting(): Promise<number> {
  const client = await scene.workspace(workspace);
  await openPostedTerm(scene, client, mailParties(1));
  const { rows } = await scene.sql.query<{ id: string }>('select find_workspace($1) as id', [
    workspace,
  ]);
  const id = Number(rows[0]?.id);
  await scene.sql.query("select set_config('app.tenant', $1, false)", [String(id)]);
  await scene.sql.query(
    `insert into jobs (tenant_id, job_id, operation, term_id, status, is_immediate, parameters,
       due_at, requested_by, created_at)
     select b.tenant_id, 1000 + n, 'distribute-bills', b.term_id, 'Cancelled', true, '{}', now(),
       'test', now()
     from bills b, generate_series(1, ${2 * waiting}) n
     where b.tenant_id = $1`,
    [id],
  );
  await scene.sql.query(
    `insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
       status, attempts, message_id, created_at, created_by, modified_at)
     select b.tenant_id, n, b.bill_id, b.term_id, 1000 + n, 'Email', 'a@example.com',
       case when n <= ${waiting} then 'Queued' else 'Sending' end, 1, n::text, now(), 'test', now()
     from bills b, generate_series(1, ${2 * waiting}) n
     where b.tenant_id = $1`,
    [id],
  );
  await scene.sql.query('analyze deliveries');
  return id;
}

/** Deliveries that indexes led to while something was written. */
async function lookedAt(tenantId: number, write: (tx: Tx) => Promise<void>): Promise<number> {
  return whileCrew(scene, workspace, ({ database }) =>
    tenantTransact(database, tenantId, async (tx) => {
      await write(tx);
      const { rows } = await sql<{ count: number }>`
        select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count
        from pg_stat_xact_user_tables where relname = 'deliveries'
      `.execute(tx);
      return Number(rows[0]?.count);
    }),
  );
}

async function statusOf(tenantId: number, deliveryId: number): Promise<string> {
  const { rows } = await scene.sql.query<{ status: string }>(
    'select status from deliveries where tenant_id = $1 and delivery_id = $2',
    [tenantId, deliveryId],
  );
  return rows[0]?.status ?? '';
}

const failed = { status: 'Failed', reason: 'No', failures: 1, nextAttemptAt: null } as const;

test('the outcome of a mail is stored without scanning waiting deliveries', async () => {
  const tenantId = await openWaiting();
  const sent = [{ ...failed, deliveryId: waiting + 7, attempts: 1 }];
  const late = [{ ...failed, deliveryId: 7 }];
  const printed = [{ deliveryId: 8, status: 'Sent', reason: 'Printed' } as const];
  const counts = {
    sent: await lookedAt(tenantId, (tx) => endSending(tx, tenantId, sent, at)),
    late: await lookedAt(tenantId, (tx) => putOff(tx, tenantId, late, at)),
    printed: await lookedAt(tenantId, (tx) => endPrinting(tx, tenantId, printed, at)),
  };
  assert.equal(await statusOf(tenantId, waiting + 7), 'Failed');
  assert.equal(await statusOf(tenantId, 7), 'Failed');
  assert.equal(await statusOf(tenantId, 8), 'Sent');
  for (const [what, rows] of Object.entries(counts)) {
    assert.ok(rows <= few, `${rows} deliveries were looked at for one that was ${what}`);
  }
});
