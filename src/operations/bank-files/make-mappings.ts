import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../base/errors.ts';
import { listMappings, saveMappings } from '../../domain/bank-files/files-store.ts';
import { assertMapping } from '../../domain/bank-files/mapping.ts';
import { empty, filledText } from '../fields.ts';
import { operation } from '../operation.ts';
import { columns } from './mapping-fields.ts';

const mappingsMax = 100;

export const makeMappings = operation({
  path: '/billing/bank-files/make-mappings',
  method: 'Create',
  action: 'Create Bank Mappings',
  access: { permission: 'bank-files:write' },
  summary: 'Saves how CSV files of banks are read; one with the same name is replaced.',
  request: Type.Object({
    mappings: Type.Array(Type.Object({ name: filledText({ max: 60 }), columns }), {
      minItems: 1,
      maxItems: mappingsMax,
    }),
  }),
  response: empty,
  errors: ['DUPLICATE_ROW'],
  example: {
    mappings: [
      {
        name: 'First Bank',
        columns: {
          date: 'Booking date',
          amount: 'Amount',
          reference: 'Reference',
          payer: 'Payer',
          text: 'Details',
          bankID: 'Transaction ID',
          dateFormat: 'DD/MM/YYYY',
          decimal: '.',
          delimiter: ',',
          skipRows: 0,
        },
      },
    ],
  },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const mappings = body.mappings.map(({ name, columns: sent }, index) => {
      assertMapping(sent, `mappings[${index}].columns`);
      return { name: name.trim(), columns: sent };
    });
    const names = mappings.map((one) => one.name);
    const repeated = names.findIndex((name, index) => names.indexOf(name) < index);
    if (repeated >= 0) {
      const message = `The mapping ${names[repeated]} appears twice`;
      throw new AppError('DUPLICATE_ROW', { message, field: `mappings[${repeated}].name` });
    }
    const wanted = { names, offset: 0, limit: mappingsMax };
    const before = await listMappings(call.tx, tenantId, wanted);
    const byName = new Map(before.map((one) => [one.name, one.columns]));
    const stamp = { at: call.now, by: call.principal.name };
    await saveMappings(call.tx, tenantId, mappings, stamp);
    for (const { name, columns: after } of mappings) {
      const entry = { subject: 'bank mapping', subjectId: name, after: { columns: after } };
      const known = byName.get(name);
      call.audit({ ...entry, before: known ? { columns: known } : null });
    }
    return { message: `${counted(mappings.length, 'mapping')} saved`, data: {} };
  },
});
