-- Meters and their types, installations at subscriptions, and readings.

create table meter_types (
  tenant_id bigint not null references tenants (tenant_id),
  meter_type_id bigint not null,
  name text not null check (name <> ''),
  utility text not null check (utility <> ''),
  phases smallint check (phases between 1 and 3),
  prepaid boolean not null default false,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, meter_type_id)
);
comment on table meter_types is 'A type of meter. It defines the registers of its meters.';
create unique index meter_types_name_key on meter_types (tenant_id, lower(name));
call wall_off('meter_types');
grant select, insert on meter_types to billwright_api;
grant select on meter_types to billwright_worker;

create table meter_registers (
  tenant_id bigint not null,
  meter_type_id bigint not null,
  position smallint not null check (position > 0),
  register text not null check (register <> ''),
  unit text not null check (unit <> ''),
  kind text not null check (kind in ('Cumulative', 'Interval', 'Consumptive', 'Demand')),
  time_of_use text,
  digits smallint not null check (digits between 1 and 15),
  decimals smallint not null check (decimals between 0 and 6),
  primary key (tenant_id, meter_type_id, position),
  foreign key (tenant_id, meter_type_id) references meter_types (tenant_id, meter_type_id)
);
comment on table meter_registers is 'A register that the meters of a type have, and how it counts.';
comment on column meter_registers.kind is
  'Usage is the difference of two values (Cumulative), the value itself (Interval, Consumptive), '
  'or the highest value of a term (Demand).';
comment on column meter_registers.digits is
  'Digits before the point: a counter rolls over at 10 to the power of digits.';
comment on column meter_registers.decimals is 'Digits after the point.';
create unique index meter_registers_register_key
  on meter_registers (tenant_id, meter_type_id, lower(register));
call wall_off('meter_registers');
grant select, insert on meter_registers to billwright_api;
grant select on meter_registers to billwright_worker;

create table meters (
  tenant_id bigint not null references tenants (tenant_id),
  meter_id bigint not null,
  number bigint not null check (number between 1 and 999999999999999),
  brand text not null check (brand <> ''),
  meter_type_id bigint not null,
  purchase_date date not null,
  mf integer not null check (mf between 1 and 1000000),
  status text not null default 'InActive' check (status in ('Active', 'InActive')),
  health text not null default 'ok'
    check (health in ('ok', 'faulty', 'stopped', 'tampered', 'lost', 'retired')),
  search_text text not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, meter_id),
  constraint meters_number_key unique (tenant_id, number) include (meter_id),
  constraint meters_type_fkey foreign key (tenant_id, meter_type_id)
    references meter_types (tenant_id, meter_type_id),
  constraint meters_retired_is_inactive check (health <> 'retired' or status = 'InActive')
);
comment on table meters is 'A meter, installed or in store.';
comment on column meters.mf is
  'The multiplier factor: usage is the difference of two readings times this.';
comment on column meters.status is 'Active: installed. InActive: in store.';
-- Each ends with the id, so that a page deep in a list is found in the index alone.
create index meters_status on meters (tenant_id, status, meter_id);
create index meters_mf on meters (tenant_id, mf, meter_id);
create index meters_type on meters (tenant_id, meter_type_id, meter_id);
create index meters_purchased on meters (tenant_id, purchase_date, meter_id);
create index meters_updated on meters (tenant_id, ts, meter_id);
create index meters_brand on meters (tenant_id, brand);
create index meters_search on meters using gin (tenant_id, search_text gin_trgm_ops);
call wall_off('meters');
grant select, insert, update on meters to billwright_api;
grant select on meters to billwright_worker, billwright_search;
-- A job that ends a subscription removes its meters.
grant update on meters to billwright_worker;

