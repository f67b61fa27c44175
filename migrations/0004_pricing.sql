-- Prices: templates of documents, pricing contexts with their batches and bank accounts, plans.
-- Contexts, plans and templates are versioned: a saved version never changes.

create table templates (
  tenant_id bigint not null references tenants (tenant_id),
  template_id bigint not null,
  kind text not null check (kind in ('Invoice', 'Email', 'SMS')),
  version integer not null check (version > 0),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, template_id)
);
comment on table templates is
  'A template of a bill or of a message, with the number of its newest version.';
comment on column templates.version is 'The newest version.';
call wall_off('templates');
grant select, insert, update on templates to billwright_api;
grant select on templates to billwright_worker;

create table template_versions (
  tenant_id bigint not null,
  template_id bigint not null,
  version integer not null check (version > 0),
  name text not null check (name <> ''),
  language text not null,
  subject text,
  body text not null,
  translations jsonb not null default '[]' check (jsonb_typeof(translations) = 'array'),
  second_language text check (second_language in ('en', 'ur', 'ar', 'hi')),
  amount_in_words boolean not null default false,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, template_id, version),
  foreign key (tenant_id, template_id) references templates (tenant_id, template_id)
);
comment on table template_versions is
  'A saved version of a template. Rows are never changed: a change is a further version.';
comment on column template_versions.translations is
  'The same text in other languages: [{language, subject, body}].';
comment on column template_versions.second_language is
  'Labels of the bill are printed in this language too.';
call wall_off('template_versions');
grant select, insert on template_versions to billwright_api;
grant select on template_versions to billwright_worker;

create trigger template_versions_append_only
  before update or delete on template_versions
  for each row execute function refuse_change();

-- The templates of a new workspace: template 1 prints bills, template 2 is the mail around them.
-- The body of a bill's template is printed as notes below the figures. A bill includes payments up
-- to the moment it was generated, not up to its issue date: its note says so.
create procedure add_default_templates(wanted_tenant bigint, at timestamptz, by_name text)
language sql
as $$
  insert into templates (tenant_id, template_id, kind, version,
    created_at, created_by, modified_at, modified_by, ts)
  values
    (wanted_tenant, 1, 'Invoice', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000)),
    (wanted_tenant, 2, 'Email', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000));
  insert into template_versions (tenant_id, template_id, version, name, language, subject, body,
    translations, created_at, created_by)
  values
    (wanted_tenant, 1, 1, 'Bill', 'en', null,
      E'Please quote the reference {{bill.billRefNo}} with your payment.\n'
      || E'Payments that came in after this bill was drawn up are shown on the next one.\n',
      jsonb_build_array(
        jsonb_build_object('language', 'ur', 'subject', null, 'body',
          E'ادائیگی کے ساتھ حوالہ نمبر {{bill.billRefNo}} ضرور لکھیں۔\n'
          || E'اس بل کی تیاری کے بعد ملنے والی رقوم اگلے بل میں دکھائی جائیں گی۔\n'),
        jsonb_build_object('language', 'ar', 'subject', null, 'body',
          E'يرجى ذكر المرجع {{bill.billRefNo}} عند الدفع.\n'
          || E'تظهر المدفوعات الواردة بعد إعداد هذه الفاتورة في الفاتورة التالية.\n'),
        jsonb_build_object('language', 'hi', 'subject', null, 'body',
          E'कृपया भुगतान के साथ संदर्भ {{bill.billRefNo}} लिखें।\n'
          || E'इस बिल के बनने के बाद मिले भुगतान अगले बिल में दिखाए जाएँगे।\n')
      ),
      at, by_name),
    (wanted_tenant, 2, 1, 'Bill by e-mail', 'en', 'Your bill {{bill.billNumber}}',
      E'Dear {{bill.partyName}},\n\nyour bill {{bill.billNumber}} of {{bill.termLabel}} is attached. '
      || E'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.\n',
      '[]', at, by_name);
  insert into counters (tenant_id, series, last_number) values (wanted_tenant, 'template', 2);
