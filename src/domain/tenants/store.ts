import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';

/** JSON. */
export type EInvoiceRow = {
  format: 'UBL' | 'FacturX';
  vatID: string;
  street: string;
  city: string;
  postalCode: string;
  vat: { component: string; on: string[] | null }[];
  /** Absent in settings from before there was one. */
  untaxed?: { on: string[]; category: 'Exempt' | 'ZeroRated'; reason: string | null }[];
};

export type SettingsRow = {
  name: string;
  timezone: string;
  currency: string;
  currency_decimals: number;
  country: string;
  locale: string;
  connection_number_format: string;
  bill_number_format: string;
  delivery_channels: string[];
  letterhead: object;
  reminders: object[];
  mail_sender: { name?: string | null; replyTo?: string | null };
  access_token_seconds: number | null;
  idle_seconds: number | null;
  separates_duties: boolean;
  logs_party_reads: boolean;
  /** Minor units; null if no refund or write-off needs a second person. */
  approval_limit: number | null;
  document_retention_years: number;
  /** Null if receipts are not mailed. Without a template, the mail has a text of the program. */
  receipt_mail: { templateID: number | null } | null;
  /** Such as https://demo.example.com. */
  portal_address: string | null;
  /** The data of the seller and the components that are VAT, as `domain/documents` reads them. */
  e_invoice: EInvoiceRow | null;
  sandbox: boolean;
  clock_offset_ms: number;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

export async function findTenantId(tx: Tx, workspace: string): Promise<number | undefined> {
  const { rows } = await sql<{ tenant_id: number | null }>`
    select find_workspace(${workspace}) as tenant_id
  `.execute(tx);
  return rows[0]?.tenant_id ?? undefined;
}

/** The next free id; the registry stays locked until the workspace is made. */
export async function insertWorkspace(
  tx: Tx,
  workspace: string,
  at: Temporal.Instant,
): Promise<number> {
  await sql`lock table workspaces in share row exclusive mode`.execute(tx);
  const { rows } = await sql<{ tenant_id: number }>`
    insert into workspaces (tenant_id, workspace, created_at)
    values (next_tenant_id(), ${workspace}, ${at})
    returning tenant_id
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        workspaces_workspace_key: () =>
          new AppError('DUPLICATE', {
            message: `A workspace named '${workspace}' exists already`,
            field: 'workspace',
          }),
        workspaces_name_form: () =>
          new AppError('INVALID_FORMAT', {
            message:
              'A workspace name is 1 to 63 letters a-z, digits and hyphens, as in a host name',
            field: 'workspace',
          }),
      }),
    );
  const tenantId = rows[0]?.tenant_id;
  if (tenantId === undefined) throw new Error('no workspace was inserted');
  return tenantId;
}

/** From here on the transaction sees the rows of this tenant, and no others. */
export async function enterTenant(tx: Tx, tenantId: number): Promise<void> {
  await sql`select set_tenant(${String(tenantId)})`.execute(tx);
}

export type NewTenant = {
  name: string;
  timezone: string;
  currency: string;
  currencyDecimals: number;
  country: string;
  locale: string;
  sandbox: boolean;
};

export async function insertTenant(
  tx: Tx,
  tenantId: number,
  facts: NewTenant,
  stamp: { at: Temporal.Instant; by: string },
): Promise<void> {
  await sql`
    insert into tenants (
      tenant_id, name, timezone, currency, currency_decimals, country, locale,
      connection_number_format, bill_number_format, delivery_channels, letterhead, reminders,
      sandbox, created_at, modified_at, modified_by, ts
    )
    values (
      ${tenantId}, ${facts.name}, ${facts.timezone}, ${facts.currency}, ${facts.currencyDecimals},
      ${facts.country}, ${facts.locale}, '{serviceCode}-{number:8}',
      '{serviceCode}-{year}-{number:6}', '{Email,Portal}', '{}', '[]',
      ${facts.sandbox}, ${stamp.at}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}
    )
  `.execute(tx);
  await sql`
    insert into billing_periods (tenant_id, period_id, name, unit, unit_count, months)
    values
      (${tenantId}, 1, 'Monthly', 'Month', 1, 1),
      (${tenantId}, 2, 'Two-monthly', 'Month', 2, 2),
      (${tenantId}, 3, 'Quarterly', 'Month', 3, 3),
      (${tenantId}, 4, 'Half-yearly', 'Month', 6, 6),
      (${tenantId}, 5, 'Yearly', 'Year', 1, 12),
      (${tenantId}, 6, 'Weekly', 'Week', 1, 0.2307692308),
      (${tenantId}, 7, 'Fortnightly', 'Week', 2, 0.4615384615),
      (${tenantId}, 8, 'Daily', 'Day', 1, 0.0328767123),
      (${tenantId}, 9, 'One-time', 'Once', 1, 1)
  `.execute(tx);
  await sql`
    call add_default_templates(${tenantId}, ${stamp.at}, ${stamp.by})
  `.execute(tx);
  await sql`call add_chart_of_accounts(${tenantId})`.execute(tx);
}

/** The name of a workspace. For workers: the API role cannot read the registry. */
export async function findWorkspaceName(tx: Tx, tenantId: number): Promise<string> {
  const { rows } = await sql<{ workspace: string }>`
    select workspace from workspaces where tenant_id = ${tenantId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`no workspace ${tenantId}`);
  return row.workspace;
}

