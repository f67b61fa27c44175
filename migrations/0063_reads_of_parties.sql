-- Whether the workspace keeps who opened the details of a party.

alter table tenants add column logs_party_reads boolean not null default false;
comment on column tenants.logs_party_reads is
  'Whether each opening of the details of a party is kept in the audit trail.';
