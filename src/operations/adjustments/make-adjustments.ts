import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import { makeAdjustments as make } from '../../domain/receivables/adjust.ts';
import { adjustmentKinds, type WantedAdjustment } from '../../domain/receivables/adjustment.ts';
import { requireSecondPerson } from '../approving.ts';
import { date, empty, filledText, id, limits, maybe, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';
import { decimal } from '../pricing-fields.ts';

const adjustment = Type.Object({
  reference: filledText({ max: 120, description: 'unique for ever' }),
  connectionNumber: filledText({ max: 120 }),
  component: filledText({ max: 120 }),
  kind: oneOf(adjustmentKinds),
  amount: decimal,
  billID: maybe(id),
  date: maybe(date),
  reason: filledText({ max: 500 }),
});

const request = Type.Object({
  adjustments: Type.Array(adjustment, { minItems: 1, maxItems: limits.batch }),
});
export type AdjustmentsSent = Type.Static<typeof request>;

export const makeAdjustments = operation({
  path: '/billing/adjustments/make-adjustments',
  method: 'Create',
  action: 'Create Adjustments',
  access: { permission: 'credits:write' },
  summary: 'Charges or credits customers beside their bills, or writes debts off; all or none.',
  takesRows: true,
  request,
  response: empty,
  errors: [
    'SUBSCRIPTION_NOT_FOUND',
    'COMPONENT_NOT_FOUND',
    'DUPLICATE',
    'AMOUNT_ABOVE_OPEN',
    'DATE_IN_FUTURE',
    'APPROVAL_REQUIRED',
    'ROWS_REJECTED',
  ],
  example: {
    adjustments: [
      {
        reference: 'ADJ-2026-000007',
        connectionNumber: 'ELEC-00000001',
        component: 'energyCharge',
        kind: 'Credit',
        amount: -150,
        date: '18/08/2026',
        reason: 'Goodwill after the outage',
      },
    ],
  },
  async handle(call, body) {
    const { message, ids, givenUp } = await adjustAll(call, body);
    if (givenUp) await requireSecondPerson(call, { ...givenUp, request: body });
    return { message, data: {}, ids: { resourceIds: [...ids] } };
  },
});

export async function adjustAll(call: Call, body: AdjustmentsSent) {
  const { today, stamp } = postingOf(call);
  const read = body.adjustments.map((sent, row) => adjustmentFrom(sent, row, call, today));
  const wrong = read.flatMap((one) => one.problems);
  if (wrong.length > 0) throw errorFromRows(detailsOf(wrong, 'adjustments'));
  const wanted = read.map((one) => one.adjustment);
  const made = await make(call.tx, call.tenant.tenantId, wanted, { today, stamp });
  if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'adjustments'));
  wanted.forEach(({ date: day, ...facts }, row) => {
    const subjectId = made.adjustmentIds[row] ?? 0;
    const after = { ...facts, date: day.toString() };
    call.audit({ subject: 'adjustment', subjectId, before: null, after });
  });
  const isNew = made.repeated < wanted.length;
  const message = `${counted(wanted.length - made.repeated, 'adjustment')} made`;
  return { message, ids: made.adjustmentIds, givenUp: isNew ? largestGivenUp(wanted) : undefined };
}

/** The largest debt that is given up decides whether a second person is needed. */
function largestGivenUp(wanted: readonly WantedAdjustment[]) {
  const given = wanted.filter(({ kind }) => kind === 'WriteOff' || kind === 'BadDebt');
  if (given.length === 0) return undefined;
  const amount = Math.max(...given.map((one) => one.amount));
  return { kind: 'Adjustments', reference: wanted[0]?.reference ?? '', amount } as const;
}

function adjustmentFrom(
  sent: Type.Static<typeof adjustment>,
  row: number,
  { tenant }: Call,
  today: Temporal.PlainDate,
): { adjustment: WantedAdjustment; problems: RowProblem[] } {
  const { amount: value, kind } = sent;
  const minor = minorUnitsFrom(String(value), tenant.currencyDecimals) ?? 0;
  const isDebit = kind === 'Debit';
  const problems: RowProblem[] = [];
  if (isDebit ? minor <= 0 : minor >= 0) {
    const sign = isDebit ? 'above' : 'below';
    const what = amountWords(tenant.currencyDecimals);
    const message = `The amount of a ${kind} is ${what}, ${sign} zero`;
    problems.push({ row, name: 'amount', code: 'INVALID_NUMBER', message, rejectedValue: value });
  }
  const wanted = {
    reference: sent.reference.trim(),
    connectionNumber: sent.connectionNumber,
    component: sent.component,
    kind,
    amount: Math.abs(minor),
    billId: sent.billID ?? null,
    date: dayOf(sent.date) ?? today,
    reason: sent.reason.trim(),
  };
  return { adjustment: wanted, problems };
}
