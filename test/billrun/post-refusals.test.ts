// Step 7: what refuses posting, which bills it skips, and how it is taken back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  unpost,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { balances, elec, elecC, generated, termOf } from '../support/generated-term.ts';
import { readNext } from '../support/meter-rows.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

test('posting needs a generated term in which nothing changed since', async () => {
  const { run, termId, subscriptions } = await generated(scene, [10, 20]);
  const stale = () => refuses(post(run, termId), 'TERM_STALE_GENERATE_AGAIN', { statusCode: 409 });
  const change = (query: string, values: unknown[] = []) => rowsOf(run, query, values);
  const fresh = async () => {
    await generate(run, termId);
    await run.client.getBillTerm({ billTermID: termId });
  };
  await change('update terms set is_stale = true where tenant_id = $1');
  await stale();
  await fresh();
  await change(
    'update subscriptions set ts = ts + 1 where tenant_id = $1 and subscription_id = $2',
    [subscriptions[0]],
  );
  await stale();
  await fresh();
  await addSubscription(run, termId, { ...copyOf(elecC, 7, 30), account: {} });
  await stale();
  await fresh();
  await change(
    `update term_readings set locked_at = now() + interval '1 hour'
     where tenant_id = $1 and subscription_id = $2`,
    [subscriptions[0]],
  );
  await stale();
  await change('update term_readings set locked_at = now() where tenant_id = $1');
  const { tariff } = { tariff: elec.tariffs.find((plan) => plan.code === 'RES-A1-PRV') };
  await run.client.updateTariff({ tariff: { ...(tariff as object), name: 'Renamed' } as never });
  await stale();
  await fresh();
  await post(run, termId);
  assert.deepEqual(await termOf(run, termId), ['Posted', 'Posted']);
});

test('bills in Error and on hold stop posting, or are skipped and caught up on by the next term', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  const good = await addSubscription(run, termId, { ...copyOf(elecC, 1, 100), account: {} });
  const unread = copyOf(elecC, 2, 100);
  const meters = (unread.meters ?? []).map(({ current: _current, ...meter }) => meter);
  const bad = await addSubscription(run, termId, { ...unread, meters, account: {} });
  const held = await addSubscription(run, termId, { ...copyOf(elecC, 3, 100), account: {} });
  await generate(run, termId);
  const bills = await billsOf(run, termId);
  await run.client.holdBill({ data: { billID: bills[2]?.billID ?? 0, hold: true, reason: 'x' } });
  const refusal = await refuses(post(run, termId), 'TERM_HAS_OPEN_BILLS', { statusCode: 409 });
  assert.deepEqual(
    refusal.error.details.map((detail) => detail.message),
    [
      '1 in error',
      '1 on hold',
      `E-000103-2: register kWh of meter ${meters[0]?.number} has no current reading`,
      'E-000103-3: on hold, x',
    ],
  );
  const { message } = await post(run, termId, true);
  assert.equal(
    message,
    '1 bill posted, 2 left for the next term: E-000103-2 READING_MISSING and E-000103-3 on hold',
  );
  const statuses = (await billsOf(run, termId)).map((bill) => [bill.connectionID, bill.status]);
  assert.deepEqual(statuses, [
    [good, 'Posted'],
    [bad, 'Error'],
    [held, 'Hold'],
  ]);
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  for (const id of [good, bad, held]) {
    await readNext(scene, run.tenantId, august, id, { date: '2025-08-31', use: 62 });
  }
  await generate(run, august);
  const next = await billsOf(run, august);
  assert.deepEqual(
    next.map((bill) => [bill.billedFrom, bill.days, bill.errors]),
    [
      ['01/08/2025', 31, []],
      ['01/07/2025', 62, []],
      ['01/07/2025', 62, []],
    ],
  );
  await post(run, august);
  await assertChecks(scene, run.tenantId);
});

test('unposting mirrors the journals, retires the numbers and gives everything back', async () => {
  const { run, termId } = await generated(scene, [100, 200, 300]);
  await insertOpening(scene, run.tenantId, null, -50_00, 'Opening');
  const before = await billsOf(run, termId);
  const books = await balances(run);
  const state = () =>
    rowsOf(
      run,
      `select s.billed_through::text, h.terms, h.brought_forward
       from subscriptions s left join usage_histories h
         on h.tenant_id = s.tenant_id and h.subscription_id = s.subscription_id
       where s.tenant_id = $1 order by s.subscription_id`,
    );
  const subscriptions = await state();
  await post(run, termId);
  const posted = await billsOf(run, termId);
  await unpost(run, termId, 'wrong fuel price');
  assert.deepEqual(await termOf(run, termId), ['Open', 'Generated']);
  assert.deepEqual(await balances(run), books);
  assert.deepEqual(await state(), subscriptions);
  const plain = (bills: typeof before) =>
    bills.map(({ modifiedAt: _at, modifiedBy: _by, ts: _ts, ...bill }) => bill);
  assert.deepEqual(plain(await billsOf(run, termId)), plain(before));
  await assertChecks(scene, run.tenantId);
  const { summary } = (await run.client.getBillTerm({ billTermID: termId })).data;
  assert.deepEqual(
    summary.retiredNumbers.map(({ first, last, count, reason }) => [first, last, count, reason]),
    [[posted[0]?.billNumber, posted[2]?.billNumber, 3, 'wrong fuel price']],
  );
  await post(run, termId);
  const again = await billsOf(run, termId);
  assert.deepEqual(
    again.map((bill) => bill.billNumber?.slice(-6)),
    ['000004', '000005', '000006'],
  );
  await assertChecks(scene, run.tenantId);
});

