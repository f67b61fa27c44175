import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import type { PreviewedTemplate } from '../../domain/delivery/document-thread.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { previewInput } from '../../domain/delivery/preview.ts';
import { inLanguage, printedText } from '../../domain/delivery/template-language.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { listTemplates, templateKinds } from '../../domain/tenants/templates-store.ts';
import { documentTypes } from '../bills/shown-document-fields.ts';
import { id, maybe, nullable, oneOf, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import {
  assertFillable,
  templateOptions,
  templateText,
  translationsOf,
} from './template-fields.ts';

const formats = ['PDF', 'HTML', 'Text'] as const;
type Format = (typeof formats)[number];

const sentTemplate = Type.Object({
  type: oneOf(templateKinds),
  language: Type.Optional(templateText.language),
  subject: templateText.subject,
  body: templateText.body,
  ...templateOptions,
});

const request = Type.Object({
  templateID: maybe(id),
  template: maybe(sentTemplate),
  billID: maybe(id),
  serviceCode: maybe(text({ max: 32 })),
  format: maybe(oneOf(formats)),
});

const contentTypes = { ...documentTypes, Text: 'text/plain; charset=utf-8' };

/** What a template of each type becomes; the first is the default. */
const formatsOf: Readonly<Record<string, readonly Format[]>> = {
  Invoice: ['PDF', 'HTML'],
  Email: ['HTML', 'Text'],
  SMS: ['Text'],
};

export const previewTemplate = operation({
  path: '/billing/templates/preview-template',
  method: 'Retrieve',
  action: 'Preview Template',
  access: { permission: 'contexts:read' },
  summary:
    'Shows a template, stored or sent, with the figures of a bill: the bill that is named, else ' +
    'the newest, else a sample. Nothing is stored.',
  request,
  response: Type.Object({
    subject: nullable(Type.String({ description: 'of a mail' })),
    contentType: Type.String(),
    base64: Type.String(),
    billNumber: nullable(Type.String({ description: 'null for a sample' })),
  }),
  errors: [
    'TEMPLATE_NOT_FOUND',
    'BILL_NOT_FOUND',
    'SERVICE_NOT_FOUND',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
  ],
  example: {
    template: {
      type: 'Email',
      subject: 'Your bill {{bill.billNumber}}',
      body: 'Dear {{bill.partyName}}, your bill is attached.',
    },
    format: 'HTML',
  },
  turns: documentTurns,
  async handle(call, body) {
    const { tx, tenant, now } = call;
    const template = await templateOf(call, body);
    const format = formatOf(template.kind, body.format ?? null);
    const wanted = { contextCode: body.serviceCode || null, billId: body.billID ?? null };
    const today = dateIn(now, tenant.timezone);
    const { input, billNumber } = await previewInput(tx, tenant.tenantId, wanted, today);
    const { portal_address: portalAddress } = await findSettings(tx, tenant.tenantId);
    const shown = previewed(template, input.locale, portalAddress);
    const made = await documentThreads().preview({ format, input, template: shown });
    const { subject, base64 } = made;
    const data = { subject, contentType: contentTypes[format], base64, billNumber };
    return { message: '1 found', data };
  },
});

type Template = Parameters<typeof printedText>[0] & {
  kind: string;
  subject: string | null;
};

/** The one that is sent, or the newest version of the one that is named. */
async function templateOf(call: Call, body: Type.Static<typeof request>): Promise<Template> {
  const { template: sent, templateID: templateId } = body;
  if (sent) {
    assertFillable([{ ...sent, field: 'template' }]);
    return {
      kind: sent.type,
      language: sent.language ?? 'en',
      subject: sent.subject ?? null,
      body: sent.body,
      translations: translationsOf(sent.translations ?? []),
      second_language: sent.secondLanguage ?? null,
      amount_in_words: sent.amountInWords === 1,
    };
  }
  if (!templateId) {
    const message = 'Name a template by templateID, or send one as template';
    throw new AppError('REQUIRED_FIELD', { message, field: 'templateID' });
  }
  const one = { kind: null, templateId, afterId: 0, limit: 1 };
  const [found] = await listTemplates(call.tx, call.tenant.tenantId, one);
  if (found) return found;
  const message = `No template has the id ${templateId}`;
  throw new AppError('TEMPLATE_NOT_FOUND', { message, field: 'templateID' });
}

function formatOf(kind: string, asked: Format | null): Format {
  const possible = formatsOf[kind] ?? [];
  const format = asked ?? possible[0] ?? 'Text';
  if (possible.includes(format)) return format;
  const message = `A template of type ${kind} becomes ${possible.join(' or ')}, not ${format}`;
  throw new AppError('INVALID_ENUM', { message, field: 'format' });
}

/** In the language of the bill. */
function previewed(
  template: Template,
  locale: string,
  portalAddress: string | null,
): PreviewedTemplate {
  if (template.kind === 'Invoice') return { kind: 'Invoice', ...printedText(template, locale) };
  const { subject, body } = inLanguage(template, locale);
  if (template.kind === 'SMS') return { kind: 'SMS', body };
  return { kind: 'Email', subject, body, portalAddress };
}
