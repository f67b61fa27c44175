// Ten years of readings and entries do not make the next bill dearer: what is looked up for it is
// what came since the last one. Counted by PostgreSQL, as the role that makes bills.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postMeterReadingsStep } from '../../src/billrun/lock-readings.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import { publishBillsStep } from '../../src/billrun/publish.ts';
import { listAccountStatuses } from '../../src/domain/bills/inputs/account-status-store.ts';
import { listStops } from '../../src/domain/exports/route-store.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { openRegisters } from '../../src/domain/terms/open-registers-store.ts';
import { getTerm } from '../../src/domain/terms/store.ts';
import {
  addSubscription,
  addTerm,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  tariffCase,
} from '../support/bill-run.ts';
import { runStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene({ ownDatabase: true });
scene.runJobs();

const elec = tariffCase('ELEC');
const [, , elecC] = elec.scenarios as unknown as [FrozenInputs, FrozenInputs, FrozenInputs];
/** Of each kind, before the bill that was made last. */
const past = 400;
/** More than are looked up, and far fewer than there are. */
const few = 12;

const { workspace, tenantId, subscriptionId, nextTermId } = await billOnce();

/** A subscription with a long past whose last term is posted, and the term after it. */
async function billOnce() {
  const run = await openBillRun(scene, elec);
  const { tenantId } = run;
  const termId = await addTerm(run);
  const subscriptionId = await addSubscription(run, termId, copyOf(elecC, 1, 120));
  await insertOpening(scene, tenantId, subscriptionId, 5_000);
  await scene.enter(run.client);
  await fillPast(tenantId, subscriptionId);
  await generate(run, termId);
  await post(run, termId);
  await insertOpening(scene, tenantId, subscriptionId, -700, 'Payment');
  const [ended] = await rowsOf<{ first: string; last: string }>(
    run,
    `select to_char(end_date + 1, 'DD/MM/YYYY') as first,
       to_char(end_date + interval '1 month', 'DD/MM/YYYY') as last
     from terms where tenant_id = $1 and term_id = $2`,
    [termId],
  );
  assert.ok(ended);
  const nextTermId = await addTerm(run, {
    label: 'The next',
    startDate: ended.first,
    endDate: ended.last,
    dueDate: ended.last,
    isRead: false,
  });
  await scene.sql.query('analyze readings, subledger_entries, term_readings');
  return { workspace: run.client.workspace, tenantId, subscriptionId, nextTermId };
}

/** Paid and charged again, and read, day by day. */
async function fillPast(tenantId: number, subscriptionId: number): Promise<void> {
  const entries = `
    insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
      subscription_id, kind, amount, is_payment, posting_date, created_at, created_by)
    select $1, 1000 + n, j.journal_id, 2, s.party_id, s.subscription_id, 'Payment',
      case when n % 2 = 0 then 100 else -100 end, true, '2020-01-01', now(), 'test'
    from subscriptions s, generate_series(1, $3::integer) n,
      (select max(journal_id) as journal_id from journals where tenant_id = $1) j
    where s.tenant_id = $1 and s.subscription_id = $2`;
  await scene.sql.query(entries, [tenantId, subscriptionId, past]);
  await scene.sql.query(
    `update counters set last_number = 2000 where tenant_id = $1 and series = 'entry'`,
    [tenantId],
  );
  const readings = `
    insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
      reading_type, status, created_at, created_by, modified_at, modified_by)
    select $1, 5000 + row_number() over (), r.assignment_id, r.position, date '2023-01-01' + n, n,
      'Actual', 'Accepted', now(), 'test', now(), 'test'
    from assignment_registers r, generate_series(1, $3::integer) n
    where r.tenant_id = $1 and r.subscription_id = $2`;
  await scene.sql.query(readings, [tenantId, subscriptionId, past]);
}

/** Rows of a table that indexes led to while something was asked. */
async function fetched<Answer>(
  table: string,
  ask: (tx: Tx) => Promise<Answer>,
): Promise<{ answer: Answer; rows: number }> {
  return whileCrew(scene, workspace, ({ database }) =>
    tenantTransact(database, tenantId, async (tx) => {
      const answer = await ask(tx);
      const { rows } = await sql<{ count: number }>`
        select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count
        from pg_stat_xact_user_tables where relname = ${table}
      `.execute(tx);
      return { answer, rows: Number(rows[0]?.count) };
    }),
  );
}

test('account status is computed from entries since the last bill', async () => {
  const { answer, rows } = await fetched('subledger_entries', async (tx) => {
    const term = await getTerm(tx, tenantId, nextTermId);
    const owned = [{ subscription_id: subscriptionId, account_id: 1, party_id: 1 }];
    return listAccountStatuses(tx, tenantId, term, owned);
  });
  assert.equal(answer[0]?.payments, 700);
  assert.ok(rows <= few, `${rows} entries were looked at`);
});

test('a register is read from the reading that was billed last', async () => {
  const { answer, rows } = await fetched('readings', async (tx) => {
    const term = await getTerm(tx, tenantId, nextTermId);
    const options = {
      range: { firstId: subscriptionId, lastId: subscriptionId },
      lastReadingDate: Temporal.PlainDate.from(term.end_date),
      isEstimated: false,
    };
    const registers = openRegisters(tenantId, term, options);
    const found = await sql<{ is_unread: boolean }>`
      with ${registers} select is_unread from open_registers
    `.execute(tx);
    return found.rows;
  });
  assert.deepEqual(
    answer.map((row) => row.is_unread),
    [true],
  );
  assert.ok(rows <= few, `${rows} readings were looked at`);
});

test('a route sheet lists registers without a reading since the last locked one', async () => {
  const { answer, rows } = await fetched('readings', (tx) =>
    listStops(tx, tenantId, {
      contextCode: elec.service.code,
      batchCode: null,
      since: null,
      termId: null,
    }),
  );
  assert.equal(answer.length, 1);
  assert.ok(rows <= few, `${rows} readings were looked at`);
});

/** Rows read so far, by table. Connections that have ended have reported everything. */
async function lookedAt(): Promise<Map<string, number>> {
  const { rows } = await scene.sql.query<{ relname: string; count: string }>(
    `select relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count
     from pg_stat_user_tables`,
  );
  return new Map(rows.map(({ relname, count }) => [relname, Number(count)]));
}

test('the next term looks at what is new, from the first step to the last', async () => {
  const read = `
    insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
      reading_type, status, created_at, created_by, modified_at, modified_by)
    select t.tenant_id, 9999, r.assignment_id, r.position, t.end_date, r.value + 130, 'Actual',
      'Accepted', now(), 'test', now(), 'test'
    from terms t
    join term_readings r on r.tenant_id = t.tenant_id and r.subscription_id = $3
    where t.tenant_id = $1 and t.term_id = $2`;
  await scene.sql.query(read, [tenantId, nextTermId, subscriptionId]);
  const tables = ['subledger_entries', 'readings'];
  // An idle connection reports its statistics only seconds later.
  await scene.sql.query('select pg_stat_force_next_flush()');
  await scene.sql.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
  const parameters = { reading: 'current' };
  for (const step of [postMeterReadingsStep, generateBillsStep, postBillsStep, publishBillsStep]) {
    const before = await lookedAt();
    await whileCrew(scene, workspace, async (crew) => {
      await runStep(crew, step, { termId: nextTermId, parameters });
    });
    const after = await lookedAt();
    for (const table of tables) {
      const rows = (after.get(table) ?? 0) - (before.get(table) ?? 0);
      assert.ok(rows <= few, `${rows} of ${table} were looked at by ${step.operation}`);
    }
  }
});
