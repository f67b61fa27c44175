import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import type { ContextPricing, ContextSettings } from './context.ts';

export type ContextRow = {
  context_id: number;
  code: string;
  name: string;
  context_type: string;
  charging_type: string;
  post_type: string;
  billing_period_id: number;
  due_date_offset: number;
  minimum_days_to_pay: number;
  bills_after_period: boolean;
  settlement_method: string;
  cash_account_id: number;
  business_unit_id: number;
  security_deposit: number | null;
  description: string;
  required_documents: string[] | null;
  template_id: number;
  template_name: string;
  email_template_id: number | null;
  email_template_name: string | null;
  archived: boolean;
  version: number;
  book_version: number;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const columns = sql.raw(`c.context_id, c.code, c.name, c.context_type, c.charging_type,
  c.post_type, c.billing_period_id, c.due_date_offset, c.minimum_days_to_pay, c.bills_after_period,
  c.settlement_method, c.cash_account_id, c.business_unit_id, c.security_deposit, c.description,
  c.required_documents, c.template_id, c.email_template_id, c.archived, c.version,
  c.book_version, c.created_at, c.created_by, c.modified_at, c.modified_by, c.ts`);

/** The names of the two templates, in their newest versions. */
const templateNames = (tenantId: number) => sql`
  (select v.name from templates t join template_versions v
     on v.tenant_id = ${tenantId} and v.template_id = t.template_id and v.version = t.version
   where t.tenant_id = ${tenantId} and t.template_id = c.template_id) as template_name,
  (select v.name from templates t join template_versions v
     on v.tenant_id = ${tenantId} and v.template_id = t.template_id and v.version = t.version
   where t.tenant_id = ${tenantId} and t.template_id = c.email_template_id)
   as email_template_name`;

export async function listContexts(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<ContextRow[]> {
  const { rows } = await sql<ContextRow>`
    select ${columns}, ${templateNames(tenantId)}
    from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.context_id > ${options.afterId}
    order by c.context_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countContexts(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pricing_contexts where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function findContext(
  tx: Tx,
  tenantId: number,
  code: string,
): Promise<ContextRow | undefined> {
  const { rows } = await sql<ContextRow>`
    select ${columns}, ${templateNames(tenantId)}
    from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.code = ${code}
  `.execute(tx);
  return rows[0];
}

/** Locks the context until the end of a change of it or of one of its plans. */
export async function lockContext(
  tx: Tx,
  tenantId: number,
  code: string,
): Promise<ContextRow | undefined> {
  await sql`
    select 1 from pricing_contexts
    where tenant_id = ${tenantId} and code = ${code}
    for no key update
  `.execute(tx);
  return findContext(tx, tenantId, code);
}

/** Its settings stay as they are until the transaction ends; others may do the same. */
export async function shareContext(
  tx: Tx,
  tenantId: number,
  code: string,
): Promise<ContextRow | undefined> {
  await sql`
    select 1 from pricing_contexts
    where tenant_id = ${tenantId} and code = ${code}
    for share
  `.execute(tx);
  return findContext(tx, tenantId, code);
}

export async function hasContextId(tx: Tx, tenantId: number, contextId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pricing_contexts where tenant_id = ${tenantId} and context_id = ${contextId}
  `.execute(tx);
  return rows.length === 1;
}

export async function insertContext(
  tx: Tx,
  tenantId: number,
  context: { id: number; code: string; settings: ContextSettings },
  stamp: Stamp,
): Promise<void> {
  const { id, code, settings } = context;
  await sql`
    insert into pricing_contexts (
      tenant_id, context_id, code, name, context_type, charging_type, post_type,
      billing_period_id, due_date_offset, minimum_days_to_pay, bills_after_period,
      settlement_method, cash_account_id, business_unit_id, security_deposit, description,
      required_documents, template_id, email_template_id, archived, version, book_version,
      created_at, created_by, modified_at, modified_by, ts
    )
    values (
      ${tenantId}, ${id}, ${code}, ${settings.name}, ${settings.contextType},
      ${settings.chargingType}, ${settings.postType}, ${settings.billingPeriodId},
      ${settings.dueDateOffset}, ${settings.minimumDaysToPay}, ${settings.billsAfterPeriod},
      ${settings.settlementMethod},
      ${settings.cashAccountId}, ${settings.businessUnitId}, ${settings.securityDeposit},
      ${settings.description}, ${documents(settings)}::jsonb, ${settings.templateId},
      ${settings.emailTemplateId}, ${settings.archived}, 1, 1,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}
    )
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, violations(code, settings)));
  await insertEvents(tx, tenantId, eventsOf('service.created', 'serviceCode', [code]), stamp.at);
}

/** Stores the settings; the caller stores the version. */
export async function updateContext(
  tx: Tx,
  tenantId: number,
  context: { id: number; code: string; settings: ContextSettings },
  stamp: Stamp,
): Promise<void> {
  const { id, code, settings } = context;
  await sql`
    update pricing_contexts
    set name = ${settings.name}, context_type = ${settings.contextType},
      charging_type = ${settings.chargingType}, post_type = ${settings.postType},
      billing_period_id = ${settings.billingPeriodId},
      due_date_offset = ${settings.dueDateOffset},
      minimum_days_to_pay = ${settings.minimumDaysToPay},
      bills_after_period = ${settings.billsAfterPeriod},
      settlement_method = ${settings.settlementMethod},
      cash_account_id = ${settings.cashAccountId},
      business_unit_id = ${settings.businessUnitId},
      security_deposit = ${settings.securityDeposit}, description = ${settings.description},
      required_documents = ${documents(settings)}::jsonb, template_id = ${settings.templateId},
      email_template_id = ${settings.emailTemplateId}, archived = ${settings.archived},
      version = version + 1, book_version = book_version + 1,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and context_id = ${id}
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, violations(code, settings)));
  await insertEvents(tx, tenantId, eventsOf('service.updated', 'serviceCode', [code]), stamp.at);
}

