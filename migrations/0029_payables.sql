-- What the workspace buys, or pays to employees, it owes: an account for that, and one for what it
-- costs. Their ids are far above what the numbers of a workspace's own accounts come to.
create or replace procedure add_chart_of_accounts(wanted_tenant bigint)
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
    (wanted_tenant, 10, 'DISPUTED', 'Disputed', 'Asset', true),
    (wanted_tenant, 1000001, 'PAYABLE', 'Payable', 'Liability', true),
    (wanted_tenant, 1000002, 'EXPENSE', 'Expense', 'Expense', false);
  insert into counters (tenant_id, series, last_number)
  values (wanted_tenant, 'ledger-account', 10);
end;

do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    -- A component may have opened an account of that name before.
    insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind, is_control)
    select one, n.id,
      case when exists (
        select from ledger_accounts a where a.tenant_id = one and a.code = n.code
      ) then n.code || ' ' || n.id else n.code end,
      n.name, n.kind, n.is_control
    from (values
      (1000001, 'PAYABLE', 'Payable', 'Liability', true),
      (1000002, 'EXPENSE', 'Expense', 'Expense', false)
    ) as n (id, code, name, kind, is_control);
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;

alter table subledger_entries
  drop constraint subledger_entries_ledger_account_id_check,
  add constraint subledger_entries_ledger_account_id_check
    check (ledger_account_id in (2, 3, 4, 10, 1000001));

-- A subscription has its open items on one of two accounts: above zero the party owes them, below
-- zero the workspace does.
create or replace function keep_balances() returns trigger
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
    coalesce(sum(amount) filter (where ledger_account_id in (2, 1000001)), 0),
    coalesce(-sum(amount) filter (where ledger_account_id = 4), 0),
    coalesce(sum(amount) filter (where ledger_account_id = 10), 0)
  from new_rows
  where subscription_id is not null and ledger_account_id in (2, 4, 10, 1000001)
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
