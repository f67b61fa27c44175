-- Bills: runs, bills and their contents, numbers, credit notes, and what was billed before.

create table bill_runs (
  tenant_id bigint not null,
  term_id bigint not null,
  run_number integer not null check (run_number > 0),
  job_id bigint not null,
  bill_id bigint,
  book_version bigint not null,
  versions jsonb not null,
  first_bill_id bigint,
  part_size integer not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  totals jsonb,
  reserved jsonb,
  generated_by text not null,
  primary key (tenant_id, term_id, run_number),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
comment on table bill_runs is
  'A run: one numbered generation of the bills of a term. A bill that a run leaves the same is '
  'not written again: it belongs to every run from its first one on.';
comment on column bill_runs.bill_id is
  'Null for the whole term, or the one bill that was generated again.';
comment on column bill_runs.book_version is
  'That of the pricing context when the run rated its bills.';
comment on column bill_runs.versions is
  '{context, plans: {planId: version}}: the newest versions at that time. A bill can be rated '
  'again with them, whatever was saved since.';
comment on column bill_runs.first_bill_id is
  'The first id reserved for new bills. Null if there were no new billed units.';
comment on column bill_runs.part_size is
  'How many billed units go into one chunk: the bills of the n-th chunk take their ids from the '
  'n-th part of the reserved ids.';
comment on column bill_runs.totals is
  '{subscriptions, bills, errors, holds, currentCharges, ...} when it is finished.';
comment on column bill_runs.reserved is
  'What was reserved when posting began, so that posting after a failure gives every bill the '
  'same number: {firstNumber, firstEntry, firstJournal, bills, skipped, postingDate, ranges: '
  '[[first, last]]}.';
call wall_off('bill_runs');
grant select, insert, update on bill_runs to billwright_api, billwright_worker;

create table bills (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  term_id bigint not null,
  first_run integer not null,
  context_id bigint not null,
  batch_id bigint not null,
  unit_id bigint not null,
  subscription_id bigint,
  account_id bigint,
  party_id bigint not null,
  plan_id bigint,
  bill_type text not null check (bill_type in ('Regular', 'OffCycle', 'Final')),
  status text not null
    check (status in ('Draft', 'Error', 'Hold', 'Posted', 'Published', 'Cancelled')),
  is_held boolean not null default false,
  hold_reason text,
  bill_number text,
  posting smallint not null default 0,
  issue_date date,
  due_date date not null,
  billed_from date,
  billed_to date,
  days integer not null,
  current_charges bigint not null,
  tax_amount bigint not null,
  rounding_adjustment bigint not null,
  bill_amount bigint not null,
  previous_balance bigint not null,
  payments_received bigint not null,
  adjustments bigint not null,
  arrears bigint not null,
  wallet_applied bigint not null default 0,
  payable bigint not null,
  credit_balance bigint not null,
  late_surcharge bigint not null,
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  transferred bigint not null default 0,
  disputed bigint not null default 0,
  overdue_on date,
  previously_billed_to date,
  received bigint not null default 0,
  unit_ts bigint not null,
  hash bytea not null,
  usage json,
  charges json not null default '{}',
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  review_status text
    generated always as (case when status in ('Error', 'Hold') then status end) stored,
  cancelled_id bigint
    generated always as (case when status = 'Cancelled' then bill_id end) stored,
  is_settled boolean not null generated always as (
    bill_amount = paid_amount + credited + written_off + transferred + disputed
  ) stored,
  payment_status text not null generated always as (
    case
      when status not in ('Posted', 'Published') then 'Unpaid'
      when bill_amount <= paid_amount + credited + written_off + transferred
        then case when written_off > 0 then 'WrittenOff' else 'Paid' end
      when overdue_on is not null then 'Overdue'
      when paid_amount > 0 then 'PartiallyPaid'
      else 'Unpaid'
    end
  ) stored,
  primary key (tenant_id, bill_id),
  constraint bills_amount check (bill_amount = current_charges + rounding_adjustment),
  constraint bills_arrears check (arrears = previous_balance - payments_received + adjustments),
  constraint bills_payable check (
    payable - credit_balance
      = current_charges + arrears + rounding_adjustment - wallet_applied
    and payable >= 0 and credit_balance >= 0 and (payable = 0 or credit_balance = 0)
  ),
  constraint bills_not_settled_twice check (
    paid_amount + credited + written_off + transferred + disputed
      between least(bill_amount, 0) and greatest(bill_amount, 0)
  ),
  constraint bills_number_when_posted
    check (status not in ('Posted', 'Published') or bill_number is not null)
)
-- Posting writes every bill again. With room left for the new version on its page, and no index on
-- what posting changes, no index has to be touched.
with (fillfactor = 50);
comment on table bills is
  'A bill: its state, dates and amounts in minor units. Its document and frozen inputs are in '
  'bill_contents. References are checked by the program for a thousand rows at once: a foreign '
  'key checked for each row would cost as much as the row.';
comment on column bills.first_run is 'The run that made this version of the bill.';
comment on column bills.unit_id is
  'The billed unit: a subscription, an account or a party, by the post type of the term.';
comment on column bills.subscription_id is
  'Null on a bill of several subscriptions, which are then in bill_parts.';
comment on column bills.is_held is
  'True if an operator holds the bill; this survives regeneration. A hold by rule is decided '
  'again.';
comment on column bills.posting is 'How often it was posted.';
comment on column bills.paid_amount is
  'The part of bill_amount that is paid. This and the next four columns are kept by a trigger on '
  'subledger_entries. Below zero on a bill below zero that was used to pay others.';
comment on column bills.transferred is 'Owed by the next owner now, as an open item.';
comment on column bills.disputed is 'Booked on the account Disputed until the dispute is resolved.';
comment on column bills.overdue_on is
  'The day on which it was found unpaid after its due date. Kept when it is paid: a payment that '
  'is taken back leaves the bill overdue.';
comment on column bills.previously_billed_to is
  'The last billed day of the subscription before this bill. Null if the term sets it.';
comment on column bills.received is
  'All payments of the subscription when the bill was made. Those of several subscriptions are in '
  'bill_parts.';
comment on column bills.unit_ts is
  'When the subscription last changed before it was rated (of several, the sum). Another value '
  'means a stale bill.';
comment on column bills.usage is
  '{input: {quantity, type, carried?}}: the usage that posting records. Null on a bill of several '
  'subscriptions.';
comment on column bills.charges is '{"type component": amount}: what posting books.';
comment on column bills.review_status is
  'Error or Hold, if the bill is in review. This column, cancelled_id and is_settled do not '
  'change when a draft is posted: indexes on them are not touched then.';
comment on column bills.cancelled_id is 'The id of the bill, if it is cancelled.';
comment on column bills.is_settled is
  'True if nothing of the bill is open: neither to be paid nor, below zero, to be used.';
-- What posting books stays in the row.
alter table bills
  alter usage set storage main,
  alter charges set storage main;
-- Nothing is billed twice: of the bills of a billed unit in a term, all but one are cancelled.
-- Lists of a term walk along it.
create unique index bills_unit_key on bills (tenant_id, term_id, unit_id, cancelled_id)
  nulls not distinct;
-- Bills still to be paid are found among many that are settled.
create index bills_subscription on bills (tenant_id, subscription_id, is_settled) include (bill_id)
  where subscription_id is not null;
-- The id of the bill is included and not part of the key: PostgreSQL would otherwise use these
-- indexes to look for bills by id, and read them from end to end.
create index bills_party on bills (tenant_id, party_id, is_settled) include (bill_id);
-- Bills that an operator has to look at.
create index bills_review on bills (tenant_id, term_id, review_status, bill_id)
  where review_status is not null;
-- Lists of bills that are not paid in time: few among all.
create index bills_late on bills (tenant_id, payment_status, bill_id)
  where payment_status in ('PartiallyPaid', 'Overdue', 'WrittenOff');
-- Cancelled bills of a term: few among all.
create index bills_cancelled on bills (tenant_id, term_id) where cancelled_id is not null;
-- Bills that the daily job sets to Overdue, once the day is over.
create index bills_falling_due on bills (tenant_id, due_date)
  where issue_date is not null and overdue_on is null and not is_settled;
call wall_off('bills');
grant select, insert, update, delete on bills to billwright_worker;
grant select on bills to billwright_api;
grant insert (
  bill_id, term_id, first_run, context_id, batch_id, unit_id, subscription_id, account_id,
  party_id, plan_id, bill_type, status, is_held, hold_reason, posting, due_date, billed_from,
  billed_to, days, current_charges, tax_amount, rounding_adjustment, bill_amount,
  previous_balance, payments_received, adjustments, arrears, payable, credit_balance,
  late_surcharge, previously_billed_to, received, unit_ts, hash, usage, charges, created_at,
  created_by, modified_at, modified_by, ts
) on bills to billwright_bulk;
-- Calls hold bills and cancel drafts, and change nothing else of a bill.
grant update (status, is_held, hold_reason, due_date, modified_at, modified_by, ts)
  on bills to billwright_api;

create table bill_contents (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  document json not null,
  frozen json not null,
  primary key (tenant_id, bill_id)
)
-- Neither cut into pieces nor compressed, unless a page does not hold it.
with (toast_tuple_target = 8160);
comment on table bill_contents is
  'The document and the frozen inputs of a bill, as the bytes that were hashed. They are written '
  'once, while the row in bills is written again whenever the bill is posted, published or paid.';
alter table bill_contents
  alter document set storage external,
  alter frozen set storage external;
call wall_off('bill_contents');
grant select, insert, delete on bill_contents to billwright_worker;
grant select, delete on bill_contents to billwright_api;
grant insert (bill_id, document, frozen) on bill_contents to billwright_bulk;

create trigger bill_contents_fixed
  before update on bill_contents
  for each row
  execute function refuse_change();

create table bill_parts (
  tenant_id bigint not null,
  bill_id bigint not null,
  subscription_id bigint not null,
  amount bigint not null,
  arrears bigint not null,
  days integer not null,
  billed_to date,
  previously_billed_to date,
  received bigint not null default 0,
  unit_ts bigint not null,
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  transferred bigint not null default 0,
  disputed bigint not null default 0,
  primary key (tenant_id, bill_id, subscription_id),
  constraint bill_parts_not_settled_twice check (
    paid_amount + credited + written_off + transferred + disputed
      between least(amount, 0) and greatest(amount, 0)
  ),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id)
);
comment on table bill_parts is 'A subscription on a bill that is made for an account or a party.';
comment on column bill_parts.amount is 'The part of bill_amount that is owed for the subscription.';
comment on column bill_parts.paid_amount is
  'This and the next four columns are kept by a trigger on subledger_entries, as those of bills.';
