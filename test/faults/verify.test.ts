// Tampering with triggers and constraints disabled is named by `billwright verify`: each check by a
// change that breaks it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultsOf } from '../support/checks.ts';
import { environmentOf } from '../support/cluster.ts';
import { ask, clientOf, makeFullTerm, stepNames } from '../support/full-term.ts';
import { finish, openPlace, until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { columnsOf, seal, type Tampering, tamper, testTamperings } from '../support/tampering.ts';
import { waitingLine } from '../support/waiting-line.ts';

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
await seal(scene);

const mine = `tenant_id = ${tenantId}`;
const ofBill = (bill: number) => `${mine} and bill_id = ${bill}`;

const billColumns = await columnsOf(scene, 'bills');

/** Any request that left one entry in the trail. */
const { rows: trail } = await scene.sql.query(
  `select request_id from audit_entries where ${mine} group by 1 having count(*) = 1
   order by 1 limit 1`,
);
const auditId: string = trail[0].request_id;
const ofAudit = `${mine} and request_id = '${auditId}'`;
const copiedAudit = (requestId: string, position: string) => `
  insert into audit_entries select tenant_id, ${requestId}, ${position}, at, actor, actor_kind,
    address, operation, subject, subject_id, before, after
  from audit_entries a where ${ofAudit}`;
const { rows: blocks } = await scene.sql.query(
  `select max(block) as last from seals where ${mine}`,
);
const lastBlock = Number(blocks[0].last);

/** Of a change to a journal, by its column. */
const lawsOf: Record<string, string[]> = {
  term_id: ['L14', 'L17'],
  posting_date: ['L16', 'L17'],
};

const tamperings: readonly Tampering[] = [
  waitingLine(tenantId),
  {
    what: 'a line of a journal is changed',
    table: 'journal_lines',
    statements: `update journal_lines set amount = amount + 1 where ${mine} and line_number = 1
      and journal_id = (select max(journal_id) from journals where ${mine})`,
    checks: ['L1', 'L16', 'L17'],
    names: /journal \d+/,
  },
  {
    what: 'an entry is deleted',
    table: 'subledger_entries',
    statements: `delete from subledger_entries where ${ofBill(3)}`,
    checks: ['L1', 'L5', 'L6', 'L17'],
    names: /journal \d+ account 2/,
  },
  {
    what: 'a bill is booked a second time',
    table: 'subledger_entries',
    statements: `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id,
        party_id, subscription_id, kind, bill_id, posting, amount, posting_date, created_at,
        created_by)
      select tenant_id, 900000, journal_id, 2, party_id, subscription_id, 'Bill', bill_id,
        posting + 1, amount, posting_date, now(), 'intruder'
      from subledger_entries where ${ofBill(3)} and kind = 'Bill'`,
    checks: ['L1', 'L3', 'L5', 'L6', 'L17'],
    names: /journal/,
  },
  {
    what: 'a posted bill is billed for other days than its subscription says',
    table: 'subscriptions',
    statements: `update subscriptions set billed_through = billed_through - 3
      where ${mine} and subscription_id = 4`,
    checks: ['L2'],
    names: /^subscription 4$/,
  },
  {
    what: 'a second live bill of the same subscription',
    table: 'bills',
    statements: `drop index bills_unit_key;
      create table copied as select * from bills where ${ofBill(5)};
      update copied set bill_id = 905, status = 'Draft', bill_number = null;
      insert into bills (${billColumns}) select ${billColumns} from copied;
      drop table copied`,
    checks: ['L2', 'L4', 'L14', 'L15'],
    names: /^term 1 unit 5$/,
  },
  {
    what: 'a subscription is on two live bills of a term',
    table: 'bill_parts',
    statements: `insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days,
        billed_to, previously_billed_to, unit_ts)
      select tenant_id, 5, subscription_id, 0, 0, 0, billed_to, billed_to, unit_ts
      from bills where ${ofBill(4)}`,
    checks: ['L2'],
    names: /^term 1 subscription 4$/,
  },
  {
    what: 'a posted bill bills a day that was billed before',
    table: 'bills',
    statements: `update bills set billed_from = previously_billed_to where ${ofBill(5)}`,
    checks: ['L2', 'L4'],
    names: /^bill 5 of subscription 5$/,
  },
  {
    what: 'a subscription with posted bills is gone',
    table: 'subscriptions',
    statements: `delete from subscriptions where ${mine} and subscription_id = 4`,
    checks: ['L2', 'L19'],
    names: /^subscription 4$/,
  },
  {
    what: 'a counter is behind what was numbered by it',
    table: 'counters',
    statements: `update counters set last_number = 3 where ${mine} and series = 'entry'`,
    checks: ['L3'],
    names: /^entry \d+ is beyond 3$/,
  },
  {
    what: 'a bill number is taken away',
    table: 'bills',
    statements: `alter table bills drop constraint bills_number_when_posted;
      update bills set bill_number = null where ${ofBill(6)}`,
    checks: ['L3', 'L6', 'L14'],
    names: /^number \S+ of bill 6$/,
  },
  {
    what: 'a series has numbers that are on no bill',
    table: 'number_series',
    statements: `update number_series set last_number = last_number + 2 where ${mine}`,
    checks: ['L3'],
    names: /^series \S+: taken 14, given 12, retired 0, waiting 0, twice 0$/,
  },
  {
    what: 'a series is gone',
    table: 'number_series',
    statements: `delete from number_series where ${mine}`,
    checks: ['L3'],
    names: /^series of no name: taken 0, given 12/,
  },
  {
    what: 'a number is in another place of its series',
    table: 'bill_numbers',
    statements: `update bill_numbers set series_number = 1 where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^series \S+: taken 12, given 12, retired 0, waiting 0, twice 1$/,
  },
  {
    what: 'numbers of credit notes were taken and are on no credit note',
    table: 'counters',
    statements: `insert into counters (tenant_id, series, last_number)
      values (${tenantId}, 'credit-note', 2)`,
    checks: ['L3'],
    names: /^taken 2, on credit notes 0 up to 0$/,
  },
  {
    what: 'a retired number is on a bill',
    table: 'bill_numbers',
    statements: `update bill_numbers
      set retired_reason = 'x', retired_at = now(), retired_by = 'intruder' where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'the number of a bill was never given',
    table: 'bill_numbers',
    statements: `delete from bill_numbers where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'a number was given in another term than that of its bill',
    table: 'bill_numbers',
    statements: `update bill_numbers set term_id = 7 where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^number \S+ of bill 7$/,
  },
  {
    what: 'a number was given to a bill that has another',
    table: 'bill_numbers',
    statements: `insert into bill_numbers (tenant_id, bill_number, bill_id, term_id)
      select tenant_id, bill_number || '9', bill_id, term_id from bills where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^number \S+9 of bill 7$/,
  },
  {
    what: 'a bill gets another number that no bill has',
    table: 'bills',
    statements: `update bills set bill_number = bill_number || '9' where ${ofBill(7)}`,
    checks: ['L3'],
    names: /^bill 7 was booked as \S+$/,
  },
  {
    what: 'two bills have changed their numbers',
    table: 'bills',
    statements: `update bills b set bill_number = o.bill_number from bills o
      where b.${mine} and o.${mine} and b.bill_id + o.bill_id = 15 and b.bill_id in (7, 8)`,
    checks: ['L3'],
    names: /^bill 7 was booked as \S+\nbill 8 was booked as \S+$/,
  },
  {
    what: 'the ledger names another number than the bill has',
    table: 'subledger_entries',
    statements: `update subledger_entries set reference = reference || '9' where ${ofBill(8)}`,
    checks: ['L3', 'L17'],
    names: /^bill 8 was booked as \S+9$/,
  },
  {
    what: 'the words of a posted bill are changed',
    table: 'bill_contents',
    statements: `update bill_contents
      set document = replace(document::text, 'Customer 8', 'Customer 9')::json
      where ${ofBill(8)}`,
    checks: ['L4'],
    names: /^bill 8$/,
  },
  {
    what: 'the inputs of a posted bill are changed',
    table: 'bill_contents',
    statements: `update bill_contents set frozen = replace(frozen::text, '48210', '48200')::json
      where ${ofBill(9)}`,
    checks: ['L4'],
    names: /^bill 9$/,
  },
  {
    what: 'what a bill says is gone',
    table: 'bill_contents',
    statements: `delete from bill_contents where ${ofBill(9)}`,
    checks: ['L4'],
    names: /^bill 9 has no contents$/,
  },
  {
    what: 'there is more said than there are bills',
    table: 'bill_contents',
    statements: `insert into bill_contents (tenant_id, bill_id, document, frozen)
      select tenant_id, 909, document, frozen from bill_contents where ${ofBill(9)}`,
    checks: ['L4'],
    names: /^contents 909 have no bill$/,
  },
  {
    what: 'the amount of a posted bill is changed',
    table: 'bills',
    statements: `alter table bills drop constraint bills_amount;
      update bills set bill_amount = bill_amount - 100 where ${ofBill(10)}`,
    checks: ['L4', 'L5', 'L6', 'L13', 'L19'],
    names: /^bill 10$/,
  },
  {
    what: 'a bill is booked on another subscription',
    table: 'subledger_entries',
    statements: `update subledger_entries set subscription_id = 4 where ${ofBill(3)}`,
    checks: ['L5', 'L6', 'L17'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill is booked by two entries',
    table: 'subledger_entries',
    statements: `drop index subledger_entries_bill_key;
      insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
        subscription_id, kind, bill_id, posting, amount, posting_date, reference, created_at,
        created_by)
      select tenant_id, 900000, journal_id, ledger_account_id, party_id, subscription_id, kind,
        bill_id, posting, 100, posting_date, reference, created_at, created_by
      from subledger_entries where ${ofBill(3)} and kind = 'Bill';
      update subledger_entries set amount = amount - 100
      where ${ofBill(3)} and kind = 'Bill' and entry_id < 900000`,
    checks: ['L3', 'L6', 'L17'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'bills are booked as owed to the workspace that owes them',
    table: 'pricing_contexts',
    statements: `update pricing_contexts set context_type = 'Purchase' where ${mine}`,
    checks: ['L5', 'L6', 'L19'],
    names: /^bill 1 posting 1$/,
  },
  {
    what: 'a bill is booked as owed by the workspace that is owed it',
    table: 'subledger_entries',
    statements: `update subledger_entries set ledger_account_id = 1000001, amount = -amount
      where ${ofBill(3)} and kind = 'Bill'`,
    checks: ['L1', 'L5', 'L6', 'L17'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill that was booked is cancelled as if it had never been posted',
    table: 'bills',
    statements: `update bills set status = 'Cancelled', bill_number = null where ${ofBill(3)}`,
    checks: ['L3', 'L5', 'L6', 'L14', 'L19'],
    names: /^bill 3 posting 1$/,
  },
  {
    what: 'a bill is cancelled and nothing credited',
    table: 'bills',
    statements: `update bills set status = 'Cancelled' where ${ofBill(3)}`,
    checks: ['L5', 'L15', 'L19'],
    names: /^bill 3 is cancelled and not credited$/,
  },
  {
    what: 'a bill says that a wallet paid what none did',
    table: 'bills',
    statements: `update bills set wallet_applied = 500, payable = payable - 500 where ${ofBill(4)}`,
    checks: ['L6'],
    names: /^bill 4 from a wallet$/,
  },
  {
    what: 'a balance is changed',
    table: 'subscription_balances',
    statements: `update subscription_balances set receivable = 0 where ${mine}
      and subscription_id = 11`,
    checks: ['L5'],
    names: /^subscription 11 of party 11$/,
  },
  {
    what: 'a wallet is filled from nothing',
    table: 'party_wallets',
    statements: `insert into party_wallets values (1, 2, 5000)`,
    checks: ['L5'],
    names: /^wallet of party 2$/,
  },
  {
    what: 'a bill was sent twice without a request',
    table: 'deliveries',
    statements: `alter table deliveries drop constraint deliveries_once;
      insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
        status, message_id, created_at, created_by, modified_at)
      select tenant_id, 900, bill_id, term_id, job_id, channel, recipient, status, message_id,
        created_at, created_by, modified_at
      from deliveries where ${ofBill(12)}`,
    checks: ['L8', 'L17'],
    names: /^bill 12 by Email$/,
  },
  {
    what: 'a bill was sent twice on one request',
    table: 'deliveries',
    besides: ['jobs'],
    statements: `alter table deliveries drop constraint if exists deliveries_once;
      update jobs set parameters = parameters || '{"resend": true}'
      where ${mine} and operation = 'distribute-bills';
      insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
        status, message_id, created_at, created_by, modified_at)
      select tenant_id, 900, bill_id, term_id, job_id, channel, recipient, status, message_id,
        created_at, created_by, modified_at
      from deliveries where ${ofBill(12)}`,
    checks: ['L8', 'L17'],
    names: /^bill 12 by Email$/,
  },
  {
    what: 'a bill went out that is not published',
    table: 'bills',
    statements: `update bills set status = 'Posted' where ${ofBill(12)}`,
    checks: ['L8', 'L15'],
    names: /^bill 12 is Posted$/,
  },
  {
    what: 'a job runs without a worker',
    table: 'jobs',
    statements: `update jobs set status = 'Running', finished_at = null,
        started_at = now() - interval '3 minutes'
      where ${mine} and operation = 'publish-bills'`,
    checks: ['L11'],
    names: /^job \d+$/,
  },
  {
    what: 'a subscription has forgotten its newest bill',
    table: 'usage_histories',
    statements: `update usage_histories set terms = terms[2:] where ${mine} and subscription_id = 6`,
    checks: ['L13'],
    names: /^subscription 6 term 1$/,
  },
  {
    what: 'a subscription remembers a bill that there is not',
    table: 'usage_histories',
    statements: `update usage_histories set
        terms = array_prepend(jsonb_set(terms[1]::jsonb, '{termId}', '7')::json, terms)
      where ${mine} and subscription_id = 6`,
    checks: ['L13'],
    names: /^subscription 6 term 7$/,
  },
  {
    what: 'a subscription remembers other use than was billed',
    table: 'usage_histories',
    statements: `update usage_histories set
        terms[1] = jsonb_set(terms[1]::jsonb, '{usage,energy,quantity}', '"9"')::json
      where ${mine} and subscription_id = 7`,
    checks: ['L13'],
    names: /^subscription 7 term 1$/,
  },
  {
    what: 'another balance is brought forward than was billed',
    table: 'usage_histories',
    statements: `update usage_histories set brought_forward = brought_forward + 1
      where ${mine} and subscription_id = 8`,
    checks: ['L13'],
    names: /^subscription 8 brought forward$/,
  },
  {
    what: 'what was billed of a subscription is forgotten altogether',
    table: 'usage_histories',
    statements: `delete from usage_histories where ${mine} and subscription_id = 9`,
    checks: ['L13'],
    names: /^subscription 9 brought forward$/,
  },
  {
    what: 'the totals of a run are changed',
    table: 'bill_runs',
    statements: `update bill_runs set totals = jsonb_set(totals, '{arrears}', '"5"') where ${mine}`,
    checks: ['L14'],
    names: /^term 1 run 1$/,
  },
  {
    what: 'a run has other totals of a component',
    table: 'bill_runs',
    statements: `update bill_runs
      set totals = jsonb_set(totals, '{components,energyCharge,amount}', '"5"') where ${mine}`,
    checks: ['L14'],
    names: /^term 1 energyCharge$/,
  },
  {
    what: 'income is on another component than it was billed for',
    table: 'journal_lines',
    statements: `update journal_lines set component = 'gift'
      where ${mine} and component = 'energyCharge'`,
    checks: ['L14', 'L17'],
    names: /^term 1 energyCharge\nterm 1 gift$/,
  },
  {
    what: 'a journal is posted on another day',
    table: 'journals',
    statements: `update journals set posting_date = posting_date + 1 where ${mine}
      and journal_id = (select max(journal_id) from journals where ${mine})`,
    checks: ['L16', 'L17'],
    names: /^ledger account \d+ on /,
  },
  {
    what: 'a posted bill charges other than was booked',
    table: 'bills',
    statements: `update bills set charges = '{"Charge energyCharge": 1}' where ${ofBill(10)}`,
    checks: ['L4', 'L14'],
    names: /^term 1 energyCharge$/,
  },
  {
    what: 'two posted bills charge other than they say, and the same together',
    table: 'bills',
    statements: `update bills set charges = jsonb_set(charges::jsonb, '{Charge energyCharge}',
        to_jsonb((charges ->> 'Charge energyCharge')::bigint
          + case bill_id when 9 then 1 else -1 end))::json
      where ${mine} and bill_id in (9, 10)`,
    checks: ['L4'],
    names: /^bill 9\nbill 10$/,
  },
  {
    what: 'a posted bill has booked other use than it says',
    table: 'bills',
    statements: `update bills set usage = jsonb_set(usage::jsonb, '{energy,quantity}', '"9"')::json
      where ${ofBill(7)}`,
    checks: ['L4', 'L13'],
    names: /^bill 7$/,
  },
  ...['context_id = 7', 'batch_id = 7', `bill_type = 'Final'`].map(
    (change): Tampering => ({
      what: `a bill is not as its term: ${change}`,
      table: 'bills',
      statements: `update bills set ${change} where ${ofBill(5)}`,
      checks: change === 'context_id = 7' ? ['L5', 'L15', 'L19'] : ['L15'],
      names: /^bill 5 is not as its term 1$/,
    }),
  ),
  ...[
    'paid_amount = 100',
    'paid_amount = bill_amount',
    'credited = 100',
    'written_off = bill_amount',
    'transferred = 100',
    'disputed = 100',
    `overdue_on = '2026-01-01', due_date = '9999-12-31'`,
  ].map(
    (change): Tampering => ({
      what: `a bill is settled without an entry, or overdue before its due date: ${change}`,
      table: 'bills',
      statements: `update bills set ${change} where ${ofBill(6)}`,
      checks: change.startsWith('overdue_on') ? ['L15', 'L19'] : ['L5', 'L15', 'L19'],
      names: /^bill 6 is (Paid|Unpaid|PartiallyPaid|Overdue|WrittenOff) with \d+$/,
    }),
  ),
  {
    what: 'a bill is issued on another day than its document',
    table: 'bills',
    statements: `update bills set issue_date = issue_date + 1 where ${ofBill(7)}`,
    checks: ['L15'],
    names: /^bill 7 is issued on \d{4}-\d\d-\d\d$/,
  },
  {
    what: 'a published bill has no document',
    table: 'bill_documents',
    statements: `delete from bill_documents where ${ofBill(7)}`,
    checks: ['L15', 'L17'],
    names: /^bill 7 is issued on /,
  },
  {
    what: 'a bill saw other payments than the history says',
    table: 'bills',
    statements: `update bills set received = 900000 where ${ofBill(8)}`,
    checks: ['L13'],
    names: /^subscription \d+ brought forward$/,
  },
  {
    what: 'a bill is due on another day than its term',
    table: 'bills',
    statements: `update bills set due_date = due_date + 1 where ${ofBill(9)}`,
    checks: ['L15', 'L19'],
    names: /^bill 9 is due on \d{4}-\d\d-\d\d$/,
  },
  ...[
    `status = 'Posted', stage = 'Posted'`,
    `status = 'Open', stage = 'Posting'`,
    `status = 'Cancelled', stage = 'Cancelled'`,
    `stage = 'Generated'`,
    'issue_date = issue_date - 1',
  ].map(
    (change): Tampering => ({
      what: `a term is not as far as its bills: ${change}`,
      table: 'terms',
      statements: `update terms set ${change} where ${mine}`,
      checks: ['L15'],
      names: /^term 1 is \w+ and \w+$/,
    }),
  ),
  ...[
    ['deleted', `delete from audit_entries where ${ofAudit}`],
    ['changed', `update audit_entries set actor = 'intruder' where ${ofAudit}`],
    ['dated back', `update audit_entries set at = at - interval '1 day' where ${ofAudit}`],
    ['given other values', `update audit_entries set after = '{"x": 1}' where ${ofAudit}`],
    ['doubled', copiedAudit('a.request_id', 'position + 100')],
  ].map(
    ([how, statements]): Tampering => ({
      what: `an audit entry is ${how}`,
      table: 'audit_entries',
      statements: statements ?? '',
      checks: ['L17'],
      names: new RegExp(
        `^audit ${auditId} (was deleted|was changed|has 1 row more than were sealed)$`,
      ),
    }),
  ),
  {
    what: 'an audit entry is inserted later',
    table: 'audit_entries',
    statements: copiedAudit(`'00INTRUDER'`, 'position'),
    checks: ['L17'],
    names: /^audit 00INTRUDER was inserted unsealed$/,
  },
  {
    what: 'the newest audit entries are deleted together with their seal',
    table: 'seals',
    besides: ['audit_entries'],
    statements: `delete from audit_entries where ${mine} and 'audit ' || request_id in (
        select split_part(i, ' ', 1) || ' ' || split_part(i, ' ', 2)
        from seals, unnest(items) i where ${mine} and block = ${lastBlock});
      delete from seals where ${mine} and block = ${lastBlock}`,
    checks: ['L17'],
    names: new RegExp(`^seal ${lastBlock} is gone$`),
  },
  {
    what: 'a seal is deleted',
    table: 'seals',
    statements: `delete from seals where ${mine} and block = 1`,
    checks: ['L17'],
    names: /^seal 1 is gone$/,
  },
  {
    what: 'an audit entry is changed and its seal made to fit',
    table: 'seals',
    besides: ['audit_entries'],
    statements: `update audit_entries set actor = 'intruder' where ${ofAudit};
      update seals set items = array(
          select case when i like 'audit ${auditId} %'
            then 'audit ${auditId} 1 ' || repeat('0', 64) else i end
          from unnest(items) i)
      where ${mine}`,
    checks: ['L17'],
    names: /^seal \d+ was changed$/,
  },
  {
    what: 'the blocks of seals are renumbered',
    table: 'counters',
    statements: `update counters set last_number = last_number + 1
      where ${mine} and series = 'seal'`,
    checks: ['L17'],
    names: /^seal \d+ is gone$/,
  },
  {
    what: 'tax is moved to income',
    table: 'journal_lines',
    statements: `update journal_lines set ledger_account_id = 6
      where ${mine} and ledger_account_id = 5`,
    checks: ['L16', 'L17'],
    names: /^journal \d+ was changed$/,
  },
  ...['posting_date = posting_date - 30', `description = 'Gift'`, 'term_id = null'].map(
    (change): Tampering => ({
      what: `a journal is changed: ${change}`,
      table: 'journals',
      statements: `update journals set ${change} where ${mine} and source_type = 'Bills'`,
      checks: lawsOf[change.split(' ')[0] ?? ''] ?? ['L17'],
      names: /^journal \d+ was changed$/,
    }),
  ),
  ...[
    'posting_date = posting_date + 30',
    `due_date = '2027-12-31'`,
    `description = 'Gift'`,
    `created_by = 'intruder'`,
  ].map(
    (change): Tampering => ({
      what: `an entry is changed: ${change}`,
      table: 'subledger_entries',
      statements: `update subledger_entries set ${change} where ${ofBill(3)}`,
      checks: ['L17'],
      names: /^journal \d+ was changed$/,
    }),
  ),
  {
    what: 'an opening balance is lowered with its journal and its balance',
    table: 'subledger_entries',
    besides: ['journal_lines', 'subscription_balances'],
    statements: `update subledger_entries set amount = amount - 100
      where ${mine} and kind = 'Opening' and subscription_id = 4;
      update journal_lines set amount = amount - sign(amount) * 100
      where ${mine} and journal_id = (
        select journal_id from subledger_entries
        where ${mine} and kind = 'Opening' and subscription_id = 4);
      update subscription_balances set receivable = receivable - 100
      where ${mine} and subscription_id = 4`,
    checks: ['L5', 'L15', 'L16', 'L17'],
    names: /^journal \d+ was changed$/,
  },
  {
    what: 'a journal is deleted with all that belongs to it',
    table: 'journals',
    besides: ['journal_lines', 'subledger_entries', 'subscription_balances'],
    statements: `delete from journals where ${mine} and source_type = 'Opening';
      delete from journal_lines where ${mine} and journal_id not in (
        select journal_id from journals where ${mine});
      update subscription_balances b set receivable = receivable - e.amount
      from subledger_entries e
      where b.${mine} and e.${mine} and e.kind = 'Opening'
        and e.subscription_id = b.subscription_id;
      delete from subledger_entries where ${mine} and kind = 'Opening'`,
    checks: ['L5', 'L15', 'L16', 'L17'],
    names: /^journal \d+ was deleted$/,
  },
  {
    what: 'the closing reading of a bill is changed',
    table: 'readings',
    statements: `update readings set value = value + 1 where ${mine} and reading_id = (
      select reading_id from term_readings where ${mine} and subscription_id = 5)`,
    checks: ['L18'],
    names: /^reading \d+ of term 1$/,
  },
  {
    what: 'a billed reading is rejected',
    table: 'readings',
    statements: `update readings set status = 'Rejected' where ${mine} and reading_id = (
      select reading_id from term_readings where ${mine} and subscription_id = 5)`,
    checks: ['L18'],
    names: /^reading \d+ of term 1$/,
  },
  {
    what: 'the reading that a term has taken is changed',
    table: 'term_readings',
    statements: `update term_readings set value = value - 1 where ${mine} and subscription_id = 5`,
    checks: ['L4', 'L18'],
    names: /^bill 5 has other readings$/,
  },
  {
    what: 'a reading is changed together with what a term has taken of it',
    table: 'term_readings',
    besides: ['readings'],
    statements: `update term_readings set value = value - 1 where ${mine} and subscription_id = 5;
      update readings r set value = t.value from term_readings t
      where r.${mine} and t.${mine} and t.subscription_id = 5 and t.reading_id = r.reading_id`,
    checks: ['L4'],
    names: /^bill 5 has other readings$/,
  },
  {
    what: 'what a term has taken is deleted',
    table: 'term_readings',
    statements: `delete from term_readings where ${mine} and subscription_id = 5`,
    checks: ['L4'],
    names: /^bill 5 has other readings$/,
  },
  ...['start_date = start_date + 1', 'end_date = end_date - 1'].map(
    (change): Tampering => ({
      what: `the dates of a posted term are changed: ${change}`,
      table: 'terms',
      statements: `update terms set ${change} where ${mine}`,
      checks: ['L4'],
      names: /^term 1 has other dates$/,
    }),
  ),
  ...[
    [`recipient = 'intruder@example.com'`, 'was changed'],
    [`sent_at = sent_at - interval '1 day'`, 'was changed'],
    [`message_id = 'x'`, 'was changed'],
    [`status = 'Failed', reason = 'no such address'`, 'was changed'],
  ].map(
    ([change, how]): Tampering => ({
      what: `a delivery is changed: ${change}`,
      table: 'deliveries',
      statements: `update deliveries set ${change} where ${ofBill(12)}`,
      checks: ['L17'],
      names: new RegExp(`^delivery \\d+ ${how}$`),
    }),
  ),
  {
    what: 'a delivery is deleted',
    table: 'deliveries',
    statements: `delete from deliveries where ${ofBill(12)}`,
    checks: ['L17'],
    names: /^delivery \d+ was deleted$/,
  },
  ...[`template_id = 2`, 'size = size + 1'].map(
    (change): Tampering => ({
      what: `a document is changed: ${change}`,
      table: 'bill_documents',
      statements: `update bill_documents set ${change} where ${ofBill(7)}`,
      checks: ['L17'],
      names: /^document \d+ was changed$/,
    }),
  ),
  ...['own = set_byte(own, 99, 0)', 'part_offsets[1] = 0', "part_hashes[1] = ''"].map(
    (change): Tampering => ({
      what: `the file of a document is changed: ${change}`,
      table: 'document_contents',
      statements: `update document_contents set ${change} where document_id = (
        select document_id from bill_documents where ${ofBill(7)})`,
      checks: ['L15'],
      names: /^the file of document \d+ is not the one that was published$/,
    }),
  ),
  {
    what: 'a part that documents share is deleted',
    table: 'document_parts',
    statements: `delete from document_parts where sha256 = (select min(sha256) from document_parts)`,
    checks: ['L15'],
    names: /^the file of document \d+ is not the one that was published$/,
  },
  {
    what: 'the party of a published bill is changed',
    table: 'bills',
    statements: `update bills set party_id = 2 where ${ofBill(3)}`,
    checks: ['L4', 'L5', 'L6', 'L19'],
    names: /^bill 3$/,
  },
];

testTamperings(scene, tenantId, tamperings);

test('every check of verify was broken above', async () => {
  const asked = (await resultsOf(scene, tenantId)).map(({ check }) => check);
  assert.deepEqual(asked, [...new Set(tamperings.flatMap(({ checks }) => checks))].sort(byNumber));
});

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}

test('verify names failed checks and ends with 1, and ends with 0 when all pass', async () => {
  const env = environmentOf(scene.cluster, scene.databaseName);
  const good = await finish(place.run(['verify', '--workspace', 'verified'], env));
  assert.equal(good.code, 0, good.output);
  assert.match(good.output, /^ {2}L6 .* 12 checked {2}passed$/m);
  await tamper(scene, `update bills set bill_amount = bill_amount - 100 where ${ofBill(10)}`);
  const bad = await finish(place.run(['verify'], env));
  assert.equal(bad.code, 1);
  assert.match(bad.output, /^ {2}L4 .*FAILED, 1 case: bill 10$/m);
  assert.match(bad.output, /^At least one check failed\.$/m);
  await tamper(scene, `update bills set bill_amount = bill_amount + 100 where ${ofBill(10)}`);
});
