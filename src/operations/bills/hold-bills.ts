import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { type BillKey, listBillKeys, updateHolds } from '../../domain/bills/store.ts';
import { getTerm, type Term } from '../../domain/terms/store.ts';
import { empty, filledText, id, limits } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { holdRefusal } from './hold-bill.ts';

export const holdBills = operation({
  path: '/billing/bills/hold-bills',
  method: 'Update',
  action: 'Hold Bills',
  access: { permission: 'bills:write' },
  summary: 'Leaves drafts out of posting until they are released: all of them, or none.',
  takesRows: true,
  request: Type.Object({
    data: Type.Object({
      billIDs: Type.Array(id, { minItems: 1, maxItems: limits.batch }),
      hold: Type.Boolean(),
      reason: filledText({ max: 500 }),
    }),
  }),
  response: empty,
  errors: ['BILL_NOT_FOUND', 'INVALID_STATE', 'DUPLICATE_ROW', 'ROWS_REJECTED'],
  example: { data: { billIDs: [1, 2], hold: true, reason: 'Readings to be checked' } },
  async handle(call, { data }) {
    const { hold: isHeld, billIDs } = data;
    const reason = data.reason.trim();
    const bills = await lockBills(call, billIDs);
    const stamp = { at: call.now, by: call.principal.name };
    await updateHolds(call.tx, call.tenant.tenantId, billIDs, { isHeld, reason }, stamp);
    for (const bill of bills) {
      call.audit({
        subject: 'bill',
        subjectId: bill.bill_id,
        before: { hold: bill.is_held, reason: bill.hold_reason },
        after: { hold: isHeld, reason },
      });
    }
    const done = isHeld ? 'put on hold' : 'released';
    return { message: `${counted(bills.length, 'bill')} ${done}`, data: {} };
  },
});

/** Terms first, then their bills, as every step of a bill run locks them. */
async function lockBills({ tx, tenant }: Call, billIds: readonly number[]): Promise<BillKey[]> {
  const { tenantId } = tenant;
  const seen = await listBillKeys(tx, tenantId, billIds);
  const terms = new Map<number, Term>();
  for (const termId of [...new Set(seen.map((bill) => bill.term_id))].sort((a, b) => a - b)) {
    terms.set(termId, await getTerm(tx, tenantId, termId, { lock: 'share' }));
  }
  const bills = await listBillKeys(tx, tenantId, billIds, { lock: true });
  const byId = new Map(bills.map((bill) => [bill.bill_id, bill]));
  const problems = billIds.flatMap((billId, row): ErrorDetail[] => {
    const problem = problemOf(billId, billIds.indexOf(billId) < row, byId.get(billId), terms);
    return problem ? [{ field: `data.billIDs[${row}]`, rejectedValue: billId, ...problem }] : [];
  });
  if (problems.length > 0) throw errorFromRows(problems);
  return bills;
}

function problemOf(
  billId: number,
  isRepeated: boolean,
  bill: BillKey | undefined,
  terms: ReadonlyMap<number, Term>,
): Pick<ErrorDetail, 'code' | 'message'> | undefined {
  if (isRepeated) return { code: 'DUPLICATE_ROW', message: `Bill ${billId} appears twice` };
  const term = bill && terms.get(bill.term_id);
  if (!term) return { code: 'BILL_NOT_FOUND', message: `No bill has the id ${billId}` };
  const refusal = holdRefusal(term, bill);
  return refusal && { code: 'INVALID_STATE', message: refusal.message };
}
