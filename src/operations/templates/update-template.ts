import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Translation } from '../../domain/tenants/templates-store.ts';
import { insertTemplateVersion, lockTemplate } from '../../domain/tenants/templates-store.ts';
import { empty, id, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  assertFillable,
  presentTemplate,
  templateOptions,
  templateText,
  translationsOf,
} from './template-fields.ts';

type Sent = {
  body?: string;
  translations?: Parameters<typeof translationsOf>[0] | null;
};

/** Translations of a changed text are those sent with it: older ones would say what it said. */
function translationsAfter(sent: Sent, before: readonly Translation[]): readonly Translation[] {
  if (sent.translations !== undefined) return translationsOf(sent.translations ?? []);
  return sent.body === undefined ? before : [];
}

export const updateTemplate = operation({
  path: '/billing/templates/update-template',
  method: 'Update',
  action: 'Update Template',
  access: { permission: 'contexts:write' },
  summary: 'Stores a new version of a template; fields that are left out stay the same.',
  request: Type.Object({
    data: Type.Object({
      templateID: id,
      name: Type.Optional(templateText.name),
      language: Type.Optional(templateText.language),
      subject: templateText.subject,
      body: Type.Optional(templateText.body),
      ...templateOptions,
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['TEMPLATE_NOT_FOUND', 'STALE_OBJECT', 'TEMPLATE_INVALID'],
  example: { data: { templateID: 2, subject: 'Your bill of {{bill.termLabel}}' } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { data } = body;
    const before = await lockTemplate(tx, tenant.tenantId, data.templateID);
    if (!before) {
      throw new AppError('TEMPLATE_NOT_FOUND', {
        message: `No template has the id ${data.templateID}`,
        field: 'data.templateID',
      });
    }
    assertNotStale(data.ts, before, { what: `Template ${data.templateID}`, field: 'data.ts' });
    const text = {
      name: data.name?.trim() ?? before.name,
      language: data.language ?? before.language,
      subject: data.subject === undefined ? before.subject : data.subject,
      body: data.body ?? before.body,
      translations: translationsAfter(data, before.translations),
      second_language:
        data.secondLanguage === undefined ? before.second_language : data.secondLanguage,
      amount_in_words:
        data.amountInWords === undefined ? before.amount_in_words : data.amountInWords === 1,
    };
    const { subject, body: changed, translations } = data;
    assertFillable([{ subject, body: changed, translations, field: 'data' }]);
    const version = before.version + 1;
    const stamp = { at: call.now, by: call.principal.name };
    const template = { id: before.template_id, version, text };
    await insertTemplateVersion(tx, tenant.tenantId, template, stamp);
    const after = await lockTemplate(tx, tenant.tenantId, before.template_id);
    call.audit({
      subject: 'template',
      subjectId: before.template_id,
      before: presentTemplate(before, tenant),
      after: after ? presentTemplate(after, tenant) : null,
    });
    return { message: `Template ${before.template_id} updated; version ${version}`, data: {} };
  },
});
