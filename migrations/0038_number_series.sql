-- Numbers that people see are gapless in their series. The key of a series is what its format
-- prints without the counter: ELEC-2026- of ELEC-2026-000017.
create table number_series (
  tenant_id bigint not null references tenants,
  series_id integer not null,
  kind text not null check (kind in ('Bill', 'CreditNote')),
  series_key text not null,
  -- The first number that the series is gapless from: above 1 where numbers were given before.
  first_number bigint not null default 1 check (first_number >= 1),
  last_number bigint not null check (last_number >= first_number - 1),
  primary key (tenant_id, series_id),
  unique (tenant_id, kind, series_key)
);
call wall_off('number_series');
grant select, insert on number_series to billwright_worker;
grant update (last_number) on number_series to billwright_worker;

-- Null for numbers that were given before there were series.
alter table bill_numbers
  add series_id integer,
  add series_number bigint,
  add constraint bill_numbers_series check (num_nulls(series_id, series_number) in (0, 2));
alter table credit_notes
  add series_id integer,
  add series_number bigint,
  add constraint credit_notes_series check (num_nulls(series_id, series_number) in (0, 2));

-- A series goes on after the highest number that was printed with its key. A posting that was
-- interrupted sets its numbers aside again.
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    insert into number_series
      (tenant_id, series_id, kind, series_key, first_number, last_number)
    select one, row_number() over (order by n.series_key), 'Bill', n.series_key, n.last + 1, n.last
    from (
      select regexp_replace(bill_number, '[0-9]+$', '') as series_key,
        max(substring(bill_number from '[0-9]{1,18}$')::bigint) as last
      from bill_numbers
      where tenant_id = one and bill_number ~ '[0-9]$'
      group by 1
    ) n;
    insert into counters (tenant_id, series, last_number)
    select one, 'number-series', count(*) from number_series where tenant_id = one
    having count(*) > 0;
    delete from counters where tenant_id = one and series = 'bill-number';
    update bill_runs set reserved = null
    where tenant_id = one and reserved is not null and term_id in (
      select term_id from terms where tenant_id = one and stage = 'Posting'
    );
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
