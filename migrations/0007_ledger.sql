-- The ledger: double entry, append-only. The general ledger (journals and their lines) is posted in
-- summary; the subledger has one entry for each amount that a customer owes, pays or deposits.
-- Balances are kept by triggers, so that they cannot differ from the sum of the entries.

create table ledger_accounts (
  tenant_id bigint not null references tenants (tenant_id),
  ledger_account_id bigint not null,
  code text not null check (code <> ''),
  name text not null check (name <> ''),
  kind text not null check (kind in ('Asset', 'Liability', 'Income', 'Expense', 'Equity')),
  is_control boolean not null default false,
  primary key (tenant_id, ledger_account_id),
  constraint ledger_accounts_code_key unique (tenant_id, code)
);
comment on table ledger_accounts is 'A ledger account.';
comment on column ledger_accounts.is_control is 'True if subledger entries add up to it.';
call wall_off('ledger_accounts');
grant select, insert on ledger_accounts to billwright_api, billwright_worker;

-- The ledger accounts of a new workspace. PAYABLE is what it owes to vendors and employees, EXPENSE
-- what that costs. SUSPENSE holds money whose payer is not known yet, CASH_DIFFERENCE what a cash
-- desk counted too much or too little, RESULT what the year end carries forward. Their ids are far
-- above those of a workspace's own accounts.
create procedure add_chart_of_accounts(wanted_tenant bigint)
language sql
as $$
  insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind, is_control)
  values
    (wanted_tenant, 1, 'CASH', 'Cash and bank', 'Asset', false),
    (wanted_tenant, 2, 'RECEIVABLE', 'Receivable', 'Asset', true),
    (wanted_tenant, 3, 'ADVANCE', 'Advance', 'Liability', true),
    (wanted_tenant, 4, 'DEPOSIT', 'Security Deposit', 'Liability', true),
    (wanted_tenant, 5, 'TAX', 'Tax payable', 'Liability', false),
    (wanted_tenant, 6, 'INCOME', 'Income', 'Income', false),
    (wanted_tenant, 7, 'ROUNDING', 'Rounding', 'Income', false),
    (wanted_tenant, 8, 'OPENING', 'Opening balances', 'Equity', false),
    (wanted_tenant, 9, 'BAD_DEBT', 'Bad debts', 'Expense', false),
    (wanted_tenant, 10, 'DISPUTED', 'Disputed', 'Asset', true),
    (wanted_tenant, 1000001, 'PAYABLE', 'Payable', 'Liability', true),
    (wanted_tenant, 1000002, 'EXPENSE', 'Expense', 'Expense', false),
    (wanted_tenant, 1000003, 'SUSPENSE', 'Suspense', 'Liability', false),
    (wanted_tenant, 1000004, 'CASH_DIFFERENCE', 'Cash differences', 'Expense', false),
    (wanted_tenant, 1000005, 'RESULT', 'Result of earlier years', 'Equity', false);
  insert into counters (tenant_id, series, last_number)
  values (wanted_tenant, 'ledger-account', 10);
$$;

create table journals (
  tenant_id bigint not null,
  journal_id bigint not null,
  source_type text not null check (source_type in (
    'Opening', 'Deposit', 'Bills', 'Unpost', 'Surcharge', 'Fee', 'Payment', 'Wallet',
    'CreditNote', 'Adjustment', 'WriteOff', 'Dispute', 'Refund', 'Transfer', 'Reversal', 'BankLine',
    'CashDifference', 'YearEnd'
  )),
  source_id bigint not null,
  term_id bigint,
  business_unit_id bigint not null,
  posting_date date not null,
  description text not null,
  reverses_journal_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  written_in xid8 not null default pg_current_xact_id(),
  primary key (tenant_id, journal_id),
  foreign key (tenant_id, reverses_journal_id) references journals (tenant_id, journal_id)
);
comment on table journals is
  'A journal: one posting in the general ledger. Rows are appended and never changed.';
comment on column journals.source_type is 'What it was posted for.';
comment on column journals.written_in is
  'The transaction that wrote the journal: only that one adds lines and entries.';
