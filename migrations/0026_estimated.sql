-- How the readings of a term were posted last: where it was by estimates, a bill without a reading
-- says that none could be made.
alter table terms add column is_estimated boolean not null default false;
