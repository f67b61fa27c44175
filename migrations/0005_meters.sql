-- Meters and their types. A type says which registers its meters have and how each one counts.

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
create unique index meter_types_name_key on meter_types (tenant_id, lower(name));

create table meter_registers (
  tenant_id bigint not null,
  meter_type_id bigint not null,
  position smallint not null check (position > 0),
  register text not null check (register <> ''),
  unit text not null check (unit <> ''),
  -- The use is the difference of two values (Cumulative), the value itself (Interval, Consumptive),
  -- or the highest value of a term (Demand).
  kind text not null check (kind in ('Cumulative', 'Interval', 'Consumptive', 'Demand')),
  time_of_use text,
  -- Digits before and after the point: a counter turns over at 10 to the power of `digits`.
  digits smallint not null check (digits between 1 and 15),
  decimals smallint not null check (decimals between 0 and 6),
  primary key (tenant_id, meter_type_id, position),
  foreign key (tenant_id, meter_type_id) references meter_types (tenant_id, meter_type_id)
);
create unique index meter_registers_register_key
  on meter_registers (tenant_id, meter_type_id, lower(register));

-- The types that every new workspace begins with, for those that exist. Before the wall goes up:
-- behind it the owner, too, sees one tenant at a time.
insert into meter_types
  (tenant_id, meter_type_id, name, utility, phases, prepaid, created_at, created_by)
select w.tenant_id, t.meter_type_id, t.name, t.utility, t.phases, false, now(), 'command line'
from workspaces w
cross join (
  values
    (1, 'Electric single phase', 'Electricity', 1),
    (2, 'Electric three phase TOU', 'Electricity', 3),
    (3, 'Water', 'Water', null),
    (4, 'Gas', 'Gas', null),
    (5, 'Heat / BTU', 'Heat', null)
) as t (meter_type_id, name, utility, phases);

insert into meter_registers (
  tenant_id, meter_type_id, position, register, unit, kind, time_of_use, digits, decimals
)
select w.tenant_id, r.meter_type_id, r.position, r.register, r.unit, r.kind, r.time_of_use,
  r.digits, r.decimals
from workspaces w
cross join (
  values
    (1, 1, 'kWh', 'kWh', 'Cumulative', null, 6, 0),
    (2, 1, 'kWhPeak', 'kWh', 'Cumulative', 'Peak', 6, 0),
    (2, 2, 'kWhOffPeak', 'kWh', 'Cumulative', 'OffPeak', 6, 0),
    (2, 3, 'kW', 'kW', 'Demand', null, 5, 2),
    (3, 1, 'm3', 'm3', 'Cumulative', null, 5, 1),
    (4, 1, 'm3', 'm3', 'Cumulative', null, 5, 0),
    (5, 1, 'kWhT', 'kWh', 'Cumulative', null, 6, 0)
) as r (meter_type_id, position, register, unit, kind, time_of_use, digits, decimals);

do $$
begin
  if (select count(*) from meter_types) <> 5 * (select count(*) from workspaces)
    or (select count(*) from meter_registers) <> 7 * (select count(*) from workspaces)
  then
    raise exception 'a workspace was left without its meter types';
  end if;
end
$$;

call wall_off('meter_types');
call wall_off('meter_registers');
grant select, insert on meter_types, meter_registers to billwright_api;
grant select on meter_types, meter_registers to billwright_worker;

create table meters (
  tenant_id bigint not null references tenants (tenant_id),
  meter_id bigint not null,
  number bigint not null check (number between 1 and 999999999999999),
  brand text not null check (brand <> ''),
  meter_type_id bigint not null,
  purchase_date date not null,
  -- The multiplier factor: use = difference of two readings times this.
  mf integer not null check (mf between 1 and 1000000),
  -- Active hangs somewhere, InActive lies in the store.
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

-- Keeps row_blocks for meters; the live ones are those that hang somewhere.
create function count_meters() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select tenant_id, 'meter', meter_id / 1000, count(*) filter (where status = 'Active'), count(*)
    from new_rows
    group by tenant_id, meter_id / 1000
    order by tenant_id, meter_id / 1000
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
  else
    update row_blocks b
    set live_rows = b.live_rows + changed.live_delta
    from (
      select n.tenant_id, n.meter_id / 1000 as block,
        sum(case when n.status = 'Active' then 1 else -1 end) as live_delta
      from new_rows n
      join old_rows o on o.tenant_id = n.tenant_id and o.meter_id = n.meter_id
      where n.status <> o.status
      group by n.tenant_id, n.meter_id / 1000
    ) changed
    where b.tenant_id = changed.tenant_id and b.kind = 'meter' and b.block = changed.block;
  end if;
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

-- As for parties: outside row-level security, where the trigram index can be used, and naming the
-- tenant themselves.
grant create on schema public to billwright_search;

create function search_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
begin atomic
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text like pattern
    and (wanted_status is null or status = wanted_status);
end;

-- For one or two letters, of which the trigram index knows nothing.
create function scan_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
begin atomic
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (wanted_status is null or status = wanted_status);
end;

alter function search_meters(text, text) owner to billwright_search;
alter function scan_meters(text, text) owner to billwright_search;
revoke all on function search_meters(text, text) from public;
revoke all on function scan_meters(text, text) from public;
grant execute on function search_meters(text, text) to billwright_api;
grant execute on function scan_meters(text, text) to billwright_api;
revoke create on schema public from billwright_search;