create index journals_source on journals (tenant_id, source_type, source_id);
create index journals_term on journals (tenant_id, term_id) where term_id is not null;
create index journals_reverses on journals (tenant_id, reverses_journal_id)
  where reverses_journal_id is not null;
create index journals_date on journals (tenant_id, posting_date, journal_id);
call wall_off('journals');
grant select, insert on journals to billwright_api, billwright_worker;

create trigger journals_append_only
  before update or delete on journals
  for each row execute function refuse_change();

-- As a foreign key would, without a lock on the row of the tenant.
create function check_journals_tenant() returns trigger
language plpgsql
as $$
declare
  tenants_named bigint[] := array(select distinct tenant_id from new_rows);
begin
  if cardinality(tenants_named) <> (
    select count(*) from tenants where tenant_id = any(tenants_named)
  ) then
    raise exception 'a journal names a tenant that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journals_tenant_fkey';
  end if;
  return null;
end
$$;
create trigger journals_tenant
  after insert on journals
  referencing new table as new_rows
  for each statement execute function check_journals_tenant();

create table journal_lines (
  tenant_id bigint not null,
  journal_id bigint not null,
  line_number integer not null check (line_number > 0),
  ledger_account_id bigint not null,
  component text,
  amount bigint not null,
  primary key (tenant_id, journal_id, line_number),
  foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id)
);
comment on table journal_lines is
  'A line of a journal. The lines of a journal are inserted by one statement and must balance '
  'after it.';
comment on column journal_lines.component is 'The component of the bill, if the line is of one.';
comment on column journal_lines.amount is
  'In minor units. Above zero is a debit, below zero a credit.';
create index journal_lines_account on journal_lines (tenant_id, ledger_account_id, journal_id);
call wall_off('journal_lines');
grant select, insert on journal_lines to billwright_api, billwright_worker;

create trigger journal_lines_append_only
  before update or delete on journal_lines
  for each row execute function refuse_change();

-- The lines of each journal add up to zero, and their accounts exist. The accounts of a statement
-- are looked up at once: foreign keys would lock the same few rows for every posting.
create function check_journals_balance() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  account_ids bigint[];
  broken bigint;
begin
  select min(tenant_id), array_agg(distinct journal_id), array_agg(distinct ledger_account_id)
  into tenant, journal_ids, account_ids from new_rows;
  if cardinality(account_ids) <> (
    select count(*) from ledger_accounts
    where tenant_id = tenant and ledger_account_id = any(account_ids)
  ) then
    raise exception 'a journal line names a ledger account that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journal_lines_ledger_account_fkey';
  end if;
  select journal_id into broken
  from journal_lines
  where tenant_id = tenant and journal_id = any(journal_ids)
  group by journal_id
  having sum(amount) <> 0
  limit 1;
  if broken is not null then
    raise exception 'journal % does not balance', broken
      using errcode = 'check_violation', constraint = 'journal_lines_balance';
  end if;
  return null;
end
$$;
create trigger journal_lines_balance
  after insert on journal_lines
  referencing new table as new_rows
  for each statement execute function check_journals_balance();

create table ledger_day_totals (
  tenant_id bigint not null,
  posting_date date not null,
  ledger_account_id bigint not null,
  journal_id bigint not null,
  debit numeric not null check (debit >= 0),
  credit numeric not null check (credit >= 0),
  lines bigint not null check (lines > 0),
  primary key (tenant_id, posting_date, ledger_account_id, journal_id)
);
comment on table ledger_day_totals is
  'Debits and credits of a ledger account on a posting date. Every statement that inserts journal '
  'lines adds rows under its first journal, so that no posting waits for another. A nightly job '
  'folds them into one row under journal 0; readers add up both kinds.';
comment on column ledger_day_totals.journal_id is '0 for the folded row of a day.';
comment on column ledger_day_totals.debit is
  'In minor units. Sums of many lines may be more than a bigint holds.';
call wall_off('ledger_day_totals');
-- Only the two functions below write this table.
grant select on ledger_day_totals to billwright_api, billwright_worker;

