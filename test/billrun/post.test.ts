// Step 7: numbers, ledger, histories.
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
import { assertChecks, resultsOf } from '../support/checks.ts';
import {
  balances,
  cents,
  elec,
  elecA,
  elecB,
  elecC,
  generated,
  termOf,
} from '../support/generated-term.ts';
import { readNext } from '../support/meter-rows.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

test('the worked bills are posted: numbers, debits, credits, histories, billed days', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  const ids: number[] = [];
  for (const scenario of [elecA, elecB, elecC])
    ids.push(await addSubscription(run, termId, scenario));
  await generate(run, termId);
  const before = await balances(run);
  assert.deepEqual(before, [
    { code: 'OPENING', amount: '-120960' },
    { code: 'RECEIVABLE', amount: '120960' },
  ]);
  await post(run, termId);
  assert.deepEqual(await termOf(run, termId), ['Posted', 'Posted']);
  const bills = await billsOf(run, termId);
  const year = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year;
  assert.deepEqual(
    bills.map((bill) => [bill.status, bill.billNumber]),
    [1, 2, 3].map((n) => ['Posted', `ELEC-${year}-00000${n}`]),
  );
  // 13592.00 + 9156.41 + 165.27 = 22913.68; tax 2222.66 + 1511.18 + 20.02 = 3753.86;
  // rounding 0.40 - 0.41 - 0.27 = -0.28; receivable 1209.60 + 22913.40.
  assert.deepEqual(await balances(run), [
    { code: 'INCOME', amount: '-1915982' },
    { code: 'OPENING', amount: '-120960' },
    { code: 'RECEIVABLE', amount: '2412300' },
    { code: 'ROUNDING', amount: '28' },
    { code: 'TAX', amount: '-375386' },
  ]);
  const histories = await rowsOf<{ terms: object[]; brought_forward: string }>(
    run,
    `select terms, brought_forward from usage_histories
     where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(histories[0]?.terms[0], {
    termId,
    label: 'Jul-2025',
    endDate: '2025-07-31',
    days: 31,
    amount: 1_359_200,
    usage: { energy: { quantity: '404', type: 'Actual' } },
  });
  assert.equal(histories[0]?.terms.length, 3);
  assert.equal(histories[0]?.brought_forward, '1484200');
  const billed = await rowsOf<{ billed_through: string }>(
    run,
    `select billed_through::text from subscriptions where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(
    billed.map((row) => row.billed_through),
    ['2025-07-31', '2025-07-20', '2025-07-31'],
  );
  await assertChecks(scene, run.tenantId);
});

test('the next bill begins where the last ended: history, arrears, what was paid between', async () => {
  const { run, termId, subscriptions } = await generated(scene, [404]);
  await post(run, termId);
  const [first] = await billsOf(run, termId);
  const [id = 0] = subscriptions;
  await insertOpening(scene, run.tenantId, id, -500_00, 'Payment');
  await insertOpening(scene, run.tenantId, id, 7_25, 'Adjustment');
  const august = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await readNext(scene, run.tenantId, august, id, { date: '2025-08-31', use: 100 });
  await generate(run, august);
  const [second] = await billsOf(run, august);
  assert.ok(first && second);
  assert.equal(second.billedFrom, '01/08/2025');
  assert.equal(second.previousBalance, first.totalAmount);
  assert.equal(second.paymentsReceived, 500);
  assert.equal(second.adjustments, 7.25);
  assert.equal(cents(second.arrears), cents(first.totalAmount) - 500_00 + 7_25);
  assert.deepEqual(
    second.history.map((item) => [item.label, item.quantity, item.amount]),
    [
      ['Jul-2025', '404', first.billAmount],
      ['Jun-2025', '0', null],
      ['May-2025', '12', null],
    ],
  );
  await post(run, august);
  await assertChecks(scene, run.tenantId);
  const { data } = await run.client.getBillTerm({ billTermID: august });
  assert.equal(data.summary.comparison?.previousTermID, termId);
  assert.match(data.summary.comparison?.currentChargesChangePct ?? '', /^-\d+(\.\d)?$/);
});

