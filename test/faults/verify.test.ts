// What somebody changed behind the back of the program, with every trigger and constraint asleep,
// is named by `billwright verify`: each law by what breaks it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOf } from '../support/cluster.ts';
import { type Crime, columnsOf, tamper, testCrimes } from '../support/crimes.ts';
import { ask, clientOf, makeFullTerm, stepNames } from '../support/full-term.ts';
import { judgementsOf } from '../support/laws.ts';
import { finish, openPlace, until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });
const place = await openPlace();
const term = await makeFullTerm(scene, scene.baseUrl, 'verified', 12);
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

const billColumns = await columnsOf(scene, 'bills');

const crimes: readonly Crime[] = [
  {
    what: 'a line of a journal is changed',
    table: 'journal_lines',
    commit: `update journal_lines set amount = amount + 1 where ${mine} and line_number = 1
      and journal_id = (select max(journal_id) from journals where ${mine})`,
    laws: ['L1', 'L16'],
    names: /journal \d+/,
  },
  {
    what: 'an entry is deleted',
    table: 'subledger_entries',
    commit: `delete from subledger_entries where ${ofBill(3)}`,
    laws: ['L1', 'L5', 'L6'],
    names: /journal \d+ account 2/,
  },
  {
    what: 'a bill is booked a second time',
    table: 'subledger_entries',
    commit: `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id,
        party_id, subscription_id, kind, bill_id, posting, amount, posting_date, created_at,
        created_by)
      select tenant_id, 900000, journal_id, 2, party_id, subscription_id, 'Bill', bill_id,
        posting + 1, amount, posting_date, now(), 'thief'
      from subledger_entries where ${ofBill(3)} and kind = 'Bill'`,
    laws: ['L1', 'L3', 'L5', 'L6'],
    names: /journal/,
  },
  {
    what: 'a posted bill is billed for other days than its subscription says',
    table: 'subscriptions',
    commit: `update subscriptions set billed_through = billed_through - 3
      where ${mine} and subscription_id = 4`,
    laws: ['L2'],
    names: /^subscription 4$/,
  },
  {
    what: 'a second live bill of the same subscription',
    table: 'bills',
    commit: `drop index bills_subject_key;
      create table copied as select * from bills where ${ofBill(5)};
      update copied set bill_id = 905, status = 'Draft', bill_number = null;
      insert into bills (${billColumns}) select ${billColumns} from copied;
      drop table copied`,
    laws: ['L2', 'L4', 'L14', 'L15'],
    names: /^term 1 subject 5$/,
  },
  {
    what: 'a subscription is on two live bills of a term',
    table: 'bill_parts',
    commit: `insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days,
        billed_to, billed_through, subject_ts)
      select tenant_id, 5, subscription_id, 0, 0, 0, billed_to, billed_to, subject_ts
      from bills where ${ofBill(4)}`,
    laws: ['L2'],
    names: /^term 1 subscription 4$/,
  },
  {
    what: 'a posted bill bills a day that was billed before',
    table: 'bills',
    commit: `update bills set billed_from = billed_through where ${ofBill(5)}`,
    laws: ['L2', 'L4'],
    names: /^bill 5 of subscription 5$/,
  },
  {
    what: 'a subscription with posted bills is gone',
    table: 'subscriptions',
    commit: `delete from subscriptions where ${mine} and subscription_id = 4`,
    laws: ['L2'],
    names: /^subscription 4$/,
  },
  {
    what: 'a counter is behind what was numbered by it',
    table: 'counters',
    commit: `update counters set last_number = 3 where ${mine} and series = 'entry'`,
    laws: ['L3'],
    names: /^entry \d+ is beyond 3$/,
  },
  {
    what: 'a bill number is taken away',
    table: 'bills',
    commit: `alter table bills drop constraint bills_number_when_posted;
      update bills set bill_number = null where ${ofBill(6)}`,
    laws: ['L3', 'L6', 'L14'],
    names: /^number \S+ of bill 6$/,
  },
  {
    what: 'a series has numbers that are on no bill',
    table: 'number_series',
    commit: `update number_series set last_number = last_number + 2 where ${mine}`,
    laws: ['L3'],
    names: /^series \S+: taken 14, given 12, retired 0, waiting 0, twice 0$/,
  },
  {
    what: 'a series is gone',
    table: 'number_series',
    commit: `delete from number_series where ${mine}`,
    laws: ['L3'],
    names: /^series of no name: taken 0, given 12/,
  },
  {
    what: 'a number is in another place of its series',
    table: 'bill_numbers',
    commit: `update bill_numbers set series_number = 1 where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^series \S+: taken 12, given 12, retired 0, waiting 0, twice 1$/,
  },
  {
    what: 'numbers of credit notes were taken for nobody',
    table: 'counters',
    commit: `insert into counters (tenant_id, series, last_number)
      values (${tenantId}, 'credit-note', 2)`,
    laws: ['L3'],
    names: /^taken 2, on credit notes 0 up to 0$/,
  },
  {
    what: 'a retired number is on a bill',
    table: 'bill_numbers',
    commit: `update bill_numbers
      set retired_reason = 'x', retired_at = now(), retired_by = 'thief' where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'the number of a bill was never given',
    table: 'bill_numbers',
    commit: `delete from bill_numbers where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'a number was given in another term than that of its bill',
    table: 'bill_numbers',
    commit: `update bill_numbers set term_id = 7 where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'a number was given to a bill that has another',
    table: 'bill_numbers',
    commit: `insert into bill_numbers (tenant_id, bill_number, bill_id, term_id)
      select tenant_id, bill_number || '9', bill_id, term_id from bills where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^number \S+9 of bill 7$/,
  },
  {
    what: 'a bill gets another number that nobody has',
    table: 'bills',
    commit: `update bills set bill_number = bill_number || '9' where ${ofBill(7)}`,
    laws: ['L3'],
    names: /^bill 7 was booked as \S+$/,
  },
  {
    what: 'two bills have changed their numbers',
    table: 'bills',
    commit: `update bills b set bill_number = o.bill_number from bills o
      where b.${mine} and o.${mine} and b.bill_id + o.bill_id = 15 and b.bill_id in (7, 8)`,
    laws: ['L3'],
    names: /^bill 7 was booked as \S+\nbill 8 was booked as \S+$/,
  },
  {
    what: 'the ledger names another number than the bill has',
    table: 'subledger_entries',
    commit: `update subledger_entries set reference = reference || '9' where ${ofBill(8)}`,
    laws: ['L3'],
    names: /^bill 8 was booked as \S+9$/,
  },
  {
    what: 'the words of a posted bill are changed',
    table: 'bill_contents',
    commit: `update bill_contents
      set document = replace(document::text, 'Customer 8', 'Customer 9')::json
      where ${ofBill(8)}`,
    laws: ['L4'],
    names: /^bill 8$/,
  },
  {
    what: 'the inputs of a posted bill are changed',
    table: 'bill_contents',
    commit: `update bill_contents set facts = replace(facts::text, '48210', '48200')::json
      where ${ofBill(9)}`,
    laws: ['L4'],
    names: /^bill 9$/,
  },
  {
    what: 'what a bill says is gone',
    table: 'bill_contents',
    commit: `delete from bill_contents where ${ofBill(9)}`,
    laws: ['L4'],
    names: /^bill 9 has no contents$/,
  },
  {
    what: 'there is more said than there are bills',
    table: 'bill_contents',
    commit: `insert into bill_contents (tenant_id, bill_id, document, facts)
      select tenant_id, 909, document, facts from bill_contents where ${ofBill(9)}`,
    laws: ['L4'],
    names: /^contents 909 have no bill$/,
  },
  {
    what: 'the amount of a posted bill is changed',
    table: 'bills',
    commit: `alter table bills drop constraint bills_amount;
      update bills set bill_amount = bill_amount - 100 where ${ofBill(10)}`,
    laws: ['L4', 'L6', 'L13'],
    names: /^bill 10$/,
  },
  {
    what: 'a bill is booked on another subscription',
    table: 'subledger_entries',
    commit: `update subledger_entries set subscription_id = 4 where ${ofBill(3)}`,
    laws: ['L5', 'L6'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill is booked by two entries',
    table: 'subledger_entries',
    commit: `drop index subledger_entries_bill_key;
      insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
        subscription_id, kind, bill_id, posting, amount, posting_date, reference, created_at,
        created_by)
      select tenant_id, 900000, journal_id, ledger_account_id, party_id, subscription_id, kind,
        bill_id, posting, 100, posting_date, reference, created_at, created_by
      from subledger_entries where ${ofBill(3)} and kind = 'Bill';
      update subledger_entries set amount = amount - 100
      where ${ofBill(3)} and kind = 'Bill' and entry_id < 900000`,
    laws: ['L3', 'L6'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'bills are booked as owed to the workspace that owes them',
    table: 'pricing_contexts',
    commit: `update pricing_contexts set context_type = 'Purchase' where ${mine}`,
    laws: ['L6'],
    names: /^bill 1 posting 1$/,
  },
  {
    what: 'a bill is booked as owed by the workspace that is owed it',
    table: 'subledger_entries',
    commit: `update subledger_entries set ledger_account_id = 1000001, amount = -amount
      where ${ofBill(3)} and kind = 'Bill'`,
    laws: ['L1', 'L5', 'L6'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill that was booked is cancelled as if it had never been posted',
    table: 'bills',
    commit: `update bills set status = 'Cancelled', bill_number = null where ${ofBill(3)}`,
    laws: ['L3', 'L6', 'L14'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill is cancelled and nothing credited',
    table: 'bills',
    commit: `update bills set status = 'Cancelled' where ${ofBill(3)}`,
    laws: ['L15'],
    names: /^bill 3 is cancelled and not credited$/,
  },
  {
    what: 'a bill says that a wallet paid what none did',
    table: 'bills',
    commit: `update bills set wallet_applied = 500, payable = payable - 500 where ${ofBill(4)}`,
    laws: ['L6', 'L15'],
    names: /^bill 4 from a wallet$/,
  },
  {
    what: 'a balance is changed',
    table: 'subscription_balances',
    commit: `update subscription_balances set receivable = 0 where ${mine}
      and subscription_id = 11`,
    laws: ['L5'],
    names: /^subscription 11 of party 11$/,
  },
  {
    what: 'a wallet is filled from nothing',
    table: 'parties',
    commit: `update parties set wallet_balance = 5000 where ${mine} and party_id = 2`,
    laws: ['L5'],
    names: /^wallet of party 2$/,
  },
  {
    what: 'a bill went out twice, and nobody had asked for it',
    table: 'deliveries',
    commit: `alter table deliveries drop constraint deliveries_once;
      insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
        status, message_id, created_at, created_by, modified_at)
      select tenant_id, 900, bill_id, term_id, job_id, channel, recipient, status, message_id,
        created_at, created_by, modified_at
      from deliveries where ${ofBill(12)}`,
    laws: ['L8'],
    names: /^bill 12 by Email$/,
  },
  {
    what: 'a bill went out twice, and somebody had asked for it once',
    table: 'deliveries',
    besides: ['jobs'],
    commit: `alter table deliveries drop constraint if exists deliveries_once;
      update jobs set parameters = parameters || '{"resend": true}'
      where ${mine} and operation = 'distribute-bills';
      insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
        status, message_id, created_at, created_by, modified_at)
      select tenant_id, 900, bill_id, term_id, job_id, channel, recipient, status, message_id,
        created_at, created_by, modified_at
      from deliveries where ${ofBill(12)}`,
    laws: ['L8'],
    names: /^bill 12 by Email$/,
  },
  {
    what: 'a bill went out that is not published',
    table: 'bills',
    commit: `update bills set status = 'Posted' where ${ofBill(12)}`,
    laws: ['L8', 'L15'],
    names: /^bill 12 is Posted$/,
  },
  {
    what: 'a job runs and nobody works on it',
    table: 'jobs',
    commit: `update jobs set status = 'Running', finished_at = null,
        started_at = now() - interval '3 minutes'
      where ${mine} and operation = 'publish-bills'`,
    laws: ['L11'],
    names: /^job \d+$/,
  },
  {
    what: 'a subscription has forgotten its newest bill',
    table: 'usage_histories',
    commit: `update usage_histories set terms = terms[2:] where ${mine} and subscription_id = 6`,
    laws: ['L13'],
    names: /^subscription 6 term 1$/,
  },
  {
    what: 'a subscription remembers a bill that there is not',
    table: 'usage_histories',
    commit: `update usage_histories set
        terms = array_prepend(jsonb_set(terms[1]::jsonb, '{termId}', '7')::json, terms)
      where ${mine} and subscription_id = 6`,
    laws: ['L13'],
    names: /^subscription 6 term 7$/,
  },
  {
    what: 'a subscription remembers other use than was billed',
    table: 'usage_histories',
    commit: `update usage_histories set
        terms[1] = jsonb_set(terms[1]::jsonb, '{usage,energy,quantity}', '"9"')::json
      where ${mine} and subscription_id = 7`,
    laws: ['L13'],
    names: /^subscription 7 term 1$/,
  },
  {
    what: 'another balance is brought forward than was billed',
    table: 'usage_histories',
    commit: `update usage_histories set brought_forward = brought_forward + 1
      where ${mine} and subscription_id = 8`,
    laws: ['L13'],
    names: /^subscription 8 brought forward$/,
  },
  {
    what: 'what was billed of a subscription is forgotten altogether',
    table: 'usage_histories',
    commit: `delete from usage_histories where ${mine} and subscription_id = 9`,
    laws: ['L13'],
    names: /^subscription 9 brought forward$/,
  },
  {
    what: 'the totals of a run are changed',
    table: 'bill_runs',
    commit: `update bill_runs set totals = jsonb_set(totals, '{arrears}', '"5"') where ${mine}`,
    laws: ['L14'],
    names: /^term 1 run 1$/,
  },
  {
    what: 'a run has other totals of a component',
    table: 'bill_runs',
    commit: `update bill_runs
      set totals = jsonb_set(totals, '{components,energyCharge,amount}', '"5"') where ${mine}`,
    laws: ['L14'],
    names: /^term 1 energyCharge$/,
  },
  {
    what: 'income is on another component than it was billed for',
    table: 'journal_lines',
    commit: `update journal_lines set component = 'gift'
      where ${mine} and component = 'energyCharge'`,
    laws: ['L14'],
    names: /^term 1 energyCharge\nterm 1 gift$/,
  },
  {
    what: 'a journal is posted on another day',
    table: 'journals',
    commit: `update journals set posting_date = posting_date + 1 where ${mine}
      and journal_id = (select max(journal_id) from journals where ${mine})`,
    laws: ['L16'],
    names: /^ledger account \d+ on /,
  },
  {
    what: 'a posted bill charges other than was booked',
    table: 'bills',
    commit: `update bills set charges = '{"Charge energyCharge": 1}' where ${ofBill(10)}`,
    laws: ['L4', 'L14'],
    names: /^term 1 energyCharge$/,
  },
  {
    what: 'two posted bills charge other than they say, and the same together',
    table: 'bills',
    commit: `update bills set charges = jsonb_set(charges::jsonb, '{Charge energyCharge}',
        to_jsonb((charges ->> 'Charge energyCharge')::bigint
          + case bill_id when 9 then 1 else -1 end))::json
      where ${mine} and bill_id in (9, 10)`,
    laws: ['L4'],
    names: /^bill 9\nbill 10$/,
  },
  {
    what: 'a posted bill has booked other use than it says',
    table: 'bills',
    commit: `update bills set usage = jsonb_set(usage::jsonb, '{energy,quantity}', '"9"')::json
      where ${ofBill(7)}`,
    laws: ['L4', 'L13'],
    names: /^bill 7$/,
  },
  ...['context_id = 7', 'batch_id = 7', `bill_type = 'Final'`].map(
    (change): Crime => ({
      what: `a bill is not as its term: ${change}`,
      table: 'bills',
      commit: `update bills set ${change} where ${ofBill(5)}`,
      laws: ['L15'],
      names: /^bill 5 is not as its term 1$/,
    }),
  ),
  ...[
    `paid_amount = 100, payment_status = 'PartiallyPaid'`,
    'paid_amount = bill_amount',
    `payment_status = 'Paid'`,
    `payment_status = 'PartiallyPaid'`,
    `payment_status = 'Overdue', due_date = '9999-12-31'`,
    `payment_status = 'WrittenOff'`,
  ].map(
    (change): Crime => ({
      what: `a bill is paid that nobody paid, or late before it is: ${change}`,
      table: 'bills',
      commit: `update bills set ${change} where ${ofBill(6)}`,
      laws: ['L15'],
      names: /^bill 6 is (Paid|Unpaid|PartiallyPaid|Overdue|WrittenOff) with \d+$/,
    }),
  ),
  {
    what: 'a bill is issued on another day than its document',
    table: 'bills',
    commit: `update bills set issue_date = issue_date + 1 where ${ofBill(7)}`,
    laws: ['L15'],
    names: /^bill 7 is issued on \d{4}-\d\d-\d\d$/,
  },
  {
    what: 'a published bill has no document',
    table: 'bill_documents',
    commit: `delete from bill_documents where ${ofBill(7)}`,
    laws: ['L15'],
    names: /^bill 7 is issued on /,
  },
  {
    what: 'a bill knew of entries that came after it',
    table: 'bills',
    commit: `update bills set entry_id = 900000 where ${ofBill(8)}`,
    laws: ['L13', 'L15'],
    names: /^bill 8 knew of entry 900000$/,
  },
  {
    what: 'a bill is due on another day than its term',
    table: 'bills',
    commit: `update bills set due_date = due_date + 1 where ${ofBill(9)}`,
    laws: ['L15'],
    names: /^bill 9 is due on \d{4}-\d\d-\d\d$/,
  },
  ...[
    `status = 'Posted', stage = 'Posted'`,
    `status = 'Open', stage = 'Posting'`,
    `status = 'Cancelled', stage = 'Cancelled'`,
    `stage = 'Generated'`,
    'issue_date = issue_date - 1',
  ].map(
    (change): Crime => ({
      what: `a term is not as far as its bills: ${change}`,
      table: 'terms',
      commit: `update terms set ${change} where ${mine}`,
      laws: ['L15'],
      names: /^term 1 is \w+ and \w+$/,
    }),
  ),
];

testCrimes(scene, tenantId, crimes);

test('every law that verify asks about was broken above', async () => {
  const asked = (await judgementsOf(scene, tenantId)).map(({ law }) => law);
  assert.deepEqual(asked, [...new Set(crimes.flatMap(({ laws }) => laws))].sort(byNumber));
});

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}

test('the command prints what is broken and ends with 1, and with 0 when all holds', async () => {
  const env = environmentOf(scene.cluster, scene.databaseName);
  const good = await finish(place.run(['verify', '--workspace', 'verified'], env));
  assert.equal(good.code, 0, good.output);
  assert.match(good.output, /^ {2}L6 .* 12 checked {2}holds$/m);
  await tamper(scene, `update bills set bill_amount = bill_amount - 100 where ${ofBill(10)}`);
  const bad = await finish(place.run(['verify'], env));
  assert.equal(bad.code, 1);
  assert.match(bad.output, /^ {2}L4 .*BROKEN 1 time: bill 10$/m);
  assert.match(bad.output, /^Something does not hold\.$/m);
  await tamper(scene, `update bills set bill_amount = bill_amount + 100 where ${ofBill(10)}`);
});