create function add_ledger_totals() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  journal_ids bigint[];
  account_ids bigint[];
  amounts bigint[];
begin
  select array_agg(journal_id), array_agg(ledger_account_id), array_agg(amount)
  into journal_ids, account_ids, amounts
  from new_rows;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select j.tenant_id, j.posting_date, l.ledger_account_id, min(l.journal_id),
    sum(greatest(l.amount, 0)), sum(greatest(-l.amount, 0)), count(*)
  from unnest(journal_ids, account_ids, amounts) as l (journal_id, ledger_account_id, amount)
  join journals j on j.tenant_id = require_tenant() and j.journal_id = l.journal_id
  group by j.tenant_id, j.posting_date, l.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return null;
end
$$;
revoke all on function add_ledger_totals() from public;
create trigger journal_lines_totals
  after insert on journal_lines
  referencing new table as new_rows
  for each statement execute function add_ledger_totals();

-- Folds at most so many additions, and returns how many it folded.
create function fold_ledger_totals(rows_max integer) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  dates date[];
  account_ids bigint[];
  journal_ids bigint[];
  debits numeric[];
  credits numeric[];
  counts bigint[];
begin
  select array_agg(posting_date), array_agg(ledger_account_id), array_agg(journal_id),
    array_agg(debit), array_agg(credit), array_agg(lines)
  into dates, account_ids, journal_ids, debits, credits, counts
  from (
    select posting_date, ledger_account_id, journal_id, debit, credit, lines
    from ledger_day_totals
    where tenant_id = require_tenant() and journal_id > 0
    order by posting_date, ledger_account_id, journal_id
    limit rows_max
    for update skip locked
  ) added;
  if dates is null then
    return 0;
  end if;
  delete from ledger_day_totals t
  using unnest(dates, account_ids, journal_ids) as a (posting_date, ledger_account_id, journal_id)
  where t.tenant_id = require_tenant() and t.posting_date = a.posting_date
    and t.ledger_account_id = a.ledger_account_id and t.journal_id = a.journal_id;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select require_tenant(), a.posting_date, a.ledger_account_id, 0, sum(a.debit), sum(a.credit),
    sum(a.lines)
  from unnest(dates, account_ids, debits, credits, counts)
    as a (posting_date, ledger_account_id, debit, credit, lines)
  group by a.posting_date, a.ledger_account_id
  order by a.posting_date, a.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return cardinality(dates);
end
$$;
revoke all on function fold_ledger_totals(integer) from public;
grant execute on function fold_ledger_totals(integer) to billwright_worker;

create table party_wallets (
  tenant_id bigint not null,
  party_id bigint not null,
  balance bigint not null default 0
    constraint party_wallets_not_negative check (balance >= 0),
  receivable bigint not null default 0,
  primary key (tenant_id, party_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
)
-- A payment writes the row again, and no index has to be touched.
with (fillfactor = 50);
comment on table party_wallets is
  'What a party has paid and not yet used, in minor units. The row is made when it is first needed. '
  'Everything that settles open items of the party locks it first.';
comment on column party_wallets.receivable is
  'What the party itself owes, and not for one of its subscriptions.';
call wall_off('party_wallets');
grant select, insert, update on party_wallets to billwright_api, billwright_worker;

create table subledger_entries (
  tenant_id bigint not null,
  entry_id bigint not null,
  journal_id bigint not null,
  ledger_account_id bigint not null check (ledger_account_id in (2, 3, 4, 10, 1000001)),
  party_id bigint not null,
  subscription_id bigint,
  kind text not null check (kind in (
    'Opening', 'Deposit', 'Bill', 'Surcharge', 'Fee', 'Payment', 'Offset', 'Wallet', 'CreditNote',
    'Adjustment', 'WriteOff', 'Dispute', 'Refund', 'Transfer', 'Reversal'
  )),
  bill_id bigint,
  posting smallint not null default 1 check (posting > 0),
  amount bigint not null,
  is_payment boolean not null default false,
  posting_date date not null,
  due_date date,
  value_date date,
  item_id bigint,
  effect text check (effect in ('paid', 'credited', 'written_off', 'transferred', 'disputed')),
  settled bigint generated always as (
    case when effect is null then null
      when ledger_account_id = 1000001 then amount else -amount end
  ) stored,
  payment_id bigint,
  reference text,
  description text,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, entry_id),
  check (ledger_account_id in (2, 3, 1000001) or subscription_id is not null),
  check (effect is null or (
    ledger_account_id in (2, 1000001) and (bill_id is not null or item_id is not null)
  ))
);
comment on table subledger_entries is
  'A subledger entry: one change of what a party owes, has paid in advance or has deposited. The '
  'entries of a journal add up to its lines on the control accounts.';
