-- Lists that read all there is for a page of it.

-- Few are rejected, and they were looked for among all.
create index readings_rejected on readings (tenant_id, reading_id) where status = 'Rejected';

-- Thousands that were imported at once have one time: they are told apart by their ids, as
-- subscriptions and meters are.
drop index parties_updated;
create index parties_updated on parties (tenant_id, ts, party_id);

-- It looks at every party and every subscription: to look up one for each of the other, or to walk
-- both in the order of an index, reads five to thirteen times as much as to read each once.
alter function scan_subscriptions(text) set enable_nestloop to off;
alter function scan_subscriptions(text) set enable_mergejoin to off;
