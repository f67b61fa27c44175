// Each daily job runs once for each workspace and local date, whatever workers and clocks do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { openDatabase } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { type DailyTask, findDueTasks, runDailyTask } from '../../src/worker/daily.ts';
import { startDailyRunner } from '../../src/worker/daily-runner.ts';
import { cloneDatabase, dropDatabase, stopOwnCluster, theCluster } from '../support/cluster.ts';
import { openPlace, until } from '../support/program.ts';
import { makeWorkspace } from '../support/scene.ts';

const cluster = await theCluster();
const place = await openPlace();
const databaseName = await cloneDatabase(cluster);
const sql = new pg.Client({ ...cluster.owner, database: databaseName });
await sql.connect();
const workers = [1, 2, 3].map(() =>
  openDatabase({
    connection: { ...cluster.owner, database: databaseName },
    name: 'test worker',
    max: 2,
    role: 'billwright_worker',
  }),
);
const [worker] = workers;
assert.ok(worker);
const log = createLog({ level: 'silent' });

after(async () => {
  for (const one of workers) await one.close();
  await sql.end();
  await dropDatabase(cluster, databaseName);
  await stopOwnCluster();
});

const clock = { at: Temporal.Instant.from('2027-01-01T00:00:00Z'), now: () => clock.at };

function setClock(local: string, timezone: string): void {
  clock.at = Temporal.PlainDateTime.from(local).toZonedDateTime(timezone).toInstant();
}

let workspaces = 0;

function workspaceIn(timezone: string): Promise<number> {
  workspaces += 1;
  return makeWorkspace(cluster, databaseName, clock.now(), `daily-${workspaces}`, { timezone });
}

/** There are several jobs; what holds for one holds for each. */
async function dueTasks(tenantId: number, database = worker): Promise<DailyTask[]> {
  const tasks = await findDueTasks(database as never, clock, tenantId);
  return tasks.filter((task) => task.job === 'housekeeping');
}

async function dueDates(tenantId: number): Promise<string[]> {
  return (await dueTasks(tenantId)).map((task) => task.localDate);
}

const run = (task: DailyTask, database = worker) => runDailyTask({ database, clock, log }, task);

/** What a worker does at each tick; tells how many jobs it really did. */
async function tick(tenantId: number, database = worker): Promise<number> {
  let done = 0;
  for (const task of await dueTasks(tenantId, database)) {
    if (await run(task, database)) done += 1;
  }
  return done;
}

async function doneDates(tenantId: number): Promise<string[]> {
  const { rows } = await sql.query(
    `select local_date::text as date from daily_runs
     where tenant_id = $1 and job = 'housekeeping' order by 1`,
    [tenantId],
  );
  return rows.map((row) => row.date);
}

for (const timezone of ['Pacific/Kiritimati', 'Asia/Karachi', 'America/New_York', 'Pacific/Apia']) {
  test(`a daily job in ${timezone} is due from 00:05 of the local date, not before`, async () => {
    setClock('2027-03-09T12:00', timezone);
    const tenantId = await workspaceIn(timezone);
    assert.equal(await tick(tenantId), 1);
    // New York has a day of 23 hours in this week.
    for (const date of ['2027-03-10', '2027-03-11', '2027-03-12', '2027-03-13', '2027-03-14']) {
      setClock(`${date}T00:04:59`, timezone);
      assert.deepEqual(await dueDates(tenantId), [], `${date} has not begun`);
      setClock(`${date}T00:05`, timezone);
      assert.deepEqual(await dueDates(tenantId), [date]);
      assert.equal(await tick(tenantId), 1);
      setClock(`${date}T23:59:59`, timezone);
      assert.equal(await tick(tenantId), 0);
    }
    assert.equal((await doneDates(tenantId)).length, 6);
  });
}

