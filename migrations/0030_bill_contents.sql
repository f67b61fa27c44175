-- The document and the frozen inputs of a bill are written once, and its other columns again
-- whenever it is posted, published or paid. In a table of their own they are one row, where before
-- they were two pieces beside the row of the bill, each found by an index: making a bill costs
-- PostgreSQL half as much. Who writes a bill writes both; `verify` misses what is missing.
create table bill_contents (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  document json not null,
  frozen json not null,
  primary key (tenant_id, bill_id)
)
-- Neither cut into pieces nor compressed, unless a page does not hold it.
with (toast_tuple_target = 8160);
alter table bill_contents
  alter document set storage external,
  alter frozen set storage external;
call wall_off('bill_contents');
alter policy tenant_wall on bill_contents using (tenant_id = (select current_tenant()));

do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    insert into bill_contents (tenant_id, bill_id, document, frozen)
    select one, bill_id, document, frozen from bills where tenant_id = one order by bill_id;
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;

grant select, insert, delete on bill_contents to billwright_worker;
grant select, delete on bill_contents to billwright_api;
grant insert (bill_id, document, frozen) on bill_contents to billwright_bulk;

-- What a bill says stays as it was written, and goes only with the bill.
create function keep_bill_contents() returns trigger
language plpgsql
as $$
begin
  if exists (
    select from gone
    join bills b on b.tenant_id = gone.tenant_id and b.bill_id = gone.bill_id
  ) then
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
create trigger bill_contents_fixed
  before update on bill_contents
  for each row
  execute function refuse_change();

create or replace function keep_posted_bills() returns trigger
language plpgsql
as $$
begin
  if old.hash <> new.hash or old.bill_amount <> new.bill_amount
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

drop view bill_lines;
alter table bills drop column document, drop column frozen;
alter table bills reset (toast_tuple_target);
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