-- Keeps row_blocks for meters; the live ones are those that are installed.
create function count_meters() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  if tg_op = 'INSERT' then
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select tenant_id, 'meter', meter_id / 1000, count(*) filter (where status = 'Active'), count(*)
    from new_rows
    group by tenant_id, meter_id / 1000
    order by tenant_id, meter_id / 1000
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
    return null;
  end if;
  for changed in
    select tenant_id, meter_id / 1000 as block, sum(step) as delta
    from (
      select tenant_id, meter_id, 1 as step from new_rows where status = 'Active'
      union all
      select tenant_id, meter_id, -1 from old_rows where status = 'Active'
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  loop
    update row_blocks set live_rows = live_rows + changed.delta
    where tenant_id = changed.tenant_id and kind = 'meter' and block = changed.block;
  end loop;
  return null;
end
$$;
create trigger meters_counted_on_insert
  after insert on meters
  referencing new table as new_rows
  for each statement execute function count_meters();
create trigger meters_counted_on_update
  after update on meters
  referencing old table as old_rows new table as new_rows
  for each statement execute function count_meters();

create table meter_assignments (
  tenant_id bigint not null references tenants (tenant_id),
  assignment_id bigint not null,
  meter_id bigint not null,
  subscription_id bigint not null,
  install_date date not null,
  mf integer not null check (mf >= 1),
  remove_date date,
  removal_reason text,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, assignment_id),
  foreign key (tenant_id, meter_id) references meters (tenant_id, meter_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id),
  check (remove_date >= install_date),
  constraint meter_assignments_one_place exclude using gist (
    tenant_id with =, meter_id with =, daterange(install_date, remove_date) with &&
  )
);
comment on table meter_assignments is
  'An installation: a meter at a subscription from one date to another. Two installations of a '
  'meter share no day, and at most one is open.';
comment on column meter_assignments.mf is
  'The multiplier factor during the installation: that of the meter may change after its removal.';
comment on column meter_assignments.remove_date is
  'The first day on which it is no longer installed.';
create unique index meter_assignments_open_key on meter_assignments (tenant_id, meter_id)
  where remove_date is null;
-- The installations of a meter, in the order of their dates.
create index meter_assignments_meter on meter_assignments (tenant_id, meter_id, install_date);
create index meter_assignments_subscription
  on meter_assignments (tenant_id, subscription_id, assignment_id);
call wall_off('meter_assignments');
grant select, insert, update on meter_assignments to billwright_api, billwright_worker;
grant select on meter_assignments to billwright_search;

create table assignment_registers (
  tenant_id bigint not null,
  assignment_id bigint not null,
  position smallint not null,
  subscription_id bigint not null,
  input text,
  primary key (tenant_id, assignment_id, position),
  foreign key (tenant_id, assignment_id) references meter_assignments (tenant_id, assignment_id)
);
comment on table assignment_registers is
  'A register of an installed meter, and the metered input of the pricing context that it '
  'measures.';
comment on column assignment_registers.position is 'Of meter_registers.';
comment on column assignment_registers.input is
  'Null: the register is read but measures nothing that is billed.';
create index assignment_registers_subscription
  on assignment_registers (tenant_id, subscription_id, assignment_id, position);
call wall_off('assignment_registers');
grant select, insert, update on assignment_registers to billwright_api, billwright_worker;

create table readings (
  tenant_id bigint not null,
  reading_id bigint not null,
  assignment_id bigint not null,
  position smallint not null,
  reading_date date not null,
  reading_time time,
  value numeric not null check (value >= 0),
  reading_type text not null check (reading_type in (
    'Actual', 'Customer', 'Estimated', 'Installation', 'Removal', 'Final', 'Check', 'Automatic'
  )),
  status text not null check (status in ('Accepted', 'Review', 'Rejected')),
  rejected_id bigint generated always as (case when status = 'Rejected' then reading_id end) stored,
  rollover boolean not null default false,
  consumption numeric,
  days integer,
  flags text[] not null default '{}',
  source text,
  remark text,
  image_url text,
  external_reference text,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, reading_id),
  foreign key (tenant_id, assignment_id, position)
    references assignment_registers (tenant_id, assignment_id, position)
);
comment on table readings is
  'A reading of a register. Locked and Billed are not stored here: a term that takes a reading '
  'has a row in term_readings, and such a reading can neither be changed nor rejected.';
