-- Months of the ledger that are closed.

create table ledger_months (
  tenant_id bigint not null references tenants (tenant_id),
  month date not null check (extract(day from month) = 1),
  is_closed boolean not null,
  export_hashes jsonb not null default '{}',
  year_end_journal_id bigint,
  reason text not null check (reason <> ''),
  changed_at timestamptz not null,
  changed_by text not null,
  primary key (tenant_id, month)
);
comment on table ledger_months is
  'A month of the ledger that was closed, or opened again. Months are closed one after the other, '
  'so that the first open day says all.';
comment on column ledger_months.month is 'Its first day.';
comment on column ledger_months.export_hashes is
  'By format, the hash of the first export after closing: every later one has the same bytes.';
comment on column ledger_months.year_end_journal_id is
  'The journal that carried the result of the year forward, where that was asked for.';
call wall_off('ledger_months');
grant select, insert, update on ledger_months to billwright_api, billwright_worker;

-- Every booking shares this lock until its transaction ends; closing and opening a month take it
-- alone. So no booking is under way in a month while it is closed.
create function lock_months(wanted_tenant bigint, is_alone boolean) returns void
language plpgsql
as $$
declare
  lock_key bigint := hashtextextended('ledger months', wanted_tenant);
begin
  if is_alone then
    perform pg_advisory_xact_lock(lock_key);
  else
    perform pg_advisory_xact_lock_shared(lock_key);
  end if;
end
$$;

create function check_journals_month() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  first_day date;
begin
  select min(tenant_id), min(posting_date) into tenant, first_day from new_rows;
  if first_day is null then
    return null;
  end if;
  perform lock_months(tenant, false);
  if exists (
    select from ledger_months
    where tenant_id = tenant and is_closed and month >= date_trunc('month', first_day)
  ) then
    raise exception 'a journal is posted in a month that is closed'
      using errcode = 'check_violation', constraint = 'journals_month_open';
  end if;
  return null;
end
$$;
create trigger journals_month
  after insert on journals
  referencing new table as new_rows
  for each statement when (is_program()) execute function check_journals_month();

-- An account can be renamed; its code and kind stay.
grant update (name) on ledger_accounts to billwright_api;