test('a due date can be moved until a bill is published, and changes only the bill', async () => {
  const { run, termId } = await generated(scene, [100, 120]);
  await post(run, termId);
  const before = await billsOf(run, termId);
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await rowsOf(run, `update terms set stage = 'Generated' where tenant_id = $1 and term_id = $2`, [
    august,
  ]);
  const move = (dueDate: string) => run.client.updateTerm({ data: { termID: termId, dueDate } });
  await move('25/08/2025');
  const after = await billsOf(run, termId);
  assert.deepEqual(
    after.map((bill) => [bill.dueDate, bill.modifiedBy]),
    after.map(() => ['25/08/2025', `admin@${run.client.workspace}.example`]),
  );
  assert.ok(after.every((bill, index) => bill.ts > (before[index]?.ts ?? 0)));
  // The ledger keeps what was so when it was booked.
  const entries = await rowsOf<{ due: string }>(
    run,
    `select distinct due_date::text as due from subledger_entries
     where tenant_id = $1 and bill_id is not null and due_date is not null`,
  );
  assert.deepEqual(entries, [{ due: '2025-08-15' }]);
  // Overdue amounts on later bills depend on it.
  const [later] = await rowsOf<{ is_stale: boolean }>(
    run,
    'select is_stale from terms where tenant_id = $1 and term_id = $2',
    [august],
  );
  assert.equal(later?.is_stale, true);
  // One customer has seen his bill: the term no longer has one due date to move.
  await rowsOf(run, `update bills set status = 'Published' where tenant_id = $1 and bill_id = $2`, [
    after[0]?.billID,
  ]);
  await refuses(move('26/08/2025'), 'INVALID_STATE');
});

test('what was paid, credited or followed by a later bill is not unposted', async () => {
  const { run, termId, subscriptions } = await generated(scene, [100]);
  const [id = 0] = subscriptions;
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  await rowsOf(run, 'update bills set paid_amount = 100 where tenant_id = $1');
  await refuses(unpost(run, termId), 'INVALID_STATE');
  await rowsOf(run, 'update bills set paid_amount = 0 where tenant_id = $1');
  await insertOpening(scene, run.tenantId, id, -5_00, 'CreditNote', bill?.billID);
  await refuses(unpost(run, termId), 'INVALID_STATE');
  const other = await generated(scene, [100]);
  await post(other.run, other.termId);
  const august = await addTerm(other.run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  const [second = 0] = other.subscriptions;
  await readNext(scene, other.run.tenantId, august, second, { date: '2025-08-31', use: 10 });
  await generate(other.run, august);
  await post(other.run, august);
  await refuses(unpost(other.run, other.termId), 'INVALID_STATE');
  await unpost(other.run, august);
  await unpost(other.run, other.termId);
  await assertChecks(scene, other.run.tenantId);
});

test('a term whose posting came to nothing is cancelled, and its numbers are retired', async () => {
  const { run, termId } = await generated(scene, [100, 200]);
  await scene.sql.query(`
    create function refuse_posting() returns trigger language plpgsql as
      $$ begin raise exception 'a bill that cannot be posted'; end $$;
    create trigger refusing before update on bills for each row
      when (new.tenant_id = ${run.tenantId} and new.status = 'Posted')
      execute function refuse_posting()`);
  await assert.rejects(post(run, termId), /post-bills failed/);
  await scene.sql.query('drop function refuse_posting cascade');
  assert.deepEqual(await termOf(run, termId), ['Open', 'Posting']);
  await assertChecks(scene, run.tenantId);
  await run.client.cancelTerm({ data: { termID: termId, reason: 'It cannot be posted' } });
  assert.deepEqual(await termOf(run, termId), ['Cancelled', 'Cancelled']);
  await assertChecks(scene, run.tenantId);
  const { summary } = (await run.client.getBillTerm({ billTermID: termId })).data;
  const year = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year;
  assert.deepEqual(
    summary.retiredNumbers.map(({ first, last, count, reason }) => [first, last, count, reason]),
    [[`ELEC-${year}-000001`, `ELEC-${year}-000002`, 2, 'It cannot be posted']],
  );
  // The same days again, with the numbers that follow.
  const second = await addTerm(run, { label: 'Jul-2025 again' });
  await addSubscription(run, second, { ...copyOf(elecC, 7, 300), account: {} });
  await generate(run, second);
  await post(run, second, true);
  const numbers = (await billsOf(run, second)).flatMap((bill) => bill.billNumber ?? []);
  assert.ok(numbers.includes(`ELEC-${year}-000003`), numbers.join());
  await assertChecks(scene, run.tenantId);
});