$$;

create table pricing_contexts (
  tenant_id bigint not null references tenants (tenant_id),
  context_id bigint not null,
  code text not null check (code ~ '^[A-Z0-9][A-Z0-9_-]{0,31}$'),
  name text not null check (name <> ''),
  context_type text not null check (context_type in ('Sale', 'Purchase', 'Payroll')),
  charging_type text not null check (charging_type in ('Postpaid', 'Prepaid')),
  post_type text not null check (post_type in ('Post Subscription', 'Post Account', 'Post Party')),
  billing_period_id bigint not null,
  due_date_offset integer not null check (due_date_offset between 0 and 365),
  bills_after_period boolean not null,
  settlement_method text not null,
  cash_account_id bigint not null,
  business_unit_id bigint not null,
  security_deposit bigint check (security_deposit >= 0),
  description text not null,
  required_documents jsonb check (jsonb_typeof(required_documents) = 'array'),
  template_id bigint not null,
  email_template_id bigint,
  archived boolean not null default false,
  version integer not null check (version > 0),
  book_version bigint not null check (book_version > 0),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  minimum_days_to_pay integer not null default 7
    check (minimum_days_to_pay between 0 and 90),
  primary key (tenant_id, context_id),
  constraint pricing_contexts_code_key unique (tenant_id, code),
  constraint pricing_contexts_period_fkey foreign key (tenant_id, billing_period_id)
    references billing_periods (tenant_id, period_id),
  constraint pricing_contexts_template_fkey foreign key (tenant_id, template_id)
    references templates (tenant_id, template_id),
  constraint pricing_contexts_email_template_fkey foreign key (tenant_id, email_template_id)
    references templates (tenant_id, template_id)
);
comment on table pricing_contexts is
  'A pricing context: a service with its inputs, components and rules. The columns show its '
  'newest version.';
comment on column pricing_contexts.security_deposit is 'In minor units.';
comment on column pricing_contexts.version is 'The newest version.';
comment on column pricing_contexts.book_version is
  'Counts every change of the context or one of its plans. A call that saves one of them locks '
  'this row, so that two changes are never checked past each other. Compiled prices are cached by '
  'it.';
comment on column pricing_contexts.minimum_days_to_pay is
  'The days that customers have at least between the posting of a bill and its due date.';
call wall_off('pricing_contexts');
grant select, insert, update on pricing_contexts to billwright_api;
grant select on pricing_contexts to billwright_worker;
-- A worker opens the term that bills a cancelled bill again, and locks the context for it.
grant update (ts) on pricing_contexts to billwright_worker;

create table pricing_context_versions (
  tenant_id bigint not null,
  context_id bigint not null,
  version integer not null check (version > 0),
  effective_date date check ((effective_date is null) = (version = 1)),
  definition jsonb not null check (jsonb_typeof(definition) = 'object'),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, context_id, version),
  foreign key (tenant_id, context_id) references pricing_contexts (tenant_id, context_id)
);
comment on table pricing_context_versions is
  'A saved version of a pricing context. Rows are never changed: a change is a further version.';
comment on column pricing_context_versions.effective_date is
  'Null for the first version, which applies from the beginning of time.';
call wall_off('pricing_context_versions');
grant select, insert on pricing_context_versions to billwright_api;
grant select on pricing_context_versions to billwright_worker;

create trigger pricing_context_versions_append_only
  before update or delete on pricing_context_versions
  for each row execute function refuse_change();

create table batches (
  tenant_id bigint not null references tenants (tenant_id),
  batch_id bigint not null,
  context_id bigint not null,
  code text not null check (code <> ''),
  label text not null,
  description text,
  billing_period_id bigint,
  reading_day smallint check (reading_day between 1 and 31),
  billing_day smallint check (billing_day between 1 and 31),
  archived boolean not null default false,
  primary key (tenant_id, batch_id),
  constraint batches_code_key unique (tenant_id, context_id, code),
  foreign key (tenant_id, context_id) references pricing_contexts (tenant_id, context_id),
  constraint batches_period_fkey foreign key (tenant_id, billing_period_id)
    references billing_periods (tenant_id, period_id)
);
comment on table batches is
  'A batch of a pricing context: the subscriptions that are billed together.';
