-- Personal data of a former customer, erased on request.

alter table parties add erased_on date;
comment on column parties.erased_on is
  'The local date on which the personal data of the party was erased. The party stays archived.';

-- A note is never changed; the notes on a party are deleted when the party is erased.
create function refuse_note_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    if is_ending(old.tenant_id) then
      return old;
    end if;
    if not is_program() and exists (
      select from parties
      where tenant_id = old.tenant_id and party_id = old.party_id and erased_on is not null
    ) then
      return old;
    end if;
  end if;
  raise exception 'party_notes is append-only' using errcode = 'insufficient_privilege';
end
$$;
drop trigger party_notes_append_only on party_notes;
create trigger party_notes_append_only
  before update or delete on party_notes
  for each row execute function refuse_note_change();

-- What is erased stays erased.
create function keep_erased() returns trigger
language plpgsql
as $$
begin
  if new.erased_on is distinct from old.erased_on or not new.archived or new.email is not null
    or new.address is not null or new.identity_number is not null or new.contacts <> '[]' then
    raise exception 'an erased party stays erased'
      using errcode = 'check_violation', constraint = 'parties_stay_erased';
  end if;
  return new;
end
$$;
create trigger parties_stay_erased
  before update on parties
  for each row when (old.erased_on is not null)
  execute function keep_erased();

-- Erases the personal data of an archived party of the transaction's workspace, and returns how
-- many rows of each kind it changed or deleted. Bills, documents, journals and audit entries stay.
create function erase_party(wanted_party bigint, on_date date, by_name text, at timestamptz)
returns jsonb
language plpgsql volatile security definer
set search_path = public, pg_temp
as $$
declare
  tenant bigint := require_tenant();
  found_number bigint;
  login_ids bigint[];
  counts jsonb := '{}';
  changed integer;
begin
  update parties
  set name = 'Erased party ' || party_number, search_text = '', email = null, country = null,
    contacts = '[]', identity_number = null, tax_number = null, address = null, language = null,
    competencies = '[]', delivery_channels = null, portal_status = 'NONE', erased_on = on_date,
    modified_at = at, modified_by = by_name,
    ts = greatest(ts + 1, (extract(epoch from at) * 1000)::bigint)
  where tenant_id = require_tenant() and party_id = wanted_party and archived and erased_on is null
  returning party_number into found_number;
  if found_number is null then
    raise exception 'party % is not archived, or is erased', wanted_party;
  end if;

  update billing_accounts set label = 'Account ' || account_id
  where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('accounts', changed);

  delete from party_notes where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('notes', changed);

  delete from bank_payers where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('payers', changed);

  update notices
  set recipient = '', subject = '', body = '', facts = '{}',
    status = case when status in ('Queued', 'Sending') then 'Failed' else status end,
    reason = case when status in ('Queued', 'Sending') then 'The party was erased' end
  where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('notices', changed);

  select array_agg(login_id) into login_ids
  from logins where tenant_id = tenant and party_id = wanted_party;
  delete from login_links where tenant_id = tenant and login_id = any(login_ids);
  delete from login_factors where tenant_id = tenant and login_id = any(login_ids);
  delete from login_names where tenant_id = tenant and login_id = any(login_ids);
  delete from sessions where tenant_id = tenant and login_id = any(login_ids);
  -- No text has this hash: no password opens the login.
  update logins
  set username = 'erased-' || login_id, email = null, name = 'Erased', password_hash = '!',
    status = 'INACTIVE', modified_at = at, modified_by = by_name,
    ts = greatest(ts + 1, (extract(epoch from at) * 1000)::bigint)
  where tenant_id = tenant and login_id = any(login_ids);
  get diagnostics changed = row_count;
  return counts || jsonb_build_object('logins', changed);
end
$$;
revoke all on function erase_party(bigint, date, text, timestamptz) from public;
grant execute on function erase_party(bigint, date, text, timestamptz) to billwright_api;