comment on column bill_parts.received is
  'All payments of the subscription when the bill was made.';
create index bill_parts_subscription on bill_parts (tenant_id, subscription_id) include (bill_id);
call wall_off('bill_parts');
grant select, insert, delete on bill_parts to billwright_worker;
grant select on bill_parts to billwright_api;
-- If one of its subscriptions changes and the bill of several stays the same, the new time is
-- stored.
grant update (unit_ts) on bill_parts to billwright_worker;

-- One row for each line, for people who query with SQL.
create view bill_lines with (security_invoker = true) as
select b.tenant_id, b.bill_id, b.bill_number, b.term_id, b.subscription_id, b.party_id, b.status,
  l.number::integer as line_number,
  l.line ->> 'component' as component,
  l.line ->> 'type' as component_type,
  (l.line ->> 'amount')::bigint as amount,
  coalesce(l.line ->> 'tariffCode', k.document ->> 'tariffCode') as plan_code
from bills b
join bill_contents k on k.tenant_id = b.tenant_id and k.bill_id = b.bill_id
cross join lateral json_array_elements(k.document -> 'lines') with ordinality as l (line, number);
grant select on bill_lines to billwright_api, billwright_worker;

create table superseded_bills (
  tenant_id bigint not null,
  term_id bigint not null,
  bill_id bigint not null,
  first_run integer not null,
  last_run integer not null,
  unit_id bigint not null,
  subscription_id bigint,
  status text not null,
  current_charges bigint not null,
  bill_amount bigint not null,
  hash bytea not null,
  document json not null,
  frozen json not null,
  primary key (tenant_id, term_id, bill_id, first_run)
);
comment on table superseded_bills is
  'An earlier version of a bill that a later run changed or dropped, kept for comparison.';