export type WorkspaceRow = { tenant_id: number; workspace: string; created_at: Temporal.Instant };

/** Every workspace. For the worker and the command line; callers of the API never see this. */
export async function listWorkspaces(tx: Tx): Promise<WorkspaceRow[]> {
  const { rows } = await sql<WorkspaceRow>`
    select tenant_id, workspace, created_at from workspaces order by tenant_id
  `.execute(tx);
  return rows;
}

export async function findStatus(tx: Tx, tenantId: number): Promise<'Active' | 'Suspended'> {
  const { rows } = await sql<{ status: 'Active' | 'Suspended' }>`
    select status from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.status ?? 'Suspended';
}

export async function setStatus(
  tx: Tx,
  tenantId: number,
  status: 'Active' | 'Suspended',
  stamp: { at: Temporal.Instant; by: string },
): Promise<void> {
  await sql`
    update tenants
    set status = ${status}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId}
  `.execute(tx);
}

const settingsColumns = sql.raw(`name, timezone, currency, currency_decimals, country, locale,
  connection_number_format, bill_number_format, delivery_channels, letterhead, reminders,
  mail_sender, access_token_seconds, idle_seconds, separates_duties,
  logs_party_reads, approval_limit,
  document_retention_years, receipt_mail, portal_address, e_invoice,
  sandbox,
  clock_offset_ms, modified_at, modified_by, ts`);

export async function findSettings(
  tx: Tx,
  tenantId: number,
  options: { lock?: boolean } = {},
): Promise<SettingsRow> {
  const { rows } = await sql<SettingsRow>`
    select ${settingsColumns} from tenants where tenant_id = ${tenantId}
    ${options.lock ? sql`for no key update` : sql``}
  `.execute(tx);
  const row = rows[0];
  if (!row) throw new Error(`no tenant ${tenantId}`);
  return row;
}

export async function updateSettings(
  tx: Tx,
  tenantId: number,
  settings: Omit<SettingsRow, 'modified_at' | 'modified_by' | 'ts'>,
  stamp: { at: Temporal.Instant; by: string },
): Promise<SettingsRow> {
  const { rows } = await sql<SettingsRow>`
    update tenants
    set name = ${settings.name}, timezone = ${settings.timezone}, currency = ${settings.currency},
      currency_decimals = ${settings.currency_decimals}, country = ${settings.country},
      locale = ${settings.locale},
      connection_number_format = ${settings.connection_number_format},
      bill_number_format = ${settings.bill_number_format},
      delivery_channels = ${settings.delivery_channels}::text[],
      letterhead = ${JSON.stringify(settings.letterhead)}::jsonb,
      reminders = ${JSON.stringify(settings.reminders)}::jsonb,
      mail_sender = ${JSON.stringify(settings.mail_sender)}::jsonb,
      access_token_seconds = ${settings.access_token_seconds},
      idle_seconds = ${settings.idle_seconds},
      separates_duties = ${settings.separates_duties},
      logs_party_reads = ${settings.logs_party_reads},
      approval_limit = ${settings.approval_limit},
      document_retention_years = ${settings.document_retention_years},
      receipt_mail = ${settings.receipt_mail && JSON.stringify(settings.receipt_mail)}::jsonb,
      portal_address = ${settings.portal_address},
      e_invoice = ${settings.e_invoice && JSON.stringify(settings.e_invoice)}::jsonb,
      clock_offset_ms = ${settings.clock_offset_ms},
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId}
    returning ${settingsColumns}
  `.execute(tx);
  const row = rows[0];
  if (!row) throw new Error(`no tenant ${tenantId}`);
  return row;
}

/** Whether anything was ever priced or booked in the workspace's currency, which fixes it. */
export async function hasAmounts(tx: Tx, tenantId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from party_wallets where tenant_id = ${tenantId})
      or exists (select from subscription_balances where tenant_id = ${tenantId})
      or exists (select from pricing_contexts where tenant_id = ${tenantId}) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/**
 * Workers look at the workspace at once, when the transaction commits. Triggers do so too, but
 * where there are several machines they run on another one than the workers listen to.
 */
export async function wakeDailyJobs(tx: Tx, tenantId: number): Promise<void> {
  await sql`select pg_notify('billwright_clocks', ${String(tenantId)})`.execute(tx);
}