test('components are credited to the accounts they name, which are opened when they are missing', async () => {
  const components = (elec.service.components ?? []).map((component) => ({
    ...component,
    ...(component.name === 'tvFee' ? { account: 'TV-FEES' } : {}),
    ...(component.name === 'gst' ? { account: 'GST' } : {}),
    // Only entries of customers may be on this account.
    ...(component.name === 'meterRent' ? { account: 'RECEIVABLE' } : {}),
  }));
  const { run, termId } = await generated(scene, [150], { changed: { components } });
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  const line = (name: string) =>
    cents(bill?.lines.find((one) => one.component === name)?.amount ?? 0);
  const found = new Map((await balances(run)).map(({ code, amount }) => [code, Number(amount)]));
  assert.equal(found.get('TV-FEES'), -line('tvFee'));
  assert.equal(found.get('GST'), -line('gst'));
  assert.equal(found.get('TAX'), -line('electricityDuty'));
  assert.equal(found.get('RECEIVABLE'), cents(bill?.billAmount ?? 0));
  await assertChecks(scene, run.tenantId);
});

test('bills of accounts are posted by subscription, and unposted', async () => {
  const run = await openBillRun(scene, elec, { postType: 'Post Account' } as never);
  const termId = await addTerm(run);
  const ids: number[] = [];
  for (const [index, scenario] of [elecA, elecB, elecC].entries()) {
    ids.push(await addSubscription(run, termId, copyOf(scenario, index)));
  }
  await generate(run, termId);
  await insertOpening(scene, run.tenantId, null, -20_000_00, 'Opening');
  await post(run, termId);
  const [bill] = await billsOf(run, termId);
  assert.equal(bill?.status, 'Posted');
  assert.equal(bill?.walletApplied, 20_000);
  const entries = await rowsOf<{ subscription_id: string; amount: string }>(
    run,
    `select subscription_id, amount from subledger_entries
     where tenant_id = $1 and kind = 'Bill' order by subscription_id`,
  );
  assert.deepEqual(
    entries.map((entry) => [Number(entry.subscription_id), Number(entry.amount)]),
    // The last one takes the rounding of -0.28.
    [
      [ids[0], 13_592_00],
      [ids[1], 9156_41],
      [ids[2], 165_27 - 28],
    ],
  );
  const histories = await rowsOf<{ quantity: string }>(
    run,
    `select terms[1] -> 'usage' -> 'energy' ->> 'quantity' as quantity from usage_histories
     where tenant_id = $1 order by subscription_id`,
  );
  assert.deepEqual(
    histories.map((row) => row.quantity),
    ['404', '260', '0'],
  );
  await assertChecks(scene, run.tenantId);
  await unpost(run, termId);
  await assertChecks(scene, run.tenantId);
  await post(run, termId);
  await assertChecks(scene, run.tenantId);
});

test('what is booked of a bill is what its document says', async () => {
  const rows = await scene.sql.query<{ bills: string; other: string }>(
    `select count(*) as bills, count(*) filter (
         where b.charges::jsonb is distinct from coalesce(d.charges, '{}')
           or b.usage::jsonb is distinct from d.usage
       ) as other
     from bills b
     join bill_contents k on k.tenant_id = b.tenant_id and k.bill_id = b.bill_id
     cross join lateral (
       select (
         select jsonb_object_agg(key, amount) from (
           select l ->> 'type' || ' ' || (l ->> 'component') as key,
             sum((l ->> 'amount')::bigint) as amount
           from json_array_elements(k.document -> 'lines') l group by 1
         ) sums
       ) as charges, case when b.subscription_id is not null then coalesce((
         select jsonb_object_agg(u ->> 'input', jsonb_strip_nulls(jsonb_build_object(
           'quantity', u ->> 'quantity', 'carried', u ->> 'carried',
           'type', case when u ->> 'estimated' is null then 'Actual' else 'Estimated' end)))
         from json_array_elements(k.document -> 'usage') u
       ), '{}') end as usage
     ) d`,
  );
  const [found] = rows.rows;
  assert.equal(found?.other, '0');
  // Those of the tests above, and of files that use the same database.
  assert.ok(Number(found?.bills) >= 7);
});

