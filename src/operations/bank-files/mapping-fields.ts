// Fields of a bank mapping, as they are sent and shown.
import * as Type from 'typebox';
import { filledText, maybe, oneOf, text } from '../fields.ts';

const column = maybe(text({ max: 120, description: 'a heading, or the number of the column' }));

export const columns = Type.Object({
  date: filledText({ max: 120, description: 'a heading, or the number of the column' }),
  amount: column,
  debit: column,
  credit: column,
  reference: column,
  payer: column,
  payerAccount: column,
  text: column,
  bankID: column,
  currency: column,
  dateFormat: filledText({ max: 40, description: 'such as DD/MM/YYYY, YYYY-MM-DD, D-MMM-YY' }),
  decimal: oneOf(['.', ',']),
  delimiter: maybe(oneOf([',', ';', '\t', '|'])),
  skipRows: maybe(
    Type.Integer({
      minimum: 0,
      maximum: 1_000,
      'x-code': 'INVALID_NUMBER',
      description: 'lines above the headings, or above the first row',
    }),
  ),
});
