import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { TemplateText, Translation } from '../tenants/templates-store.ts';
import type { DocumentSetting } from './document-setting.ts';

/** The text of a bill's template, with how the document is printed. */
export type InvoiceText = Pick<
  TemplateText,
  'language' | 'body' | 'translations' | 'second_language' | 'amount_in_words'
>;

const invoiceColumns = sql.raw(
  'v.body, v.language, v.translations, v.second_language, v.amount_in_words',
);

/** The templates of a context in their newest versions. */
export type TemplateVersions = InvoiceText & {
  template_id: number;
  template_version: number;
  email_template_id: number | null;
  email_template_version: number | null;
};

export async function getTemplateVersions(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<TemplateVersions> {
  const { rows } = await sql<TemplateVersions>`
    select c.template_id, t.version as template_version, ${invoiceColumns}, c.email_template_id,
      e.version as email_template_version
    from pricing_contexts c
    join templates t on t.tenant_id = ${tenantId} and t.template_id = c.template_id
    join template_versions v
      on v.tenant_id = ${tenantId} and v.template_id = t.template_id and v.version = t.version
    left join templates e on e.tenant_id = ${tenantId} and e.template_id = c.email_template_id
    where c.tenant_id = ${tenantId} and c.context_id = ${contextId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`context ${contextId} has no template`);
  return row;
}

/** Of the version of the context that holds on a day, those of inputs that have one. */
export async function listInputLabels(
  tx: Tx,
  tenantId: number,
  context: { contextId: number; date: string },
): Promise<{ name: string; label: string }[]> {
  const { rows } = await sql<{ name: string; label: string }>`
    select i.item ->> 'name' as name, i.item ->> 'label' as label
    from (
      select definition
      from pricing_context_versions
      where tenant_id = ${tenantId} and context_id = ${context.contextId}
        and (effective_date is null or effective_date <= ${context.date}::date)
      order by version desc
      limit 1
    ) v
    cross join lateral (
      select jsonb_path_query(v.definition, '$.meteredInputs[*]')
      union all
      select jsonb_path_query(v.definition, '$.unmeteredInputs[*]')
    ) i (item)
    where i.item ->> 'label' <> i.item ->> 'name'
    order by name
  `.execute(tx);
  return rows;
}

export type SettingRow = InvoiceText & {
  version: number;
  /** YYYY-MM-DD. */
  issue_date: string;
  setting: DocumentSetting;
};

/** By version; without any, the newest. */
export async function listSettings(
  tx: Tx,
  tenantId: number,
  termId: number,
  versions: readonly number[] | 'newest',
): Promise<SettingRow[]> {
  const wanted =
    versions === 'newest'
      ? sql`s.version = (
          select max(n.version) from document_settings n
          where n.tenant_id = ${tenantId} and n.term_id = ${termId}
        )`
      : sql`s.version = any(${[...versions]}::integer[])`;
  const { rows } = await sql<SettingRow>`
    select s.version, s.issue_date, s.setting, ${invoiceColumns}
    from document_settings s
    join template_versions v on v.tenant_id = ${tenantId}
      and v.template_id = (s.setting -> 'template' ->> 'templateID')::bigint
      and v.version = (s.setting -> 'template' ->> 'version')::integer
    where s.tenant_id = ${tenantId} and s.term_id = ${termId} and ${wanted}
  `.execute(tx);
  return rows;
}

export async function insertSetting(
  tx: Tx,
  tenantId: number,
  row: { termId: number; version: number; issueDate: string; setting: DocumentSetting },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into document_settings (
      tenant_id, term_id, version, issue_date, setting, created_at, created_by
    )
    values (
      ${tenantId}, ${row.termId}, ${row.version}, ${row.issueDate},
      ${JSON.stringify(row.setting)}::jsonb, ${stamp.at}, ${stamp.by}
    )
  `.execute(tx);
}

export type EmailTemplateRow = Translation & {
  template_id: number;
  version: number;
  translations: readonly Translation[];
};

export async function listEmailTemplates(
  tx: Tx,
  tenantId: number,
  versions: readonly { templateId: number; version: number }[],
): Promise<EmailTemplateRow[]> {
  if (versions.length === 0) return [];
  const { rows } = await sql<EmailTemplateRow>`
    select v.template_id, v.version, v.subject, v.body, v.language, v.translations
    from template_versions v
    join unnest(
      ${versions.map((one) => one.templateId)}::bigint[],
      ${versions.map((one) => one.version)}::integer[]
    ) as w (template_id, version) using (template_id, version)
    where v.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}
