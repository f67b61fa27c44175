import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import {
  makeCreditNotes as make,
  type WantedCreditNote,
} from '../../domain/receivables/credit-notes.ts';
import { empty, filledText, id, limits, maybe } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';
import { decimal } from '../pricing-fields.ts';

/** A bill has fewer components. */
const linesMax = 200;

const creditNote = Type.Object({
  reference: maybe(filledText({ max: 120, description: 'unique for ever' })),
  billID: id,
  lines: maybe(
    Type.Array(Type.Object({ component: filledText({ max: 120 }), amount: decimal }), {
      maxItems: linesMax,
    }),
  ),
  fullBill: maybe(Type.Boolean({ description: 'credits all that is left; instead of lines' })),
  reason: filledText({ max: 500 }),
});

export const makeCreditNotes = operation({
  path: '/billing/credit-notes/make-credit-notes',
  method: 'Create',
  action: 'Create Credit Notes',
  access: { permission: 'credits:write' },
  summary: 'Credits components of posted bills, or the rest of the bills; all or none.',
  takesRows: true,
  request: Type.Object({
    creditNotes: Type.Array(creditNote, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: [
    'BILL_NOT_FOUND',
    'COMPONENT_NOT_FOUND',
    'INVALID_STATE',
    'DUPLICATE',
    'AMOUNT_ABOVE_OPEN',
    'ROWS_REJECTED',
  ],
  example: {
    creditNotes: [
      {
        reference: 'CLAIM-2026-0031',
        billID: 991,
        lines: [{ component: 'energyCharge', amount: 500 }],
        reason: 'The meter was misread',
      },
    ],
  },
  async handle(call, body) {
    const read = body.creditNotes.map((sent, row) => creditNoteFrom(sent, row, call));
    const wrong = read.flatMap((one) => one.problems);
    if (wrong.length > 0) throw errorFromRows(detailsOf(wrong, 'creditNotes'));
    const wanted = read.map((one) => one.wanted);
    const made = await make(call.tx, call.tenant.tenantId, wanted, postingOf(call));
    if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'creditNotes'));
    wanted.forEach((after, row) => {
      const subjectId = made.creditNoteIds[row] ?? 0;
      call.audit({ subject: 'credit-note', subjectId, before: null, after });
    });
    const message = `${counted(wanted.length - made.repeated, 'credit note')} made`;
    return { message, data: {}, ids: { resourceIds: [...made.creditNoteIds] } };
  },
});

function creditNoteFrom(
  sent: Type.Static<typeof creditNote>,
  row: number,
  { tenant }: Call,
): { wanted: WantedCreditNote; problems: RowProblem[] } {
  const problems: RowProblem[] = [];
  const lines = sent.lines?.length ? sent.lines : null;
  if (Boolean(lines) === (sent.fullBill ?? false)) {
    const message = 'A credit note has either lines or fullBill: true';
    problems.push({ row, name: 'lines', code: 'REQUIRED_FIELD', message, rejectedValue: null });
  }
  const read = lines?.map(({ component, amount: value }, index) => {
    const amount = minorUnitsFrom(String(value), tenant.currencyDecimals) ?? 0;
    if (amount <= 0) {
      const message = `The amount of a line is ${amountWords(tenant.currencyDecimals)}, above zero`;
      const problem = { code: 'INVALID_NUMBER', message, rejectedValue: value } as const;
      problems.push({ row, name: `lines[${index}].amount`, ...problem });
    }
    return { component, amount };
  });
  const wanted = {
    reference: sent.reference?.trim() || null,
    billId: sent.billID,
    lines: read ?? null,
    reason: sent.reason.trim(),
  };
  return { wanted, problems };
}