test('three workers that tick at once, twice, do each job of each date once', async () => {
  setClock('2027-03-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  await tick(tenantId);
  setClock('2027-03-05T12:00', 'Asia/Karachi');
  const ticks = [...workers, ...workers].map((one) => tick(tenantId, one));
  const done = await Promise.all(ticks);
  assert.equal(
    done.reduce((sum, count) => sum + count, 0),
    4,
  );
  assert.deepEqual(await doneDates(tenantId), [
    '2027-03-01',
    '2027-03-02',
    '2027-03-03',
    '2027-03-04',
    '2027-03-05',
  ]);
});

test('dates missed while no worker ran are caught up, oldest first, a month at most', async () => {
  setClock('2027-04-30T12:00', 'America/New_York');
  const tenantId = await workspaceIn('America/New_York');
  assert.deepEqual(await dueDates(tenantId), ['2027-04-30'], 'a new workspace has no past');
  await tick(tenantId);
  setClock('2027-05-03T00:04', 'America/New_York');
  assert.deepEqual(await dueDates(tenantId), ['2027-05-01', '2027-05-02']);
  await tick(tenantId);
  setClock('2028-05-03T12:00', 'America/New_York');
  const due = await dueDates(tenantId);
  assert.equal(due.length, 31);
  assert.deepEqual([due[0], due.at(-1)], ['2028-04-03', '2028-05-03']);
});

test('a date that a time zone skipped is not a date of its workspaces', async () => {
  setClock('2011-12-29T12:00', 'Pacific/Apia');
  const tenantId = await workspaceIn('Pacific/Apia');
  await tick(tenantId);
  setClock('2011-12-31T12:00', 'Pacific/Apia');
  assert.deepEqual(await dueDates(tenantId), ['2011-12-31']);
});

test('a suspended workspace is left alone and caught up when it is resumed', async () => {
  setClock('2027-06-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  await tick(tenantId);
  setClock('2027-06-03T12:00', 'Asia/Karachi');
  await sql.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  await sql.query(`update tenants set status = 'Suspended' where tenant_id = $1`, [tenantId]);
  assert.deepEqual(await dueDates(tenantId), []);
  await sql.query(`update tenants set status = 'Active' where tenant_id = $1`, [tenantId]);
  assert.deepEqual(await dueDates(tenantId), ['2027-06-02', '2027-06-03']);
});

test('each night the books are checked, and what does not add up is an error in the log', async () => {
  setClock('2027-08-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  const lines: { level: number; localDate: string; outcome: object }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const told = createLog({ level: 'info', destination: { write } });
  const night = async (local: string) => {
    setClock(local, 'Asia/Karachi');
    const tasks = await findDueTasks(worker as never, clock, tenantId);
    for (const task of tasks.filter(({ job }) => job === 'books')) {
      await runDailyTask({ database: worker, clock, log: told }, task);
    }
    const outcomes = lines.splice(0);
    return outcomes.map(({ level, localDate, outcome }) => ({ level, localDate, ...outcome }));
  };
  const good = { level: 30, checked: 0, wrong: 0, examples: [] };
  assert.deepEqual(await night('2027-08-01T12:00'), [{ ...good, localDate: '2027-08-01' }]);
  assert.deepEqual(await night('2027-08-02T00:39'), []);
  assert.deepEqual(await night('2027-08-02T00:40'), [{ ...good, localDate: '2027-08-02' }]);

  await sql.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  await sql.query(
    `insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
       posting_date, description, created_at, created_by)
     values ($1, 1, 'Opening', 1, 1, '2027-08-02', 'by hand', now(), 'test')`,
    [tenantId],
  );
  await sql.query(
    `insert into journal_lines (tenant_id, journal_id, line_number, ledger_account_id, amount)
     values ($1, 1, 1, 2, 500), ($1, 1, 2, 6, -500)`,
    [tenantId],
  );
  const bad = { level: 50, checked: 1, wrong: 1, examples: ['journal 1 account 2'] };
  assert.deepEqual(await night('2027-08-05T12:00'), [
    { ...good, localDate: '2027-08-03' },
    { ...bad, localDate: '2027-08-04' },
    { ...bad, localDate: '2027-08-05' },
  ]);
});

test('a job that fails claims nothing and is done later', async () => {
  setClock('2027-07-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  await sql.query('revoke delete on tokens from billwright_worker');
  await assert.rejects(tick(tenantId), /permission denied/);
  assert.deepEqual(await doneDates(tenantId), []);
  await sql.query('grant delete on tokens to billwright_worker');
  assert.equal(await tick(tenantId), 1);
});

test('later dates of a daily job wait for a date that failed, and other jobs go on', async () => {
  setClock('2027-10-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  const once = async () => {
    const runner = await startDailyRunner({ database: worker, clock, log, tenantId });
    await runner.stop();
  };
  await once();
  setClock('2027-10-03T12:00', 'Asia/Karachi');
  await sql.query('revoke delete on tokens from billwright_worker');
  await once();
  await sql.query('grant delete on tokens to billwright_worker');
  assert.deepEqual(await doneDates(tenantId), ['2027-10-01']);
  const due = await findDueTasks(worker, clock, tenantId);
  assert.deepEqual(
    due.map((task) => `${task.job} ${task.localDate}`),
    ['housekeeping 2027-10-02', 'housekeeping 2027-10-03'],
  );
  await once();
  assert.deepEqual(await doneDates(tenantId), ['2027-10-01', '2027-10-02', '2027-10-03']);
});

test('a job over many bills goes on after its last chunk, and does each bill once', async () => {
  setClock('2027-11-10T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  await insertLateBills(tenantId, 2_500);
  const overdue = async () => {
    const tasks = await findDueTasks(worker, clock, tenantId);
    return tasks.filter((task) => task.job === 'overdue');
  };
  const [task] = await overdue();
  assert.ok(task);
  let chunks = 0;
  const isStopping = () => {
    chunks += 1;
    return chunks > 1;
  };
  assert.equal(await runDailyTask({ database: worker, clock, log, isStopping }, task), false);
  assert.equal(await lateBills(tenantId), 1_000);
  assert.deepEqual(await overdue(), [task], 'the date is still due');
  const done = await Promise.all(workers.map((one) => run(task, one)));
  assert.deepEqual(done.toSorted(), [false, false, true]);
  assert.equal(await lateBills(tenantId), 2_500);
  assert.deepEqual(await overdue(), []);
  const { rows } = await sql.query(
    `select outcome from daily_runs where tenant_id = $1 and job = 'overdue'`,
    [tenantId],
  );
  assert.deepEqual(rows, [{ outcome: { overdue: 2_500 } }]);
});

/** Published, and due a day to three days before today; ids and due dates have another order. */
async function insertLateBills(tenantId: number, count: number): Promise<void> {
  await sql.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  await sql.query(
    `insert into bills (tenant_id, bill_id, term_id, first_run, context_id, batch_id, unit_id,
       subscription_id, party_id, bill_type, status, bill_number, posting, issue_date, due_date,
       days, current_charges, tax_amount, rounding_adjustment, bill_amount, previous_balance,
       payments_received, adjustments, arrears, payable, credit_balance, late_surcharge, unit_ts,
       hash, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, 1, 1, 1, 1, n, n, 1, 'Regular', 'Published', 'B-' || n, 1, '2027-11-01',
       '2027-11-09'::date - (n % 3)::integer, 30, 100, 0, 0, 100, 0, 0, 0, 0, 100, 0, 0, 1, '',
       now(), 'test', now(), 'test', 1
     from generate_series(1, $2::bigint) n`,
    [tenantId, count],
  );
}

async function lateBills(tenantId: number): Promise<number> {
  const { rows } = await sql.query(
    `select count(*)::integer as count from bills
     where tenant_id = $1 and payment_status = 'Overdue'`,
    [tenantId],
  );
  return rows[0].count;
}

test('housekeeping removes what has expired and keeps the rest', async () => {
  setClock('2027-08-01T12:00', 'Asia/Karachi');
  const tenantId = await workspaceIn('Asia/Karachi');
  const other = await workspaceIn('Asia/Karachi');
  for (const tenant of [tenantId, other]) await plant(tenant);
  assert.equal(await tick(tenantId), 1);
  assert.deepEqual(await planted(tenantId), {
    tokens: ['access good', 'refresh good'],
    sessions: ['00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003'],
    answers: ['good'],
    failures: [2],
  });
  assert.equal((await planted(other)).tokens.length, 4, 'no other workspace was touched');
});

/** Sessions: 1 with expired tokens only, 2 with good ones too, 3 with good ones only. */
async function plant(tenantId: number): Promise<void> {
  const now = clock.now().toString();
  await sql.query(
    `insert into sessions (tenant_id, session_id, login_id, address, created_at, used_at)
     select $1, ('00000000-0000-0000-0000-00000000000' || n)::uuid, 1, '::1', at, at
     from generate_series(1, 3) n, (values ($2::timestamptz - interval '40 days')) as t (at)`,
    [tenantId, now],
  );
  await sql.query(
    `insert into tokens (tenant_id, token_hash, session_id, kind, expires_at)
     select $1, sha256(name::bytea), ('00000000-0000-0000-0000-00000000000' || session)::uuid,
       split_part(name, ' ', 1), $2::timestamptz + life::interval
     from (values ('access old', 1, '-1 second'), ('refresh old', 2, '-3 days'),
       ('access good', 2, '1 second'), ('refresh good', 3, '30 days')) as t (name, session, life)`,
    [tenantId, now],
  );
  await sql.query(
    `insert into idempotency_keys
       (tenant_id, principal, idempotency_key, request_hash, headers, body, expires_at)
     select $1, 'Login:1', name, '', '{}', '{}', $2::timestamptz + life::interval
     from (values ('old', '-1 second'), ('good', '1 hour')) as t (name, life)`,
    [tenantId, now],
  );
  await sql.query(
    `insert into login_failures (tenant_id, name_hash, failures, failed_at)
     select $1, sha256(failures::text::bytea), failures, $2::timestamptz + life::interval
     from (values (1, '-25 hours'), (2, '-23 hours')) as t (failures, life)`,
    [tenantId, now],
  );
}

async function planted(tenantId: number) {
  const names = ['access old', 'refresh old', 'access good', 'refresh good'];
  const { rows } = await sql.query(
    `select
       (select array_agg(name order by name) from unnest($2::text[]) name where exists (
         select from tokens where tenant_id = $1 and token_hash = sha256(name::bytea))) as tokens,
       (select array_agg(session_id::text order by 1)
         from sessions where tenant_id = $1) as sessions,
       (select array_agg(idempotency_key) from idempotency_keys where tenant_id = $1) as answers,
       (select array_agg(failures) from login_failures where tenant_id = $1) as failures`,
    [tenantId, names],
  );
  return rows[0];
}

test('three real workers that start at once do each job of today once', async () => {
  clock.at = Temporal.Now.instant();
  const zones = ['Pacific/Kiritimati', 'America/New_York'];
  const tenants = await Promise.all(zones.map(workspaceIn));
  const host = encodeURIComponent(cluster.owner.host);
  const env = {
    DATABASE_URL: `postgresql://billwright@/${databaseName}?host=${host}`,
    BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1',
  };
  const programs = [1, 2, 3].map(() => place.run(['work'], env));
  const isDone = async () => {
    const done = await Promise.all(tenants.map(doneDates));
    return done.every((dates) => dates.length === 1);
  };
  await until(isDone, 'both workspaces have had their day');
  await until(
    () => programs.every((program) => program.output().includes('worker ready')),
    'all are ready',
  );
  const exits = await Promise.all(programs.map((program) => program.end('SIGTERM')));
  assert.deepEqual(exits, Array(3).fill({ code: 0, signal: null }));
  const output = () => programs.map((program) => program.output()).join('');
  for (const tenantId of tenants) {
    const told = () =>
      output()
        .split('\n')
        .filter(
          (line) =>
            line.includes(`"tenantId":${tenantId},`) &&
            line.includes('"housekeeping"') &&
            line.includes('daily job done'),
        );
    // The last lines may still be on their way.
    await until(() => told().length > 0, 'the log tells of it');
    assert.equal(told().length, 1, output());
  }
});
