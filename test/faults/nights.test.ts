// Nights that are disturbed: several workers at once, dates that were missed, workers that are
// killed. What they book is what one undisturbed worker books.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import pg from 'pg';
import { startable } from '../support/bundle.ts';
import { assertChecks } from '../support/checks.ts';
import { doDailyWork } from '../support/daily-work.ts';
import { type Late, openLate } from '../support/late.ts';
import { until } from '../support/program.ts';
import { quickNode } from '../support/quick-node.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const script = startable('test/support/nightly-worker.ts');

/** Three bills due on 15/08, 1 paid; listed after a day, a fee of 25 after two, then cut off. */
async function openNights(workspace: string): Promise<Late> {
  const place = await openLate(scene, workspace, 2027);
  const steps = [
    { daysAfterDue: 1, action: 'List' as const },
    { daysAfterDue: 2, action: 'Fee' as const, component: 'fee', amount: 25 },
    { daysAfterDue: 3, action: 'Disconnect' as const },
  ];
  await place.client.updateService({
    service: { code: place.offer.serviceCode, dunning: { steps } },
  });
  for (const amount of [1_000, 500, 250]) await place.bill(amount, '15/08');
  await place.pay(1);
  return place;
}

/** What the nights have booked and changed, and how often each job was done. */
async function resultsOf({ tenantId, client }: Late) {
  await scene.enter(client);
  const read = async (query: string) => (await scene.sql.query(query, [tenantId])).rows;
  return {
    bills: await read(
      `select payment_status, overdue_on::text, surcharged_on::text, paid_amount
       from bills where tenant_id = $1 order by bill_id`,
    ),
    items: await read(
      `select kind, amount, issue_date::text from open_items where tenant_id = $1
       order by kind, amount`,
    ),
    journals: await read(
      `select source_type, count(*)::integer as count from journals where tenant_id = $1
       group by 1 order by 1`,
    ),
    steps: await read(
      `select step_number, action, done_on::text, amount, fee from dunning_actions
       where tenant_id = $1 order by 1`,
    ),
    jobs: await read(
      `select job, local_date::text, outcome, finished_at is null as is_open from daily_runs
       where tenant_id = $1 and local_date > '2027-08-01' order by 1, 2`,
    ),
  };
}

const usual = await openNights('nights-usual');
const crowded = await openNights('nights-crowded');
const killed = await openNights('nights-killed');
// One worker, and nights after the due date that were missed: all are caught up.
await usual.on('18/08');

test('one worker surcharges each bill once, and changes it to Overdue once', async () => {
  const { bills, items } = await resultsOf(usual);
  assert.deepEqual(
    bills,
    bills.map((bill) => ({
      ...bill,
      payment_status: 'Overdue',
      overdue_on: '2027-08-16',
      surcharged_on: '2027-08-16',
    })),
  );
  // 10 % of 250, 500 and 1,000 on the first night, and the fee of 25 on the second.
  assert.deepEqual(
    items.map((item) => [item.kind, Number(item.amount), item.issue_date]),
    [
      ['Fee', 2_500, '2027-08-17'],
      ['Surcharge', 2_500, '2027-08-16'],
      ['Surcharge', 5_000, '2027-08-16'],
      ['Surcharge', 10_000, '2027-08-16'],
    ],
  );
  assert.deepEqual(await usual.money(), { owed: 1_750 - 1 + 175 + 25, wallet: 0 });
});

test('three workers that tick twice after missed nights do what one does', async () => {
  const ticks = [1, 2, 3, 4, 5, 6].map(() => doDailyWork(scene, crowded.tenantId));
  await Promise.all(ticks);
  await doDailyWork(scene, crowded.tenantId);
  assert.deepEqual(await resultsOf(crowded), await resultsOf(usual));
  await assertChecks(scene, crowded.tenantId);
});

/** Rows that a night locks, one after the other; where the worker waits, it is killed. */
const places = [
  `select from bills where tenant_id = $1 and bill_amount = 50000 for update`,
  `select from daily_runs where tenant_id = $1 and job = 'overdue' for update`,
  `select from party_wallets where tenant_id = $1 for update`,
  `select from counters where tenant_id = $1 and series = 'journal' for update`,
  `select from subscriptions where tenant_id = $1 for update`,
  `select from subscriptions where tenant_id = $1 for no key update`,
];

test('workers that are killed in the middle of a night leave nothing half done', async () => {
  for (const place of places) {
    assert.ok(await killWhereItWaits(killed.tenantId, place), `not killed at ${place}`);
  }
  const last = startNight(killed.tenantId);
  const [code] = await once(last, 'exit');
  assert.equal(code, 0);
  assert.deepEqual(await resultsOf(killed), await resultsOf(usual));
  await assertChecks(scene, killed.tenantId);
});

function startNight(tenantId: number) {
  const { cluster, databaseName: database, clock } = scene;
  const at = clock.now().toString();
  const wanted = JSON.stringify({ ...cluster.owner, database, tenantId, at });
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  return spawn(process.execPath, [...quickNode, script, wanted], { stdio: [...stdio] });
}

/** False if the night ended without waiting for what is locked. */
async function killWhereItWaits(tenantId: number, lock: string): Promise<boolean> {
  const client = new pg.Client({ ...scene.cluster.owner, database: scene.databaseName });
  await client.connect();
  try {
    await client.query('begin');
    await client.query("select set_config('app.tenant', $1, true)", [String(tenantId)]);
    await client.query(lock, [tenantId]);
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const night = startNight(tenantId);
    const waits = async () => {
      const { rows: found } = await scene.sql.query(
        'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [rows[0].pid],
      );
      return found.length > 0 || night.exitCode !== null;
    };
    await until(waits, 'the night waits or is over');
    if (night.exitCode !== null) return false;
    const ended = once(night, 'exit');
    night.kill('SIGKILL');
    await ended;
    return true;
  } finally {
    await client.query('rollback');
    await client.end();
  }
}
