import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import { findRun } from '../../domain/bills/generate/runs-store.ts';
import { findBill } from '../../domain/bills/list-store.ts';
import { explainStored } from '../../domain/bills/re-rate.ts';
import { bookOfRun } from '../../domain/bills/run-prices.ts';
import { getTerm } from '../../domain/terms/store.ts';
import { id, maybe, nullable } from '../fields.ts';
import { operation } from '../operation.ts';
import { lineExplanation } from './bill-fields.ts';
import { visibleBill } from './visible-bill-fields.ts';

export const explainBill = operation({
  path: '/billing/bills/explain-bill',
  method: 'Retrieve',
  action: 'Explain Bill',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'Shows how each line of a bill was computed, from the inputs frozen with it.',
  request: Type.Object({
    billID: id,
    lineNo: maybe(Type.Integer({ minimum: 1, maximum: 100_000, 'x-code': 'INVALID_NUMBER' })),
  }),
  response: Type.Object({
    bill: Type.Object({ billID: Type.Integer(), billNumber: nullable(Type.String()) }),
    lines: Type.Array(
      Type.Object({
        ...lineExplanation.properties,
        connectionNumber: Type.Optional(Type.String()),
      }),
    ),
  }),
  errors: ['BILL_NOT_FOUND', 'LINE_NOT_FOUND', 'FORMULA_TOO_COSTLY'],
  example: { billID: 1, lineNo: 1 },
  async handle(call, { billID, lineNo }) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const row = visibleBill(call, billID, await findBill(tx, tenantId, billID));
    const term = await getTerm(tx, tenantId, row.term_id);
    const key = { termId: row.term_id, runNumber: row.first_run };
    const run = await findRun(tx, tenantId, key);
    if (!run) throw new Error(`bill ${billID} has no run ${row.first_run}`);
    const { book } = await bookOfRun(tx, tenant, term, run);
    const explained =
      row.document.errors === undefined ? explainStored(book, row.frozen, row.document) : [];
    const lines = explained
      .filter((line) => !lineNo || line.lineNo === lineNo)
      .map((line) => ({
        ...line,
        amount: majorUnits(BigInt(line.amount), tenant.currencyDecimals),
      }));
    if (lineNo && lines.length === 0) {
      const known = counted(explained.length, 'line');
      const message = `Bill ${billID} has ${known} and no line ${lineNo}`;
      throw new AppError('LINE_NOT_FOUND', { message, field: 'lineNo' });
    }
    const bill = { billID, billNumber: row.bill_number };
    const message = `${counted(lines.length, 'line')} explained`;
    return { message, data: { bill, lines } as never };
  },
});
