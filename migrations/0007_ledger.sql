-- The ledger: double entry, append-only. The general ledger (journals and their lines) is posted in
-- summary; the subledger has one entry for each thing a customer owes, pays or deposits. Balances
-- are kept by triggers, so that they cannot differ from the sum of the entries.

create table ledger_accounts (
  tenant_id bigint not null references tenants (tenant_id),
  ledger_account_id bigint not null,
  code text not null check (code <> ''),
  name text not null check (name <> ''),
  kind text not null check (kind in ('Asset', 'Liability', 'Income', 'Expense', 'Equity')),
  -- What the customers' subledger adds up to.
  is_control boolean not null default false,
  primary key (tenant_id, ledger_account_id),
  constraint ledger_accounts_code_key unique (tenant_id, code)
);
call wall_off('ledger_accounts');
grant select, insert on ledger_accounts to billwright_api, billwright_worker;

-- What every workspace begins with.
create procedure add_chart_of_accounts(wanted_tenant bigint)
language sql
begin atomic
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
    (wanted_tenant, 10, 'DISPUTED', 'Disputed', 'Asset', true);
  insert into counters (tenant_id, series, last_number)
  values (wanted_tenant, 'ledger-account', 10);
end;

create table journals (
  tenant_id bigint not null references tenants (tenant_id),
  journal_id bigint not null,
  -- What it was posted for.
  source_type text not null check (source_type in (
    'Opening', 'Deposit', 'Bills', 'Unpost', 'Surcharge', 'Payment', 'Wallet', 'CreditNote',
    'Adjustment', 'Refund', 'Transfer', 'Reversal'
  )),
  source_id bigint not null,
  term_id bigint,
  business_unit_id bigint not null,
  posting_date date not null,
  description text not null,
  reverses_journal_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, journal_id),
  foreign key (tenant_id, reverses_journal_id) references journals (tenant_id, journal_id)
);
create index journals_source on journals (tenant_id, source_type, source_id);
create index journals_term on journals (tenant_id, term_id) where term_id is not null;
create index journals_reverses on journals (tenant_id, reverses_journal_id)
  where reverses_journal_id is not null;
create index journals_date on journals (tenant_id, posting_date, journal_id);
call wall_off('journals');
grant select, insert on journals to billwright_api, billwright_worker;

-- Above zero is a debit, below a credit, in minor units. The lines of a journal are inserted by one
-- statement, after which they must balance.
create table journal_lines (
  tenant_id bigint not null,
  journal_id bigint not null,
  line_number integer not null check (line_number > 0),
  ledger_account_id bigint not null,
  -- The component of the bill, where the line is of one.
  component text,
  amount bigint not null,
  primary key (tenant_id, journal_id, line_number),
  foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  foreign key (tenant_id, ledger_account_id)
    references ledger_accounts (tenant_id, ledger_account_id)
);
create index journal_lines_account on journal_lines (tenant_id, ledger_account_id, journal_id);
call wall_off('journal_lines');
grant select, insert on journal_lines to billwright_api, billwright_worker;

create function check_journals_balance() returns trigger
language plpgsql
as $$
declare
  broken bigint;
begin
  select l.journal_id into broken
  from journal_lines l
  join (select distinct tenant_id, journal_id from new_rows) n
    on n.tenant_id = l.tenant_id and n.journal_id = l.journal_id
  group by l.tenant_id, l.journal_id
  having sum(l.amount) <> 0
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

-- One row for each thing that moves what a customer owes (account 2), has paid ahead (3) or has
-- deposited (4), signed like a journal line. Its sums per journal and account are the journal's
-- lines on the control accounts.
create table subledger_entries (
  tenant_id bigint not null references tenants (tenant_id),
  entry_id bigint not null,
  journal_id bigint not null,
  ledger_account_id bigint not null check (ledger_account_id in (2, 3, 4, 10)),
  party_id bigint not null,
  -- Null for money that belongs to the party as a whole.
  subscription_id bigint,
  kind text not null check (kind in (
    'Opening', 'Deposit', 'Bill', 'Surcharge', 'Payment', 'Wallet', 'CreditNote', 'Adjustment',
    'Refund', 'Transfer', 'Reversal'
  )),
  bill_id bigint,
  -- Counts the postings of one bill: a bill that was unposted may be posted again.
  posting smallint not null default 1 check (posting > 0),
  amount bigint not null,
  posting_date date not null,
  due_date date,
  reference text,
  description text,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, entry_id),
  check (ledger_account_id = 3 or subscription_id is not null)
);
create unique index subledger_entries_bill_key
  on subledger_entries (tenant_id, bill_id, subscription_id, posting)
  where kind = 'Bill';
create index subledger_entries_subscription
  on subledger_entries (tenant_id, subscription_id, entry_id) where subscription_id is not null;
create index subledger_entries_party on subledger_entries (tenant_id, party_id, entry_id);
create index subledger_entries_journal on subledger_entries (tenant_id, journal_id);
call wall_off('subledger_entries');
grant select, insert on subledger_entries to billwright_api, billwright_worker;

-- Balances follow from entries, in the order of keys so that two postings do not wait for each
-- other. What an entry names must exist: checked here for all rows of a statement at once, which
-- costs a fraction of a foreign key checked for each row.
create function keep_balances() returns trigger
language plpgsql
as $$
begin
  if exists (
    select from (select distinct tenant_id, journal_id from new_rows) n
    left join journals j on j.tenant_id = n.tenant_id and j.journal_id = n.journal_id
    where j.journal_id is null
  ) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
  end if;
  insert into subscription_balances as b
    (tenant_id, subscription_id, party_id, receivable, deposit, disputed)
  select tenant_id, subscription_id, party_id,
    coalesce(sum(amount) filter (where ledger_account_id = 2), 0),
    coalesce(-sum(amount) filter (where ledger_account_id = 4), 0),
    coalesce(sum(amount) filter (where ledger_account_id = 10), 0)
  from new_rows
  where subscription_id is not null and ledger_account_id in (2, 4, 10)
  group by tenant_id, subscription_id, party_id
  order by tenant_id, subscription_id, party_id
  on conflict (tenant_id, subscription_id, party_id) do update
    set receivable = b.receivable + excluded.receivable,
      deposit = b.deposit + excluded.deposit,
      disputed = b.disputed + excluded.disputed;
  if exists (
    select from new_rows n
    join subscription_balances b on b.tenant_id = n.tenant_id
      and b.subscription_id = n.subscription_id and b.party_id = n.party_id
    where n.ledger_account_id in (4, 10) and (b.deposit < 0 or b.disputed < 0)
  ) then
    raise exception 'more deposit is taken than is held'
      using errcode = 'check_violation', constraint = 'subscription_balances_not_negative';
  end if;
  update parties p
  set wallet_balance = p.wallet_balance - moved.amount
  from (
    select tenant_id, party_id, sum(amount) as amount
    from new_rows
    where ledger_account_id = 3
    group by tenant_id, party_id
    having sum(amount) <> 0
    order by tenant_id, party_id
  ) moved
  where p.tenant_id = moved.tenant_id and p.party_id = moved.party_id;
  return null;
end
$$;
create trigger subledger_entries_balances
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function keep_balances();

create trigger journals_append_only
  before update or delete on journals
  for each row execute function refuse_change();
create trigger journal_lines_append_only
  before update or delete on journal_lines
  for each row execute function refuse_change();
create trigger subledger_entries_append_only
  before update or delete on subledger_entries
  for each row execute function refuse_change();

grant update (wallet_balance) on parties to billwright_worker;

-- For the workspaces that exist.
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    call add_chart_of_accounts(one);
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
