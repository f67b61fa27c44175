-- A bill knows of payments up to the moment in which it was generated, not up to the day on which
-- it is issued: the note that workspaces begin with says so.
create or replace procedure add_default_templates(wanted_tenant bigint, at timestamptz, by_name text)
language sql
begin atomic
  insert into templates (tenant_id, template_id, kind, version,
    created_at, created_by, modified_at, modified_by, ts)
  values
    (wanted_tenant, 1, 'Invoice', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000)),
    (wanted_tenant, 2, 'Email', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000));
  insert into template_versions (tenant_id, template_id, version, name, language, subject, body,
    created_at, created_by)
  values
    (wanted_tenant, 1, 1, 'Bill', 'en', null,
      E'Please quote the reference {{bill.billRefNo}} with your payment.\n'
      || E'Payments that came in after this bill was drawn up are shown on the next one.\n',
      at, by_name),
    (wanted_tenant, 2, 1, 'Bill by e-mail', 'en', 'Your bill {{bill.billNumber}}',
      E'Dear {{bill.partyName}},\n\nyour bill {{bill.billNumber}} of {{bill.termLabel}} is attached. '
      || E'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.\n',
      at, by_name);
  insert into counters (tenant_id, series, last_number) values (wanted_tenant, 'template', 2);
end;

-- A template that still has the old sentence gets the new one as its next version. Row-level
-- security binds the owner too: each workspace is entered in turn.
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    insert into template_versions (tenant_id, template_id, version, name, language, subject, body,
      created_at, created_by)
    select t.tenant_id, t.template_id, t.version + 1, v.name, v.language, v.subject,
      replace(v.body, 'Payments after {{bill.issueDate}} are not shown on this bill.',
        'Payments that came in after this bill was drawn up are shown on the next one.'),
      now(), 'migration'
    from templates t
    join template_versions v
      on v.tenant_id = t.tenant_id and v.template_id = t.template_id and v.version = t.version
    where t.tenant_id = one and t.template_id = 1 and t.kind = 'Invoice'
      and v.body like '%Payments after {{bill.issueDate}} are not shown on this bill.%';
    update templates t
    set version = t.version + 1, modified_at = now(), modified_by = 'migration', ts = t.ts + 1
    where t.tenant_id = one and t.template_id = 1
      and exists (
        select from template_versions v
        where v.tenant_id = t.tenant_id and v.template_id = t.template_id
          and v.version = t.version + 1
      );
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
