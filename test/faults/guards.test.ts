// What the roles of API and worker may not do to posted bills and the ledger, with triggers on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { assertChecks } from '../support/checks.ts';
import { ask, clientOf, makeFullTerm, stepNames } from '../support/full-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });
const term = await makeFullTerm(scene, scene.baseUrl, 'guarded', 6);
const { tenantId } = term;
const worker = scene.runJobs();
for (const step of stepNames) {
  const jobId = await ask(clientOf(scene.baseUrl, term), step);
  await until(async () => {
    const { rows } = await scene.sql.query(
      'select status from jobs where tenant_id = $1 and job_id = $2',
      [tenantId, jobId],
    );
    return rows[0].status === 'Succeeded';
  }, `${step} is done`);
}
await worker.stop();

const mine = `tenant_id = ${tenantId}`;
const ofBill = (bill: number) => `${mine} and bill_id = ${bill}`;

const roles = { api: 'billwright_api', worker: 'billwright_worker', owner: 'billwright' };
type Role = keyof typeof roles;

/** The error of statements that a role runs in one transaction, which is rolled back; or none. */
async function refusal(role: Role, statements: string): Promise<string> {
  const client = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(`set local role ${roles[role]}`);
    await client.query("select set_config('app.tenant', $1, true)", [String(tenantId)]);
    await client.query(statements);
    await client.query('set constraints all immediate');
    return 'none';
  } catch (error) {
    const { constraint, message } = error as pg.DatabaseError;
    return constraint ?? message;
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

const changes: [string, string][] = [
  ['party_id = 2', 'bills_posted_fixed'],
  ['subscription_id = 2', 'bills_posted_fixed'],
  ['account_id = 2', 'bills_posted_fixed'],
  ['due_date = due_date + 30', 'bills_posted_fixed'],
  ['issue_date = issue_date - 1', 'bills_posted_fixed'],
  [`status = 'Posted'`, 'bills_status_step'],
  [`status = 'Draft'`, 'bills_status_step'],
  [`status = 'Hold'`, 'bills_status_step'],
  ['paid_amount = bill_amount', 'bills_paid_as_booked'],
  ['credited = 1', 'bills_paid_as_booked'],
  ['written_off = 1', 'bills_paid_as_booked'],
  ['transferred = 1', 'bills_paid_as_booked'],
  ['disputed = 1', 'bills_paid_as_booked'],
  ['overdue_on = due_date', 'bills_paid_as_booked'],
  ['late_surcharge = 0', 'bills_posted_fixed'],
];

test('wallets and payments of a party that does not exist are refused', async () => {
  const wallet = (party: number) =>
    `insert into party_wallets (tenant_id, party_id) values (${tenantId}, ${party})
     on conflict do nothing`;
  assert.equal(await refusal('api', wallet(1)), 'none');
  assert.equal(await refusal('api', wallet(999_999)), 'party_wallets_party_fkey');
  const payment = (party: number) =>
    `insert into payments (tenant_id, payment_id, reference, direction, party_id, amount,
       value_date, payment_method, cash_account_id, journal_id, created_at, created_by)
     values (${tenantId}, 900, 'R-900', 'In', ${party}, 1, '2026-01-01', 'Cash', 1, 1, now(), 'x')`;
  assert.equal(await refusal('worker', payment(1)), 'none');
  assert.equal(await refusal('worker', payment(999_999)), 'payments_party_fkey');
});

for (const [change, constraint] of changes) {
  test(`a worker that sets ${change} on a published bill is refused`, async () => {
    const before = `update bills set modified_at = '2020-01-01' where ${ofBill(3)};`;
    const statement = `${before} update bills set ${change} where ${ofBill(3)}`;
    assert.equal(await refusal('worker', statement), constraint);
  });
  test(`API that sets ${change} on a published bill is refused`, async () => {
    const found = await refusal('api', `update bills set ${change} where ${ofBill(3)}`);
    assert.match(found, new RegExp(`^(permission denied.*|${constraint})$`));
  });
}

test('API may neither insert bills nor post, publish or cancel posted ones', async () => {
  const copy = `insert into bills (bill_id) values (900)`;
  assert.match(await refusal('api', copy), /permission denied/);
  const cancel = `update bills set status = 'Cancelled' where ${ofBill(3)}`;
  assert.equal(await refusal('api', cancel), 'bills_status_step');
});

test('the contents of a bill cannot be changed, nor deleted without the bill', async () => {
  const change = `update bill_contents set frozen = '{}' where ${ofBill(3)}`;
  assert.equal(await refusal('owner', change), 'bill_contents is append-only');
  assert.match(await refusal('worker', change), /permission denied/);
  const remove = `delete from bill_contents where ${ofBill(3)}`;
  assert.equal(await refusal('owner', remove), 'bill_contents_kept');
  assert.equal(await refusal('worker', remove), 'bill_contents_kept');
});

test('a bill number is retired once and never given back', async () => {
  const retire = (reason: string, at: string) => `update bill_numbers
    set retired_reason = ${reason}, retired_at = ${at}, retired_by = ${reason}
    where ${ofBill(3)}`;
  const once = retire(`'wrong'`, 'now()');
  assert.equal(await refusal('worker', once), 'none');
  const again = `${once}; ${retire(`'another'`, 'now()')}`;
  assert.equal(await refusal('worker', again), 'bill_numbers is append-only');
  const back = `${once}; ${retire('null', 'null')}`;
  assert.equal(await refusal('worker', back), 'bill_numbers is append-only');
});

const entry = (journalId: string) => `
  insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
    subscription_id, kind, amount, posting_date, created_at, created_by)
  values (${tenantId}, 900000, ${journalId}, 2, 1, 1, 'Adjustment', -100, '2026-01-01', now(), 'x')`;
const lines = (journalId: string) => `
  insert into journal_lines (tenant_id, journal_id, line_number, ledger_account_id, amount)
  values (${tenantId}, ${journalId}, 901, 2, -100), (${tenantId}, ${journalId}, 902, 6, 100)`;
const journal = `
  insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
    posting_date, description, created_at, created_by)
  values (${tenantId}, 900000, 'Adjustment', 1, 1, '2026-01-01', 'x', now(), 'x')`;
const posted = `(select max(journal_id) from journals where ${mine})`;

for (const role of ['api', 'worker'] as const) {
  test(`${role}: a lone entry is refused, in an old journal and in a new one`, async () => {
    assert.equal(await refusal(role, entry(posted)), 'journals_written_once');
    assert.equal(
      await refusal(role, `${entry(posted)}; ${lines(posted)}`),
      'journals_written_once',
    );
    assert.equal(await refusal(role, `${journal}; ${entry('900000')}`), 'journals_made_of_entries');
  });
  test(`${role}: lines without entries, and lines of an old journal, are refused`, async () => {
    assert.equal(await refusal(role, lines(posted)), 'journals_written_once');
    assert.equal(await refusal(role, `${journal}; ${lines('900000')}`), 'journals_made_of_entries');
  });
  test(`${role}: a whole journal is written, also after a savepoint`, async () => {
    const whole = `${journal}; ${lines('900000')}; savepoint a; ${entry('900000')}`;
    assert.equal(await refusal(role, whole), 'none');
    assert.equal(await refusal(role, `savepoint b; ${whole}`), 'none');
  });
}

test('what the program itself does is not refused, and verify finds nothing', async () => {
  await assertChecks(scene, tenantId);
});