function documents(settings: ContextSettings): string | null {
  return settings.requiredDocuments && JSON.stringify(settings.requiredDocuments);
}

function violations(code: string, settings: ContextSettings) {
  const template = (id: number | null, kind: string, field: string) => () =>
    new AppError('TEMPLATE_NOT_FOUND', { message: `No ${kind} template has the id ${id}`, field });
  return {
    pricing_contexts_code_key: () =>
      new AppError('DUPLICATE', {
        message: `A pricing context with the code ${code} exists already`,
        field: 'service.code',
      }),
    pricing_contexts_period_fkey: () =>
      new AppError('PERIOD_NOT_FOUND', {
        message: `No billing period has the id ${settings.billingPeriodId}`,
        field: 'service.billingCycle',
      }),
    pricing_contexts_template_fkey: template(
      settings.templateId,
      'invoice',
      'service.invoiceTemplate.templateID',
    ),
    pricing_contexts_email_template_fkey: template(
      settings.emailTemplateId,
      'e-mail',
      'service.emailTemplate.templateID',
    ),
  };
}

/** Tells that something in the context's price book changed. */
export async function advanceBook(tx: Tx, tenantId: number, contextId: number): Promise<void> {
  await sql`
    update pricing_contexts set book_version = book_version + 1
    where tenant_id = ${tenantId} and context_id = ${contextId}
  `.execute(tx);
}

export async function insertContextVersion(
  tx: Tx,
  tenantId: number,
  version: {
    contextId: number;
    version: number;
    effectiveDate: Temporal.PlainDate | null;
    pricing: ContextPricing;
  },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into pricing_context_versions (
      tenant_id, context_id, version, effective_date, definition, created_at, created_by
    )
    values (
      ${tenantId}, ${version.contextId}, ${version.version}, ${version.effectiveDate},
      ${JSON.stringify(version.pricing)}::jsonb, ${stamp.at}, ${stamp.by}
    )
  `.execute(tx);
}

export type ContextVersionRow = {
  version: number;
  effective_date: string | null;
  definition: ContextPricing;
};

/** All versions, oldest first. */
export async function listContextVersions(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<ContextVersionRow[]> {
  const { rows } = await sql<ContextVersionRow>`
    select version, effective_date, definition
    from pricing_context_versions
    where tenant_id = ${tenantId} and context_id = ${contextId}
    order by version
  `.execute(tx);
  return rows;
}

export async function findContextVersion(
  tx: Tx,
  tenantId: number,
  key: { contextId: number; version: number },
): Promise<ContextVersionRow | undefined> {
  const { rows } = await sql<ContextVersionRow>`
    select version, effective_date, definition
    from pricing_context_versions
    where tenant_id = ${tenantId} and context_id = ${key.contextId} and version = ${key.version}
  `.execute(tx);
  return rows[0];
}

/** Whether a subscription has not ended, or a term is being billed. */
export async function isBilling(tx: Tx, tenantId: number, contextId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from subscriptions
      where tenant_id = ${tenantId} and context_id = ${contextId}
        and status in ('Pending', 'Active', 'Disconnected')
    ) or exists (
      select from terms
      where tenant_id = ${tenantId} and context_id = ${contextId}
        and status in ('Open', 'Posted')
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/** Whether bills of it were booked. */
export async function hasBooked(tx: Tx, tenantId: number, contextId: number): Promise<boolean> {
  const { rows } = await sql`
    select from terms
    where tenant_id = ${tenantId} and context_id = ${contextId}
      and status in ('Posted', 'Published')
    limit 1
  `.execute(tx);
  return rows.length > 0;
}

/** Whether cash can be booked there: what entries of customers add up to takes nothing else. */
export async function takesCash(tx: Tx, tenantId: number, accountId: number): Promise<boolean> {
  const { rows } = await sql`
    select from ledger_accounts
    where tenant_id = ${tenantId} and ledger_account_id = ${accountId} and not is_control
  `.execute(tx);
  return rows.length > 0;
}
