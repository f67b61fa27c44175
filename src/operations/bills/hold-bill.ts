import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import { type BillKey, billNotFound, findBillKey, updateHolds } from '../../domain/bills/store.ts';
import { getTerm, type Term } from '../../domain/terms/store.ts';
import { empty, id, maybe, text, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';

export const holdBill = operation({
  path: '/billing/bills/hold-bill',
  method: 'Update',
  action: 'Hold Bill',
  access: { permission: 'bills:write' },
  summary: 'Leaves a draft out of posting until it is released.',
  request: Type.Object({
    data: Type.Object({
      billID: id,
      hold: Type.Boolean(),
      reason: maybe(text({ max: 500 })),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['BILL_NOT_FOUND', 'STALE_OBJECT', 'INVALID_STATE'],
  example: { data: { billID: 1, hold: true, reason: 'Reading to be checked' } },
  async handle(call, { data }) {
    const { tx, tenant, now, principal } = call;
    const { tenantId } = tenant;
    const { billID: billId, hold: isHeld } = data;
    const found = await findBillKey(tx, tenantId, billId);
    if (!found) throw billNotFound(billId, 'data.billID');
    // Generating and posting hold the term while they begin, and tell by its stage that they run.
    const term = await getTerm(tx, tenantId, found.term_id, { lock: 'share' });
    const bill = await findBillKey(tx, tenantId, billId, { lock: true });
    if (!bill) throw billNotFound(billId, 'data.billID');
    assertNotStale(data.ts, bill, { what: `Bill ${billId}`, field: 'data.ts' });
    const refusal = holdRefusal(term, bill);
    if (refusal) throw refusal;
    const reason = data.reason || null;
    await updateHolds(tx, tenantId, [billId], { isHeld, reason }, { at: now, by: principal.name });
    const { is_held: wasHeld, hold_reason: earlier } = bill;
    call.audit({
      subject: 'bill',
      subjectId: billId,
      before: { hold: wasHeld, reason: earlier },
      after: { hold: isHeld, reason },
    });
    return { message: isHeld ? 'The bill is on hold' : 'The bill is released', data: {} };
  },
});

/** Why the bill can be neither held nor released; undefined if it can. */
export function holdRefusal(term: Term, bill: BillKey): AppError | undefined {
  const isDraft = ['Draft', 'Hold', 'Error'].includes(bill.status);
  if (term.status === 'Open' && term.stage === 'Generated' && isDraft) return undefined;
  return new AppError('INVALID_STATE', {
    message:
      `The bill is ${bill.status} and its term is ${term.stage}. ` +
      'Only bills of a Generated term can be put on hold or released.',
    current: { status: bill.status, term: term.status, stage: term.stage },
    allowed: ['Draft', 'Hold', 'Error'],
  });
}
