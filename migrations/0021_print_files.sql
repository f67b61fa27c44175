-- Bills merged into one file for the printer. Like the document of a bill, a file is rendered from
-- frozen parts, so that any server can make it; what it must hash to is kept here. Its bills are
-- the deliveries of the range that name it.
create table print_files (
  tenant_id bigint not null,
  -- The job that wrote it; it numbers its files from 1.
  job_id bigint not null,
  part integer not null check (part > 0),
  term_id bigint not null,
  name text not null,
  first_delivery_id bigint not null,
  last_delivery_id bigint not null,
  bills integer not null check (bills > 0),
  size bigint not null check (size > 0),
  sha256 bytea not null check (length(sha256) = 32),
  edition text not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, job_id, part),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
create index print_files_term on print_files (tenant_id, term_id, job_id, part);
call wall_off('print_files');
grant select on print_files to billwright_api;
grant select, insert on print_files to billwright_worker;
