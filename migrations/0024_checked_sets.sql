-- Payments, wallets and audit entries name parties and tenants that exist. Foreign keys would check
-- each row by itself, and lock the row of the tenant for every call. These triggers check all rows of
-- a statement at once. Neither parties nor tenants are ever deleted.

-- A clerk's call of one payment keeps the plan of this trigger. Without the limit, which has as many
-- rows as there are, PostgreSQL expects ten rows where there is one, and plans each call anew: that
-- took several times as long as the statements themselves.
create function check_named_parties() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  party_ids bigint[];
begin
  select min(tenant_id), array_agg(distinct party_id) into tenant, party_ids from new_rows;
  if cardinality(party_ids) <> (
    select count(*)
    from (select unnest(party_ids) as party_id limit cardinality(party_ids)) n
    cross join lateral (
      select from parties p where p.tenant_id = tenant and p.party_id = n.party_id offset 0
    ) found
  ) then
    raise exception 'a row names a party that does not exist'
      using errcode = 'foreign_key_violation', constraint = tg_argv[0];
  end if;
  return null;
end
$$;

alter table payments drop constraint payments_tenant_id_party_id_fkey;
create trigger payments_party
  after insert on payments
  referencing new table as new_rows
  for each statement execute function check_named_parties('payments_party_fkey');

alter table party_wallets drop constraint party_wallets_tenant_id_party_id_fkey;
create trigger party_wallets_party
  after insert on party_wallets
  referencing new table as new_rows
  for each statement execute function check_named_parties('party_wallets_party_fkey');

create function check_named_tenants() returns trigger
language plpgsql
as $$
declare
  tenants_named bigint[] := array(select distinct tenant_id from new_rows);
begin
  if cardinality(tenants_named) <> (
    select count(*) from tenants where tenant_id = any(tenants_named)
  ) then
    raise exception 'a row names a tenant that does not exist'
      using errcode = 'foreign_key_violation', constraint = tg_argv[0];
  end if;
  return null;
end
$$;

alter table audit_entries drop constraint audit_entries_tenant_id_fkey;
create trigger audit_entries_tenant
  after insert on audit_entries
  referencing new table as new_rows
  for each statement execute function check_named_tenants('audit_entries_tenant_fkey');
