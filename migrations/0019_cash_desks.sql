-- Cash desks, their receipts and closed days; cheques and when the bank paid them.

create table cash_desks (
  tenant_id bigint not null references tenants (tenant_id),
  cash_desk_id bigint not null,
  code text not null check (code <> ''),
  name text not null check (name <> ''),
  cash_account_id bigint not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, cash_desk_id),
  constraint cash_desks_code_key unique (tenant_id, code),
  foreign key (tenant_id, cash_account_id)
    references ledger_accounts (tenant_id, ledger_account_id)
);
comment on table cash_desks is
  'A place where cashiers take money and give receipts. Its money is on a ledger account.';
create index cash_desks_account on cash_desks (tenant_id, cash_account_id);
call wall_off('cash_desks');
grant select, insert on cash_desks to billwright_api, billwright_worker;
-- A payment shares the lock of its desk; closing a day takes it alone.
grant update (name) on cash_desks to billwright_api, billwright_worker;

create table receipts (
  tenant_id bigint not null,
  payment_id bigint not null,
  cash_desk_id bigint not null,
  desk_date date not null,
  receipt_number text not null,
  series_id integer not null,
  series_number bigint not null,
  primary key (tenant_id, payment_id),
  constraint receipts_number_key unique (tenant_id, receipt_number),
  constraint receipts_series_key unique (tenant_id, series_id, series_number),
  foreign key (tenant_id, payment_id) references payments (tenant_id, payment_id),
  foreign key (tenant_id, cash_desk_id) references cash_desks (tenant_id, cash_desk_id)
);
comment on table receipts is
  'The receipt of a payment at a cash desk. Numbers are gapless for each desk and year; the receipt '
  'of a reversed payment keeps its number and is void.';
comment on column receipts.desk_date is 'The day on which the desk took the money.';
create index receipts_day on receipts (tenant_id, cash_desk_id, desk_date);
call wall_off('receipts');
grant select, insert on receipts to billwright_api, billwright_worker;
create trigger receipts_append_only
  before update or delete on receipts
  for each row execute function refuse_change();

create table cash_desk_days (
  tenant_id bigint not null,
  cash_desk_id bigint not null,
  desk_date date not null,
  counted jsonb not null,
  difference bigint not null,
  journal_id bigint,
  reason text,
  closed_at timestamptz not null,
  closed_by text not null,
  primary key (tenant_id, cash_desk_id, desk_date),
  foreign key (tenant_id, cash_desk_id) references cash_desks (tenant_id, cash_desk_id),
  check (difference = 0 or (reason <> '' and journal_id is not null))
);
comment on table cash_desk_days is
  'A day of a cash desk that was counted and closed: no payment is taken there on that day again.';
comment on column cash_desk_days.counted is
  'By payment method, in minor units: what was expected and what was counted.';
comment on column cash_desk_days.difference is
  'Counted less expected, in minor units; booked on the account for cash differences.';
call wall_off('cash_desk_days');
grant select, insert on cash_desk_days to billwright_api, billwright_worker;

create table cheques (
  tenant_id bigint not null,
  payment_id bigint not null,
  party_id bigint not null,
  cheque_number text,
  cleared_date date,
  cleared_by text,
  primary key (tenant_id, payment_id),
  foreign key (tenant_id, payment_id) references payments (tenant_id, payment_id)
);
comment on table cheques is
  'A payment by cheque. Until the bank has paid it, its money is not paid back to the party.';
create index cheques_uncleared on cheques (tenant_id, party_id) where cleared_date is null;
call wall_off('cheques');
grant select, insert on cheques to billwright_api, billwright_worker;
grant update (cleared_date, cleared_by) on cheques to billwright_api, billwright_worker;

grant select, insert on number_series to billwright_api;
grant update (last_number) on number_series to billwright_api;
