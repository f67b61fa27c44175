-- The day of the newest transfer, by which a term that bills accounts or parties finds the few
-- subscriptions that were somebody else's on its days. The text of a date is cut by hand, because a
-- cast may depend on the session, and such a thing cannot be stored.
alter table subscriptions add column transferred_on date generated always as (
  case when transfers <> '[]' then make_date(
    substr(transfers -> -1 ->> 'transferDate', 1, 4)::integer,
    substr(transfers -> -1 ->> 'transferDate', 6, 2)::integer,
    substr(transfers -> -1 ->> 'transferDate', 9, 2)::integer
  ) end
) stored;
create index subscriptions_transferred on subscriptions (tenant_id, transferred_on)
  where transferred_on is not null;