test('a plan that is billed once ends with its bill', async () => {
  const tariffs = elec.tariffs.map((plan) => ({ ...plan, planType: 'ONE_TIME_PLAN' }));
  const run = await openBillRun(scene, { ...elec, tariffs: tariffs as never });
  const termId = await addTerm(run);
  const id = await addSubscription(run, termId, { ...copyOf(elecC, 1, 100), account: {} });
  await generate(run, termId);
  await post(run, termId);
  const status = async () => {
    const [row] = await rowsOf<{ status: string; last: string }>(
      run,
      `select status, status_history -> -1 ->> 'fromDate' as last from subscriptions
       where tenant_id = $1 and subscription_id = $2`,
      [id],
    );
    return [row?.status, row?.last];
  };
  assert.deepEqual(await status(), ['Disconnected', '2025-08-01']);
  await assertChecks(scene, run.tenantId);
  await unpost(run, termId);
  assert.deepEqual(await status(), ['Active', '2020-01-01']);
});

test('50 clicks on generate and on post make one job each', async () => {
  const { run, termId } = await generated(scene, [10, 20]);
  for (const click of [() => generate(run, termId), () => post(run, termId)]) {
    const answers = await Promise.allSettled(Array.from({ length: 50 }, click));
    const done = answers.filter((answer) => answer.status === 'fulfilled');
    assert.ok(done.length >= 1);
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      const { error } = answer.reason as { error: { code: string } };
      assert.ok(['JOB_ALREADY_RUNNING', 'INVALID_STATE'].includes(error.code), error.code);
    }
  }
  const bills = await billsOf(run, termId);
  assert.deepEqual(
    bills.map((bill) => bill.status),
    ['Posted', 'Posted'],
  );
  await assertChecks(scene, run.tenantId);
});

test('verify names data that was changed by hand', async () => {
  const { run, termId } = await generated(scene, [100, 200]);
  await post(run, termId);
  const broken = async () =>
    (await resultsOf(scene, run.tenantId)).filter((one) => one.wrong > 0).map((one) => one.check);
  assert.deepEqual(await broken(), []);
  await rowsOf(
    run,
    'update subscription_balances set receivable = receivable + 1 where tenant_id = $1',
  );
  assert.deepEqual(await broken(), ['L5']);
  await rowsOf(
    run,
    'update subscription_balances set receivable = receivable - 1 where tenant_id = $1',
  );
  await rowsOf(run, 'update number_series set last_number = last_number + 1 where tenant_id = $1');
  assert.deepEqual(await broken(), ['L3']);
  await rowsOf(run, 'update number_series set last_number = last_number - 1 where tenant_id = $1');
  await rowsOf(
    run,
    `update subscriptions set billed_through = billed_through - 1 where tenant_id = $1`,
  );
  assert.deepEqual(await broken(), ['L2']);
  await rowsOf(
    run,
    `update subscriptions set billed_through = billed_through + 1 where tenant_id = $1`,
  );
  await scene.sql.query('alter table bill_contents disable trigger bill_contents_fixed');
  await rowsOf(
    run,
    `update bill_contents set document = replace(document::text, 'A. Khan', 'B. Khan')::json
     where tenant_id = $1 and bill_id = (select min(bill_id) from bills where tenant_id = $1)`,
  );
  await scene.sql.query('alter table bill_contents enable trigger bill_contents_fixed');
  assert.deepEqual(await broken(), ['L4']);
});

/** What posting changes of every bill, and not only where a wallet pays or it is due at once. */
const writtenColumns = ['status', 'bill_number', 'posting', 'modified_at', 'modified_by', 'ts'];

test('posting writes a bill in place on its page and touches none of its indexes', async () => {
  // Columns of keys, expressions and conditions alike.
  const { rows: columns } = await scene.sql.query<{ name: string }>(
    `select distinct a.attname as name
     from pg_index i
     join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where i.indrelid = 'bills'::regclass and d.refobjid = i.indrelid`,
  );
  const indexed = new Set(columns.map(({ name }) => name));
  assert.ok(indexed.has('review_status'));
  assert.deepEqual(
    writtenColumns.filter((name) => indexed.has(name)),
    [],
  );
  const { run, termId } = await generated(scene, Array(20).fill(100));
  const places = () =>
    rowsOf(
      run,
      `select bill_id, (ctid::text::point)[0] as page from bills
       where tenant_id = $1 order by bill_id`,
    );
  const drafts = await places();
  await post(run, termId);
  assert.equal(drafts.length, 20);
  assert.deepEqual(await places(), drafts);
});
