import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { templateProblem } from '../../domain/documents/template.ts';
import type { TemplateRow } from '../../domain/tenants/templates-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { filledText, maybe, nullable, text, timestamp, ts } from '../fields.ts';

/** A page of layout with its styles. */
const bodyMax = 200_000;

export const templateText = {
  name: filledText({ max: 120 }),
  language: filledText({ max: 35 }),
  subject: maybe(text({ max: 500 })),
  body: filledText({ max: bodyMax }),
};

export const templateView = Type.Object({
  templateID: Type.Integer(),
  type: Type.String(),
  version: Type.Integer(),
  name: Type.String(),
  language: Type.String(),
  subject: nullable(Type.String()),
  body: Type.String(),
  ts,
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
});

type TemplateTexts = {
  subject?: string | null | undefined;
  body?: string | undefined;
  field: string;
};

/** A slip in a template would otherwise be found when a whole term of bills fails. */
export function assertFillable(templates: readonly TemplateTexts[]): void {
  const details = templates.flatMap(({ subject, body, field }) =>
    Object.entries({ subject, body }).flatMap(([name, value]): ErrorDetail[] => {
      const message = templateProblem(value ?? '');
      if (message === undefined) return [];
      return [{ field: `${field}.${name}`, code: 'TEMPLATE_INVALID', message }];
    }),
  );
  if (details.length > 0) throw errorFromDetails(details);
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
    ts: row.ts,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
  };
}
