-- Lists and searches of a workspace with a million parties and subscriptions.

-- The subscriptions of a batch are counted without reading their rows.
drop index subscriptions_batch;
create index subscriptions_batch on subscriptions (tenant_id, batch_id, subscription_id)
  include (context_id, status);

-- What many parties have, and none of the newest: the beginning of a phone number that was given
-- out years ago. It is looked for among a few neighbours at many places. Where there are fewer
-- parties than that, some are looked at twice.
grant create on schema public to billwright_search;
create function spread_parties(pattern text, places integer, looked_at integer, most integer)
returns setof bigint
language sql stable security definer rows 10
set search_path = public, pg_temp
as $$
  select near.party_id
  from (
    select min(party_id) as first_id, max(party_id) as last_id
    from parties
    where tenant_id = require_tenant()
  ) ids
  cross join generate_series(0, places - 1) as place (number)
  cross join lateral (
    select party_id, search_text, archived
    from parties
    where tenant_id = require_tenant()
      and party_id >= ids.first_id + (ids.last_id - ids.first_id) * place.number / places
    order by party_id
    limit looked_at
  ) near
  where near.search_text like pattern and not near.archived
  limit most;
$$;
alter function spread_parties(text, integer, integer, integer) owner to billwright_search;
revoke all on function spread_parties(text, integer, integer, integer) from public;
grant execute on function spread_parties(text, integer, integer, integer) to billwright_api;
revoke create on schema public from billwright_search;
