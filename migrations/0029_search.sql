-- Search over everything: the first few parties and subscriptions whose text begins with, or
-- contains, what was typed. Both stop at the limit, however many there are.

-- The search text begins with the name. More letters than these are not typed.
create index parties_beginning on parties (tenant_id, left(search_text, 60), party_id);

-- A function can only be given to a role that may create in its schema; this is taken back below.
grant create on schema public to billwright_search;

create function first_parties(beginning text, beginning_end text, most integer)
returns setof bigint
language sql stable security definer rows 10
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and left(search_text, 60) >= beginning and left(search_text, 60) <= beginning_end
    and not archived
  order by left(search_text, 60), party_id
  limit most;
$$;
alter function first_parties(text, text, integer) owner to billwright_search;
revoke all on function first_parties(text, text, integer) from public;
grant execute on function first_parties(text, text, integer) to billwright_api;

-- With a limit the planner expects to meet the first rows soon, and would read the table from its
-- beginning. The trigram index is exact for rare and frequent words.
create function some_parties(pattern text, most integer) returns setof bigint
language sql stable security definer rows 10
set search_path = public, pg_temp
set enable_seqscan = off
set enable_indexscan = off
as $$
  select party_id
  from parties
  where tenant_id = require_tenant() and search_text like pattern and not archived
  limit most;
$$;
alter function some_parties(text, integer) owner to billwright_search;
revoke all on function some_parties(text, integer) from public;
grant execute on function some_parties(text, integer) to billwright_api;

-- A word that many parties have is found among the newest ones, without reading the long lists of
-- the trigram index.
create function newest_parties(pattern text, looked_at integer, most integer)
returns setof bigint
language sql stable security definer rows 10
set search_path = public, pg_temp
as $$
  select party_id
  from (
    select party_id, search_text, archived
    from parties
    where tenant_id = require_tenant()
    order by party_id desc
    limit looked_at
  ) newest
  where search_text like pattern and not archived
  limit most;
$$;
alter function newest_parties(text, integer, integer) owner to billwright_search;
revoke all on function newest_parties(text, integer, integer) from public;
grant execute on function newest_parties(text, integer, integer) to billwright_api;

create function some_subscriptions(pattern text, most integer) returns setof bigint
language sql stable security definer rows 10
set search_path = public, pg_temp
set enable_seqscan = off
set enable_indexscan = off
as $$
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  limit most;
$$;
alter function some_subscriptions(text, integer) owner to billwright_search;
revoke all on function some_subscriptions(text, integer) from public;
grant execute on function some_subscriptions(text, integer) to billwright_api;

revoke create on schema public from billwright_search;