call wall_off('batches');
grant select, insert, update, delete on batches to billwright_api;
grant select on batches to billwright_worker;

create table bank_accounts (
  tenant_id bigint not null references tenants (tenant_id),
  bank_account_id bigint not null,
  context_id bigint not null,
  title text not null check (title <> ''),
  bank_name text,
  branch text,
  account_number text,
  iban text,
  swift text,
  currency text check (currency ~ '^[A-Z]{3}$'),
  is_default boolean not null,
  collection_code text,
  payment_code jsonb check (jsonb_typeof(payment_code) = 'object'),
  archived boolean not null default false,
  primary key (tenant_id, bank_account_id),
  constraint bank_accounts_title_key unique (tenant_id, context_id, title) deferrable,
  foreign key (tenant_id, context_id) references pricing_contexts (tenant_id, context_id)
);
comment on table bank_accounts is 'A bank account that customers of a pricing context pay into.';
call wall_off('bank_accounts');
grant select, insert, update, delete on bank_accounts to billwright_api;
grant select on bank_accounts to billwright_worker;

create table plans (
  tenant_id bigint not null references tenants (tenant_id),
  plan_id bigint not null,
  context_id bigint not null,
  code text not null check (code <> ''),
  name text not null check (name <> ''),
  unique_label text not null check (unique_label <> ''),
  description text,
  parent_plan_id bigint check (parent_plan_id <> plan_id),
  plan_type text not null check (plan_type in ('BASE_PLAN', 'ADDON_PLAN', 'ONE_TIME_PLAN')),
  abstract boolean not null,
  custom boolean not null,
  visibility text not null check (visibility in ('Public', 'Private', 'Hidden')),
  billing_period_id bigint,
  archived boolean not null default false,
  version integer not null check (version > 0),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, plan_id),
  constraint plans_code_key unique (tenant_id, context_id, code),
  constraint plans_unique_label_key unique (tenant_id, unique_label),
  foreign key (tenant_id, context_id) references pricing_contexts (tenant_id, context_id),
  constraint plans_parent_fkey foreign key (tenant_id, parent_plan_id)
    references plans (tenant_id, plan_id),
  constraint plans_period_fkey foreign key (tenant_id, billing_period_id)
    references billing_periods (tenant_id, period_id)
);
comment on table plans is
  'A plan: prices and formulas in a pricing context. The columns show its newest version.';
comment on column plans.parent_plan_id is 'Of the newest version.';
comment on column plans.version is 'The newest version.';
create index plans_parent on plans (tenant_id, parent_plan_id) where parent_plan_id is not null;
create index plans_code on plans (tenant_id, code);
call wall_off('plans');
grant select, insert, update on plans to billwright_api;
grant select on plans to billwright_worker;

create table plan_versions (
  tenant_id bigint not null,
  plan_id bigint not null,
  version integer not null check (version > 0),
  effective_date date check ((effective_date is null) = (version = 1)),
  definition jsonb not null check (jsonb_typeof(definition) = 'object'),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, plan_id, version),
  foreign key (tenant_id, plan_id) references plans (tenant_id, plan_id)
);
comment on table plan_versions is
  'A saved version of a plan. Rows are never changed: a change is a further version.';
comment on column plan_versions.effective_date is
  'Null for the first version, which applies from the beginning of time.';
call wall_off('plan_versions');
grant select, insert on plan_versions to billwright_api;
grant select on plan_versions to billwright_worker;

create trigger plan_versions_append_only
  before update or delete on plan_versions
  for each row execute function refuse_change();