comment on column readings.rollover is
  'The register passed its highest value since the previous reading.';
comment on column readings.consumption is
  'Since the previous reading, with the multiplier factor. Null if there is none.';
comment on column readings.flags is 'Why it is under review: High, Low, Decreased.';
-- Finds the readings of a register in the order of days, and refuses the same one twice, unless it
-- was rejected.
create unique index readings_register_key on readings (
  tenant_id, assignment_id, position, reading_date, reading_type, reading_time, rejected_id
) nulls not distinct;
create index readings_review on readings (tenant_id, reading_id) where status = 'Review';
-- Readings arrive in the order of their days. Besides, the planner would use a tree by day to find
-- the readings of one register on a day, among a hundred thousand of that day.
create index readings_date on readings using brin (tenant_id, reading_date)
  with (autosummarize = on);
create unique index readings_external_key on readings (tenant_id, external_reference)
  where external_reference is not null and status <> 'Rejected';
-- Few are rejected.
create index readings_rejected on readings (tenant_id, reading_id) where status = 'Rejected';
call wall_off('readings');
grant select, insert, update on readings to billwright_api, billwright_worker;

-- Keeps row_blocks for readings: a list of all of them knows its total and its pages by these.
create function count_readings() returns trigger
language plpgsql
as $$
begin
  insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
  select tenant_id, 'reading', reading_id / 1000, count(*), count(*)
  from new_rows
  group by tenant_id, reading_id / 1000
  order by tenant_id, reading_id / 1000
  on conflict (tenant_id, kind, block) do update
    set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
  return null;
end
$$;
create trigger readings_counted_on_insert
  after insert on readings
  referencing new table as new_rows
  for each statement execute function count_readings();

-- A function can only be given to a role that may create in its schema; this is taken back below.
grant create on schema public to billwright_search;

-- As for parties: without row-level security, where the trigram index can be used, and naming the
-- tenant themselves.
create function search_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
as $$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text like pattern
    and (wanted_status is null or status = wanted_status);
$$;
alter function search_meters(text, text) owner to billwright_search;
revoke all on function search_meters(text, text) from public;
grant execute on function search_meters(text, text) to billwright_api;

-- For one or two letters, which the trigram index does not support.
create function scan_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
as $$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (wanted_status is null or status = wanted_status);
$$;
alter function scan_meters(text, text) owner to billwright_search;
revoke all on function scan_meters(text, text) from public;
grant execute on function scan_meters(text, text) to billwright_api;

-- As for parties: without row-level security, where the trigram indexes can be used, and naming the
-- tenant themselves. The owner's name and the meter's number are searched in their own tables, so
-- that results are never outdated.
create function search_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
as $$
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  union
  select s.subscription_id
  from parties p
  join subscriptions s on s.tenant_id = require_tenant() and s.party_id = p.party_id
  where p.tenant_id = require_tenant()
    and p.search_text like pattern
    and split_part(p.search_text, E'\n', 1) like pattern
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.search_text like pattern
    and m.number::text like pattern;
$$;
alter function search_subscriptions(text) owner to billwright_search;
revoke all on function search_subscriptions(text) from public;
grant execute on function search_subscriptions(text) to billwright_api;

-- For one or two letters, which the trigram index does not support.
create function scan_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
-- By other joins it would read 5 to 13 times as much.
set enable_nestloop = off
set enable_mergejoin = off
as $$
  select s.subscription_id
  from subscriptions s
  join parties p on p.tenant_id = require_tenant() and p.party_id = s.party_id
  where s.tenant_id = require_tenant()
    and (s.search_text || '' like pattern
      or split_part(p.search_text, E'\n', 1) like pattern)
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.number::text like pattern;
$$;
alter function scan_subscriptions(text) owner to billwright_search;
revoke all on function scan_subscriptions(text) from public;
grant execute on function scan_subscriptions(text) to billwright_api;

revoke create on schema public from billwright_search;