comment on column subledger_entries.ledger_account_id is
  'Receivable (2), advance (3), deposit (4), disputed (10) or payable (1000001).';
comment on column subledger_entries.subscription_id is
  'Null for money that belongs to the party as a whole.';
comment on column subledger_entries.posting is
  'Counts the postings of one bill: a bill that was unposted may be posted again.';
comment on column subledger_entries.amount is 'In minor units, signed like a journal line.';
comment on column subledger_entries.is_payment is
  'True if bills show it among the payments received, and not among the adjustments.';
comment on column subledger_entries.value_date is
  'The day from which the money counts, if that is not the posting date.';
comment on column subledger_entries.item_id is
  'The open item, if it is none of the bill itself.';
comment on column subledger_entries.settled is
  'How much of the open item it settles, above zero on either side of the ledger.';
comment on column subledger_entries.effect is
  'How the entry settles the open item, which is the bill if no other item is named. The sums of '
  'bills, bill_parts and open_items follow from it. Null: the entry is the item, or is on an '
  'account without open items.';
create unique index subledger_entries_bill_key
  on subledger_entries (tenant_id, bill_id, subscription_id, posting)
  where kind = 'Bill';
-- Ids come from blocks and have no order in time: entries of a day are sorted by when they were made.
create index subledger_entries_subscription
  on subledger_entries (tenant_id, subscription_id, posting_date, entry_id)
  where subscription_id is not null;
create index subledger_entries_party
  on subledger_entries (tenant_id, party_id, posting_date, entry_id);
create index subledger_entries_journal on subledger_entries (tenant_id, journal_id);
-- Without the entries that posting writes, one for each bill.
create index subledger_entries_settling on subledger_entries (tenant_id, bill_id)
  where effect is not null;
create index subledger_entries_item on subledger_entries (tenant_id, item_id)
  where item_id is not null;
create index subledger_entries_payment on subledger_entries (tenant_id, payment_id)
  where payment_id is not null;
call wall_off('subledger_entries');
grant select, insert on subledger_entries to billwright_api, billwright_worker;

create trigger subledger_entries_append_only
  before update or delete on subledger_entries
  for each row execute function refuse_change();

-- Balances follow from entries, in the order of keys so that two postings do not wait for each
-- other. The journal of an entry must exist: this is checked here for all rows of a statement at
-- once, which costs a fraction of a foreign key checked for each row. The tenant needs no foreign
-- key, because the journal has one. A subscription has its open items on receivable or on payable.
create function keep_balances() returns trigger
language plpgsql
-- A call of one payment keeps its plans: making them anew took longer than the statements.
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  subscription_ids bigint[];
  party_ids bigint[];
  amounts bigint[];
  owed_amounts bigint[];