comment on column superseded_bills.last_run is 'The last run that this version belongs to.';
-- Drafts that were removed since the last run.
create index superseded_bills_run on superseded_bills (tenant_id, term_id, last_run);
call wall_off('superseded_bills');
grant select, insert, delete on superseded_bills to billwright_api, billwright_worker;

create table usage_histories (
  tenant_id bigint not null,
  subscription_id bigint not null,
  terms json[] not null,
  brought_forward bigint not null default 0,
  received bigint not null default 0,
  billed jsonb check (jsonb_typeof(billed) = 'object'),
  primary key (tenant_id, subscription_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
)
-- Histories grow by a term with each bill until they are full. A row and its next version fit on a
-- page as they are; only larger ones are compressed.
with (toast_tuple_target = 4080, fillfactor = 45);
comment on table usage_histories is 'What was billed of a subscription in its last terms.';
comment on column usage_histories.terms is
  'Newest first: {termId, label, endDate, days, amount, usage: {input: {quantity, type, '
  'carried?}}}. An array of documents, so that posting adds one without parsing the others.';
comment on column usage_histories.brought_forward is
  'What the newest bill asked for, arrears included.';
comment on column usage_histories.received is
  'All payments of the subscription when the newest bill was made. The next bill shows those that '
  'were received since.';
comment on column usage_histories.billed is
  'What the newest bill charged by rules of segments, by component. Only for bills made in '
  'advance, which the next bill may have to correct.';
call wall_off('usage_histories');
grant select, insert, update on usage_histories to billwright_api, billwright_worker;

create table number_series (
  tenant_id bigint not null references tenants (tenant_id),
  series_id integer not null,
  kind text not null check (kind in ('Bill', 'CreditNote', 'Receipt')),
  series_key text not null,
  first_number bigint not null default 1 check (first_number >= 1),
  last_number bigint not null check (last_number >= first_number - 1),
  primary key (tenant_id, series_id),
  unique (tenant_id, kind, series_key)
);
comment on table number_series is
  'A gapless series of numbers that people see. Its key is the printed number without the '
  'counter: ELEC-2026- of ELEC-2026-000017.';
comment on column number_series.first_number is
  'The first number that the series is gapless from: above 1 if numbers were given before.';
call wall_off('number_series');
grant select, insert on number_series to billwright_worker;
grant update (last_number) on number_series to billwright_worker;

create table bill_numbers (
  tenant_id bigint not null,
  bill_number text not null,
  bill_id bigint not null,
  term_id bigint not null,
  retired_reason text,
  retired_at timestamptz,
  retired_by text,
  series_id integer,
  series_number bigint,
  primary key (tenant_id, bill_number),
  constraint bill_numbers_retired check (
    num_nulls(retired_reason, retired_at, retired_by) in (0, 3)
  ),
  constraint bill_numbers_series check (num_nulls(series_id, series_number) in (0, 2))
);
comment on table bill_numbers is
  'A bill number that was given. A number that was taken back is retired and never given again.';
comment on column bill_numbers.series_id is 'Null for a number that was given outside a series.';
create index bill_numbers_retired on bill_numbers (tenant_id, term_id) where retired_at is not null;
call wall_off('bill_numbers');
grant select, insert on bill_numbers to billwright_api, billwright_worker;
grant update (retired_reason, retired_at, retired_by) on bill_numbers to billwright_worker;

create trigger bill_numbers_retired_once
  before update on bill_numbers
  for each row
  when (old.retired_at is not null or new.retired_at is null)
  execute function refuse_change();

create table credit_notes (
  tenant_id bigint not null references tenants (tenant_id),
  credit_note_id bigint not null,
  credit_note_number text not null,
  bill_id bigint not null,
  party_id bigint not null,
  amount bigint not null,
  to_wallet bigint not null check (to_wallet >= 0),
  issue_date date not null,
  reason text not null check (reason <> ''),
  journal_id bigint,
  rebill_term_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  series_id integer,
  series_number bigint,
  primary key (tenant_id, credit_note_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  foreign key (tenant_id, rebill_term_id) references terms (tenant_id, term_id),
  constraint credit_notes_series check (num_nulls(series_id, series_number) in (0, 2))
);
comment on table credit_notes is
  'A credit note. A posted bill is never changed: a credit note takes it back.';
comment on column credit_notes.amount is
  'The amount of the bill: below zero if the bill was itself a credit.';
comment on column credit_notes.to_wallet is
  'What had been paid of the bill, and is returned to the wallet of the party.';
comment on column credit_notes.journal_id is 'Null if there was nothing to book.';
comment on column credit_notes.rebill_term_id is 'The term that bills the days again.';
create unique index credit_notes_number_key on credit_notes (tenant_id, credit_note_number);
create index credit_notes_bill on credit_notes (tenant_id, bill_id);
create index credit_notes_party on credit_notes (tenant_id, party_id, credit_note_id);
create index credit_notes_journal on credit_notes (tenant_id, journal_id);
create index credit_notes_rebill on credit_notes (tenant_id, rebill_term_id);
call wall_off('credit_notes');
grant select on credit_notes to billwright_api;
grant select, insert on credit_notes to billwright_worker;

create trigger credit_notes_append_only
  before update or delete on credit_notes
  for each row execute function refuse_change();

-- A posted bill does not change, except for what happens to it afterwards. These triggers run after
-- the update: before it, PostgreSQL would lock each bill once more, also a draft that is posted and
-- meets no condition.
create function keep_posted_bills() returns trigger
language plpgsql
as $$
begin
  if old.hash <> new.hash or old.bill_amount <> new.bill_amount
    or old.bill_number is distinct from new.bill_number
    or old.current_charges <> new.current_charges or old.tax_amount <> new.tax_amount
    or old.billed_from is distinct from new.billed_from
    or old.billed_to is distinct from new.billed_to
    or old.unit_id <> new.unit_id or old.term_id <> new.term_id
    or old.charges::text <> new.charges::text
    or old.usage::text is distinct from new.usage::text
  then
    raise exception 'a posted bill does not change'
      using errcode = 'check_violation', constraint = 'bills_posted_fixed';
  end if;
  return new;
end
$$;
-- A payment names none of these columns, and does not pay for the comparison.
create trigger bills_posted_fixed
  after update of hash, bill_amount, bill_number, current_charges, tax_amount, billed_from,
    billed_to, unit_id, term_id, charges, usage on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled'))
  execute function keep_posted_bills();

-- A posted bill is never deleted.
create function refuse_posted_delete() returns trigger
language plpgsql
as $$
begin
  raise exception 'a posted bill is never deleted'
    using errcode = 'check_violation', constraint = 'bills_posted_kept';
end
$$;
create trigger bills_posted_kept
  before delete on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled'))
  execute function refuse_posted_delete();

-- The contents of a bill stay as they were written, and are deleted only with the bill.
create function keep_bill_contents() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  bill_ids bigint[];
begin
  select min(tenant_id), array_agg(bill_id) into tenant, bill_ids from gone;
  if exists (select from bills where tenant_id = tenant and bill_id = any(bill_ids)) then
    raise exception 'a bill is not without its contents'
      using errcode = 'check_violation', constraint = 'bill_contents_kept';
  end if;
  return null;
end
$$;
create trigger bill_contents_kept
  after delete on bill_contents
  referencing old table as gone
  for each statement
  execute function keep_bill_contents();

-- A posted bill keeps its amounts, dates and party.
create function refuse_bill_change() returns trigger
language plpgsql
as $$
begin
  raise exception 'a posted bill does not change'
    using errcode = 'check_violation', constraint = 'bills_posted_fixed';
end
$$;
create trigger bills_posted_kept_as_is
  after update of party_id, account_id, subscription_id, plan_id, context_id, batch_id, bill_type,
    posting, days, received, previous_balance, payments_received, adjustments, late_surcharge,
    previously_billed_to, due_date, issue_date on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled')
    and ((old.party_id, old.account_id, old.subscription_id, old.plan_id, old.context_id,
        old.batch_id, old.bill_type, old.posting, old.days, old.received, old.previous_balance,
        old.payments_received, old.adjustments, old.late_surcharge, old.previously_billed_to)
      is distinct from (new.party_id, new.account_id, new.subscription_id, new.plan_id,
        new.context_id, new.batch_id, new.bill_type, new.posting, new.days, new.received,
        new.previous_balance, new.payments_received, new.adjustments, new.late_surcharge,
        new.previously_billed_to)
      or (old.status <> 'Posted'
        and (old.due_date, old.issue_date) is distinct from (new.due_date, new.issue_date)))
    and is_program())
  execute function refuse_bill_change();

create function refuse_bill_step() returns trigger
language plpgsql
as $$
begin
  raise exception 'a bill that is % does not become %', old.status, new.status
    using errcode = 'check_violation', constraint = 'bills_status_step';
end
$$;
-- A bill that customers have seen is cancelled and not taken back. Calls post and publish nothing.
create trigger bills_status_step
  after update of status on bills
  for each row
  when (old.status <> new.status and (
    (old.status = 'Published' and new.status <> 'Cancelled')
    or (old.status = 'Cancelled' and old.bill_number is not null)
    or (current_user = 'billwright_api'
      and (old.status in ('Posted', 'Published') or new.status in ('Posted', 'Published'))))
    and is_program())
  execute function refuse_bill_step();

-- A posted bill is due with its term; the date can change until it is published.
create function check_due_date() returns trigger
language plpgsql
as $$
begin
  if new.due_date is distinct from (
    select due_date from terms where tenant_id = new.tenant_id and term_id = new.term_id
  ) then
    raise exception 'a posted bill is due with its term'
      using errcode = 'check_violation', constraint = 'bills_due_with_term';
  end if;
  return null;
end
$$;
create trigger bills_due_with_term
  after update of due_date on bills
  for each row
  when (old.status = 'Posted' and new.status = 'Posted' and old.due_date <> new.due_date
    and is_program())
  execute function check_due_date();

-- What settles a bill follows from entries: the program does not change the sums itself.
create function refuse_settling() returns trigger
language plpgsql
as $$
begin
  raise exception 'a bill is settled by entries of the ledger'
    using errcode = 'check_violation', constraint = 'bills_paid_as_booked';
end
$$;
create trigger bills_paid_as_booked
  after update of paid_amount, credited, written_off, transferred, disputed on bills
  for each row
  when ((old.paid_amount, old.credited, old.written_off, old.transferred, old.disputed)
    is distinct from
      (new.paid_amount, new.credited, new.written_off, new.transferred, new.disputed)
    and is_program())
  execute function refuse_settling();
create trigger bill_parts_paid_as_booked
  after update of paid_amount, credited, written_off, transferred, disputed on bill_parts
  for each row
  when ((old.paid_amount, old.credited, old.written_off, old.transferred, old.disputed)
    is distinct from
      (new.paid_amount, new.credited, new.written_off, new.transferred, new.disputed)
    and is_program())
  execute function refuse_settling();
-- Only a bill that customers have seen, and that was due before, is overdue.
create trigger bills_overdue_after_due_date
  after update of overdue_on on bills
  for each row
  when (new.overdue_on is not null and old.overdue_on is distinct from new.overdue_on
    and (new.status <> 'Published' or new.overdue_on <= new.due_date) and is_program())
  execute function refuse_settling();

create table open_items (
  tenant_id bigint not null,
  item_id bigint not null,
  kind text not null
    check (kind in ('Opening', 'Deposit', 'Surcharge', 'Adjustment', 'Fee', 'Reversal', 'Transfer')),
  ledger_account_id bigint not null check (ledger_account_id in (2, 1000001)),
  party_id bigint not null,
  subscription_id bigint,
  bill_id bigint,
  component text,
  issue_date date not null,
  due_date date not null,
  amount bigint not null check (amount <> 0),
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  transferred bigint not null default 0,
  disputed bigint not null default 0,
  description text not null,
  reference text,
  created_at timestamptz not null,
  created_by text not null,
  is_settled boolean not null generated always as (
    amount = paid_amount + credited + written_off + transferred + disputed
  ) stored,
  primary key (tenant_id, item_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id),
  constraint open_items_not_settled_twice check (
    paid_amount + credited + written_off + transferred + disputed
      between least(amount, 0) and greatest(amount, 0)
  )
)
with (fillfactor = 50);
comment on table open_items is
  'What is owed and is no bill: an opening balance, a demanded deposit, a surcharge, an adjustment, '
  'a fee, what a reversed payment leaves, and what a new owner took over. A bill is its own open '
  'item, and has no row here.';
comment on column open_items.subscription_id is 'Null if the party itself owes it.';
comment on column open_items.bill_id is 'The bill that it belongs to: of a surcharge, the late one.';
comment on column open_items.amount is
  'In minor units. Below zero it is a credit, which pays other items.';
comment on column open_items.paid_amount is
  'This and the next four columns are kept by a trigger on subledger_entries.';
create index open_items_party on open_items (tenant_id, party_id, is_settled);
create index open_items_subscription on open_items (tenant_id, subscription_id)
  where subscription_id is not null;
create index open_items_bill on open_items (tenant_id, bill_id) where bill_id is not null;
-- A bill is surcharged once for each of its subscriptions.
create unique index open_items_surcharge_key on open_items (tenant_id, bill_id, subscription_id)
  where kind = 'Surcharge';
call wall_off('open_items');
grant select, insert on open_items to billwright_api, billwright_worker;

-- The sums of bills, their parts and open items follow from entries that settle them.
create function keep_open_items() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
-- Each bill and item is looked up by its key: for a chunk of a few hundred payments PostgreSQL would
-- read all bills of the workspace instead. A call of one payment keeps its plans.
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  bill_ids bigint[];
  subscription_ids bigint[];
  item_ids bigint[];
  paid bigint[];
  credits bigint[];
  written bigint[];
  moved bigint[];
  doubtful bigint[];
  at timestamptz;
  author text;
begin
  select max(created_at), max(created_by) into at, author from new_rows where effect is not null;
  if at is null then
    return null;
  end if;
  select array_agg(s.bill_id), array_agg(s.paid), array_agg(s.credited), array_agg(s.written_off),
    array_agg(s.transferred), array_agg(s.disputed)
  into bill_ids, paid, credits, written, moved, doubtful
  from (
    select bill_id, coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
      coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
      coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
      coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
      coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed
    from new_rows
    where effect is not null and item_id is null
    group by bill_id
  ) s;
  if bill_ids is not null then
    update bills b
    set paid_amount = b.paid_amount + n.paid, credited = b.credited + n.credited,
      written_off = b.written_off + n.written_off, transferred = b.transferred + n.transferred,
      disputed = b.disputed + n.disputed, modified_at = at, modified_by = author,
      ts = greatest(b.ts + 1, (extract(epoch from at) * 1000)::bigint)
    from unnest(bill_ids, paid, credits, written, moved, doubtful)
      as n (bill_id, paid, credited, written_off, transferred, disputed)
    where b.tenant_id = require_tenant() and b.bill_id = n.bill_id;
    select array_agg(s.bill_id), array_agg(s.subscription_id), array_agg(s.paid),
      array_agg(s.credited), array_agg(s.written_off), array_agg(s.transferred),
      array_agg(s.disputed)
    into bill_ids, subscription_ids, paid, credits, written, moved, doubtful
    from (
      select bill_id, subscription_id, coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
      coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
      coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
      coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
      coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed
      from new_rows
      where effect is not null and item_id is null
      group by bill_id, subscription_id
    ) s;
    update bill_parts p
    set paid_amount = p.paid_amount + n.paid, credited = p.credited + n.credited,
      written_off = p.written_off + n.written_off, transferred = p.transferred + n.transferred,
      disputed = p.disputed + n.disputed
    from unnest(bill_ids, subscription_ids, paid, credits, written, moved, doubtful)
      as n (bill_id, subscription_id, paid, credited, written_off, transferred, disputed)
    where p.tenant_id = require_tenant() and p.bill_id = n.bill_id
      and p.subscription_id = n.subscription_id;
  end if;
  select array_agg(s.item_id), array_agg(s.paid), array_agg(s.credited), array_agg(s.written_off),
    array_agg(s.transferred), array_agg(s.disputed)
  into item_ids, paid, credits, written, moved, doubtful
  from (
    select item_id, coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
      coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
      coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
      coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
      coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed
    from new_rows
    where effect is not null and item_id is not null
    group by item_id
  ) s;
  if item_ids is not null then
    update open_items i
    set paid_amount = i.paid_amount + n.paid, credited = i.credited + n.credited,
      written_off = i.written_off + n.written_off, transferred = i.transferred + n.transferred,
      disputed = i.disputed + n.disputed
    from unnest(item_ids, paid, credits, written, moved, doubtful)
      as n (item_id, paid, credited, written_off, transferred, disputed)
    where i.tenant_id = require_tenant() and i.item_id = n.item_id;
  end if;
  return null;
end
$$;
revoke all on function keep_open_items() from public;
create trigger subledger_entries_open_items
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function keep_open_items();
