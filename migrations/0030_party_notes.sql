-- What staff notes about a party, and the problems that customers report.

create table party_notes (
  tenant_id bigint not null references tenants (tenant_id),
  note_id bigint not null,
  party_id bigint not null,
  kind text not null check (kind in ('Note', 'Problem')),
  text text not null check (text <> ''),
  is_from_customer boolean not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, note_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on table party_notes is
  'A note of staff on a party, or a problem that a customer reported. Rows are never changed.';
comment on column party_notes.is_from_customer is
  'True if the login of the party wrote it. A customer sees these and no others.';
create index party_notes_party on party_notes (tenant_id, party_id, note_id);
call wall_off('party_notes');
grant select, insert on party_notes to billwright_api;
create trigger party_notes_append_only
  before update or delete on party_notes
  for each row execute function refuse_change();
