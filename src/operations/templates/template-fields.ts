import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { templateProblem } from '../../domain/documents/template.ts';
import type { TemplateRow, Translation } from '../../domain/tenants/templates-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { filledText, maybe, nullable, oneOf, text, timestamp, ts } from '../fields.ts';

/** A page of layout with its styles. */
const bodyMax = 200_000;

export const templateText = {
  name: filledText({ max: 120 }),
  language: filledText({ max: 35 }),
  subject: maybe(text({ max: 500 })),
  body: filledText({ max: bodyMax }),
};

/** Languages that documents have labels in. */
const labelled = ['en', 'ur', 'ar', 'hi'] as const;
const translationsMax = 20;

/** In other languages, and how the document is printed. */
export const templateOptions = {
  translations: maybe(
    Type.Array(
      Type.Object({
        language: templateText.language,
        subject: templateText.subject,
        body: templateText.body,
      }),
      { maxItems: translationsMax },
    ),
  ),
  secondLanguage: maybe(oneOf(labelled)),
  amountInWords: maybe(oneOf([0, 1])),
};

export const templateView = Type.Object({
  templateID: Type.Integer(),
  type: Type.String(),
  version: Type.Integer(),
  name: Type.String(),
  language: Type.String(),
  subject: nullable(Type.String()),
  body: Type.String(),
  translations: Type.Array(
    Type.Object({
      language: Type.String(),
      subject: nullable(Type.String()),
      body: Type.String(),
    }),
  ),
  secondLanguage: nullable(Type.String({ description: 'of labels, beside the first' })),
  amountInWords: Type.Integer({ description: '0 or 1' }),
  ts,
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
});

type TemplateTexts = {
  subject?: string | null | undefined;
  body?: string | undefined;
  translations?: readonly { subject?: string | null; body: string }[] | null | undefined;
  field: string;
};

/** A slip in a template would otherwise be found when a whole term of bills fails. */
export function assertFillable(templates: readonly TemplateTexts[]): void {
  const all = templates.flatMap(({ translations, ...own }) => [
    own,
    ...(translations ?? []).map((text, index) => ({
      ...text,
      field: `${own.field}.translations[${index}]`,
    })),
  ]);
  const details = all.flatMap(({ subject, body, field }) =>
    Object.entries({ subject, body }).flatMap(([name, value]): ErrorDetail[] => {
      const message = templateProblem(value ?? '');
      if (message === undefined) return [];
      return [{ field: `${field}.${name}`, code: 'TEMPLATE_INVALID', message }];
    }),
  );
  if (details.length > 0) throw errorFromDetails(details);
}

type SentTranslation = { language: string; subject?: string | null; body: string };

export function translationsOf(sent: readonly SentTranslation[]): Translation[] {
  return sent.map(({ language, subject = null, body }) => ({ language, subject, body }));
}

export function presentTemplate(row: TemplateRow, tenant: Tenant) {
  return {
    templateID: row.template_id,
    type: row.kind,
    version: row.version,
    name: row.name,
    language: row.language,
    subject: row.subject,
    body: row.body,
    translations: [...row.translations],
    secondLanguage: row.second_language,
    amountInWords: row.amount_in_words ? 1 : 0,
    ts: row.ts,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
  };
}
