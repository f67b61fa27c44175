import * as Type from 'typebox';
import {
  countTemplates,
  listTemplates,
  type TemplateRow,
  templateKinds,
} from '../../domain/tenants/templates-store.ts';
import { filterOf, id, maybe } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';
import { presentTemplate, templateView } from './template-fields.ts';

export const getTemplates = operation({
  path: '/billing/templates/get-templates',
  method: 'Retrieve',
  action: 'Retrieve Templates',
  access: { permission: 'contexts:read' },
  summary: 'Lists templates in their newest versions.',
  request: Type.Object({ type: filterOf(templateKinds), templateID: maybe(id) }),
  response: Type.Object({ templates: Type.Array(templateView) }),
  errors: [],
  example: { type: 'Invoice' },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = { kind: body.type ?? null, templateId: body.templateID ?? null };
    return wholeListing(call, {
      count: (tx) => countTemplates(tx, tenantId, filter),
      after: (tx, { after, limit }) =>
        listTemplates(tx, tenantId, { ...filter, afterId: after?.template_id ?? 0, limit }),
      present: (row: TemplateRow) => presentTemplate(row, call.tenant),
      wrap: (templates) => ({ templates }),
    });
  },
});
