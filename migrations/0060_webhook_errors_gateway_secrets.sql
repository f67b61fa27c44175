-- The last error of a webhook, and the secret of a gateway before its last change.

alter table webhooks add column last_error text;
comment on column webhooks.last_error is
  'Why an attempt failed at last_failure_at. It contains nothing of the answer but its status.';
grant update (last_error) on webhooks to billwright_worker;

alter table gateways
  add column old_secret bytea,
  add column old_secret_until timestamptz,
  add constraint gateways_old_secret_check
    check ((old_secret is null) = (old_secret_until is null));
comment on column gateways.old_secret is
  'The secret before the last change. Notices signed with it are accepted until old_secret_until.';
