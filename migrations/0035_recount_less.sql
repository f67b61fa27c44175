-- Most updates of subscriptions change nothing that is counted: the last billed day, above all, of
-- all subscriptions of a term. One look at all of them tells, instead of six. By aggregation and
-- not by a join: its plan is kept, whether it was made for one row or for thousands.
create or replace function recount_subscriptions() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  if not exists (
    select from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, 1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, -1 from old_rows
    ) steps
    group by tenant_id, subscription_id / 1000, context_id, status, is_metered, has_quantities,
      plan_id, add_ons
    having sum(step) <> 0
  ) then
    return null;
  end if;
  for changed in
    select tenant_id, subscription_id / 1000 as block, context_id, status, is_metered,
      has_quantities, sum(step)::bigint as delta
    from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities,
        1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, -1
      from old_rows
    ) steps
    group by 1, 2, 3, 4, 5, 6
    having sum(step) <> 0
    order by 1, 2, 3, 4, 5, 6
  loop
    insert into subscription_counts as c (tenant_id, block, context_id, status, is_metered,
      has_quantities, subscriptions)
    values (changed.tenant_id, changed.block, changed.context_id, changed.status,
      changed.is_metered, changed.has_quantities, greatest(changed.delta, 0))
    on conflict (tenant_id, block, context_id, status, is_metered, has_quantities)
      do update set subscriptions = c.subscriptions + changed.delta;
  end loop;
  perform recount_plan_subscriptions(deltas.tenant_id, deltas.plan_id, deltas.delta)
  from (
    select tenant_id, plan_id, sum(step)::bigint as delta
    from (
      select tenant_id, plan_id, 1 as step
      from new_rows where status in ('Active', 'Disconnected')
      union all
      select tenant_id, plan_id, -1 from old_rows where status in ('Active', 'Disconnected')
      union all
      select n.tenant_id, (a ->> 'planId')::bigint, 1
      from new_rows n, jsonb_array_elements(n.add_ons) a
      where n.add_ons <> '[]' and n.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
      union all
      select o.tenant_id, (a ->> 'planId')::bigint, -1
      from old_rows o, jsonb_array_elements(o.add_ons) a
      where o.add_ons <> '[]' and o.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  ) deltas;
  return null;
end
$$;