begin
  select min(tenant_id), array_agg(distinct journal_id) into tenant, journal_ids from new_rows;
  if cardinality(journal_ids) <> (
    select count(*) from journals where tenant_id = tenant and journal_id = any(journal_ids)
  ) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
  end if;
  insert into subscription_balances as b
    (tenant_id, subscription_id, party_id, receivable, deposit, disputed, received)
  select tenant_id, subscription_id, party_id,
    coalesce(sum(amount) filter (where ledger_account_id in (2, 1000001)), 0),
    coalesce(-sum(amount) filter (where ledger_account_id = 4), 0),
    coalesce(sum(amount) filter (where ledger_account_id = 10), 0),
    coalesce(-sum(amount) filter (where is_payment and ledger_account_id in (2, 1000001)), 0)
  from new_rows
  where subscription_id is not null and ledger_account_id in (2, 4, 10, 1000001)
  group by tenant_id, subscription_id, party_id
  order by tenant_id, subscription_id, party_id
  on conflict (tenant_id, subscription_id, party_id) do update
    set receivable = b.receivable + excluded.receivable,
      deposit = b.deposit + excluded.deposit,
      disputed = b.disputed + excluded.disputed,
      received = b.received + excluded.received;
  select array_agg(subscription_id), array_agg(party_id) into subscription_ids, party_ids
  from new_rows where subscription_id is not null and ledger_account_id in (4, 10);
  if subscription_ids is not null and exists (
    select from unnest(subscription_ids, party_ids) as n (subscription_id, party_id)
    join subscription_balances b on b.tenant_id = tenant
      and b.subscription_id = n.subscription_id and b.party_id = n.party_id
    where b.deposit < 0 or b.disputed < 0
  ) then
    raise exception 'more deposit is taken than is held'
      using errcode = 'check_violation', constraint = 'subscription_balances_not_negative';
  end if;
  select array_agg(party_id), array_agg(paid_ahead), array_agg(owed)
  into party_ids, amounts, owed_amounts
  from (
    select party_id, coalesce(-sum(amount) filter (where ledger_account_id = 3), 0)::bigint
        as paid_ahead,
      coalesce(sum(amount) filter (where ledger_account_id <> 3), 0)::bigint as owed
    from new_rows
    where ledger_account_id = 3 or subscription_id is null
    group by party_id
    order by party_id
  ) moved;
  if party_ids is not null then
    insert into party_wallets (tenant_id, party_id)
    select tenant, moved.party_id from unnest(party_ids) as moved (party_id)
    on conflict (tenant_id, party_id) do nothing;
    update party_wallets w
    set balance = w.balance + moved.paid_ahead, receivable = w.receivable + moved.owed
    from unnest(party_ids, amounts, owed_amounts) as moved (party_id, paid_ahead, owed)
    where w.tenant_id = tenant and w.party_id = moved.party_id;
  end if;
  return null;
end
$$;
create trigger subledger_entries_balances
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function keep_balances();

-- A journal is written once: only the transaction that wrote it adds lines and entries.
create function check_journals_open() returns trigger
language plpgsql
as $$
declare
  wanted bigint[] := array(select distinct journal_id from new_rows);
  found bigint;
begin
  select count(*) into found from journals
  where tenant_id = require_tenant() and journal_id = any(wanted)
    and written_in = pg_current_xact_id();
  if found < cardinality(wanted) then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  return null;
end
$$;
create trigger journal_lines_written_once
  after insert on journal_lines
  referencing new table as new_rows
  for each statement when (is_program()) execute function check_journals_open();
create trigger subledger_entries_written_once
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement when (is_program()) execute function check_journals_open();

-- At the end of that transaction the lines on control accounts are the sums of the entries.
create function check_journal_entries() returns trigger
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  if exists (
    select from (
      select ledger_account_id, amount from journal_lines
      where tenant_id = new.tenant_id and journal_id = new.journal_id
        and ledger_account_id in (2, 3, 4, 10, 1000001)
      union all
      select ledger_account_id, -amount from subledger_entries
      where tenant_id = new.tenant_id and journal_id = new.journal_id
    ) parts
    group by ledger_account_id
    having sum(amount) <> 0
  ) then
    raise exception 'the entries of journal % are not those of its lines', new.journal_id
      using errcode = 'check_violation', constraint = 'journals_made_of_entries';
  end if;
  return null;
end
$$;
-- For each journal, of which a chunk of a posted term has one or two.
create constraint trigger journals_made_of_entries
  after insert on journals
  deferrable initially deferred
  for each row when (is_program()) execute function check_journal_entries();
