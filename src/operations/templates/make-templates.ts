import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { insertTemplates, templateKinds } from '../../domain/tenants/templates-store.ts';
import { empty, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  assertFillable,
  templateOptions,
  templateText,
  translationsOf,
} from './template-fields.ts';

/** Bodies are long: a few at a time stay within the size of a request. */
const templatesMax = 50;

export const makeTemplates = operation({
  path: '/billing/templates/make-templates',
  method: 'Create',
  action: 'Create Templates',
  access: { permission: 'contexts:write' },
  summary: 'Creates templates of bills, e-mails or short messages.',
  request: Type.Object({
    templates: Type.Array(
      Type.Object({
        type: oneOf(templateKinds),
        ...templateText,
        ...templateOptions,
        language: Type.Optional(templateText.language),
      }),
      { minItems: 1, maxItems: templatesMax },
    ),
  }),
  response: empty,
  errors: ['TEMPLATE_INVALID'],
  example: {
    templates: [
      {
        type: 'Email',
        name: 'Bill by e-mail',
        language: 'en',
        subject: 'Your bill {{bill.billNumber}}',
        body: 'Dear {{bill.partyName}}, your bill is attached.',
      },
    ],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    assertFillable(body.templates.map((one, index) => ({ ...one, field: `templates[${index}]` })));
    const templates = body.templates.map((template) => ({
      kind: template.type,
      name: template.name.trim(),
      language: template.language ?? 'en',
      subject: template.subject ?? null,
      body: template.body,
      translations: translationsOf(template.translations ?? []),
      second_language: template.secondLanguage ?? null,
      amount_in_words: template.amountInWords === 1,
    }));
    const firstId = await takeNumbers(tx, tenant.tenantId, 'template', templates.length);
    const stamp = { at: call.now, by: call.principal.name };
    await insertTemplates(tx, tenant.tenantId, firstId, templates, stamp);
    const resourceIds = templates.map((_, index) => firstId + index);
    templates.forEach((after, index) => {
      const subjectId = resourceIds[index] ?? 0;
      call.audit({ subject: 'template', subjectId, before: null, after });
    });
    return {
      message: `${counted(templates.length, 'template')} created`,
      data: {},
      ids: { resourceIds },
    };
  },
});
