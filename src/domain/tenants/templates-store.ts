import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export const templateKinds = ['Invoice', 'Email', 'SMS'] as const;
export type TemplateKind = (typeof templateKinds)[number];

/** The text in another language. */
export type Translation = { language: string; subject: string | null; body: string };

export type TemplateText = Translation & {
  name: string;
  translations: readonly Translation[];
  /** Labels of a bill are printed in this language too. */
  second_language: string | null;
  amount_in_words: boolean;
};

export type TemplateRow = TemplateText & {
  template_id: number;
  kind: TemplateKind;
  version: number;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const columns = sql.raw(`t.template_id, t.kind, t.version, v.name, v.language, v.subject, v.body,
  v.translations, v.second_language, v.amount_in_words, t.created_at, t.created_by, t.modified_at,
  t.modified_by, t.ts`);

/** Templates in their newest versions. */
export async function listTemplates(
  tx: Tx,
  tenantId: number,
  filter: { kind: string | null; templateId: number | null; afterId: number; limit: number },
): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    select ${columns}
    from templates t
    join template_versions v
      on v.tenant_id = ${tenantId} and v.template_id = t.template_id and v.version = t.version
    where t.tenant_id = ${tenantId} and t.template_id > ${filter.afterId}
      and (${filter.kind}::text is null or t.kind = ${filter.kind})
      and (${filter.templateId}::bigint is null or t.template_id = ${filter.templateId})
    order by t.template_id
    limit ${filter.limit}
  `.execute(tx);
  return rows;
}

export async function countTemplates(
  tx: Tx,
  tenantId: number,
  filter: { kind: string | null; templateId: number | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from templates
    where tenant_id = ${tenantId} and (${filter.kind}::text is null or kind = ${filter.kind})
      and (${filter.templateId}::bigint is null or template_id = ${filter.templateId})
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function lockTemplate(
  tx: Tx,
  tenantId: number,
  templateId: number,
): Promise<TemplateRow | undefined> {
  await sql`
    select 1 from templates where tenant_id = ${tenantId} and template_id = ${templateId}
    for no key update
  `.execute(tx);
  const one = { kind: null, templateId, afterId: 0, limit: 1 };
  return (await listTemplates(tx, tenantId, one))[0];
}

export async function listTemplateKinds(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await sql<{ template_id: number; kind: string }>`
    select template_id, kind from templates
    where tenant_id = ${tenantId} and template_id = any(${ids}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.template_id, row.kind]));
}

export async function insertTemplates(
  tx: Tx,
  tenantId: number,
  firstId: number,
  templates: readonly (TemplateText & { kind: TemplateKind })[],
  stamp: Stamp,
): Promise<void> {
  const rows = templates.map((template, index) => ({ ...template, template_id: firstId + index }));
  await sql`
    insert into templates (
      tenant_id, template_id, kind, version, created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.template_id, r.kind, 1, ${stamp.at}::timestamptz, ${stamp.by},
      ${stamp.at}::timestamptz, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (template_id bigint, kind text)
  `.execute(tx);
  await sql`
    insert into template_versions (
      tenant_id, template_id, version, name, language, subject, body, translations,
      second_language, amount_in_words, created_at, created_by
    )
    select own.tenant_id, r.template_id, 1, r.name, r.language, r.subject, r.body,
      r.translations, r.second_language, r.amount_in_words, ${stamp.at}::timestamptz, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      template_id bigint, name text, language text, subject text, body text, translations jsonb,
      second_language text, amount_in_words boolean
    )
  `.execute(tx);
}

/** A change is a further version. */
export async function insertTemplateVersion(
  tx: Tx,
  tenantId: number,
  template: { id: number; version: number; text: TemplateText },
  stamp: Stamp,
): Promise<void> {
  const { id, version, text } = template;
  await sql`
    insert into template_versions (
      tenant_id, template_id, version, name, language, subject, body, translations,
      second_language, amount_in_words, created_at, created_by
    )
    values (
      ${tenantId}, ${id}, ${version}, ${text.name}, ${text.language}, ${text.subject},
      ${text.body}, ${JSON.stringify(text.translations)}::jsonb, ${text.second_language},
      ${text.amount_in_words}, ${stamp.at}, ${stamp.by}
    )
  `.execute(tx);
  await sql`
    update templates
    set version = ${version}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and template_id = ${id}
  `.execute(tx);
}
