import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { listAccounts } from '../../domain/ledger/accounts-store.ts';
import { insertCashDesks, listCashDesks } from '../../domain/receivables/cash-desks-store.ts';
import { empty, filledText, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';

const desk = Type.Object({
  code: Type.String({
    pattern: '^[A-Z0-9][A-Z0-9_-]{0,15}$',
    maxLength: 16,
    'x-code': 'INVALID_FORMAT',
    description: 'letters A-Z, digits, - and _; receipts are numbered {code}-{year}-{number}',
  }),
  name: filledText({ max: 120 }),
  cashAccountID: id,
});

export const makeCashDesks = operation({
  path: '/billing/cash-desks/make-cash-desks',
  method: 'Create',
  action: 'Create Cash Desks',
  access: { permission: 'settings:write' },
  summary: 'Opens cash desks, all or none; each gives receipts in a series of its own.',
  takesRows: true,
  request: Type.Object({
    cashDesks: Type.Array(desk, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: ['DUPLICATE', 'LEDGER_ACCOUNT_NOT_FOUND', 'ROWS_REJECTED'],
  example: { cashDesks: [{ code: 'MAIN', name: 'Counter at the gate', cashAccountID: 1 }] },
  async handle(call, { cashDesks }) {
    const { tx, tenant } = call;
    const known = new Set((await listCashDesks(tx, tenant.tenantId)).map((one) => one.code));
    const accounts = await listAccounts(tx, tenant.tenantId);
    const usable = new Set(
      accounts
        .filter((one) => one.kind === 'Asset' && !one.is_control)
        .map((one) => one.ledger_account_id),
    );
    const problems = cashDesks.flatMap(({ code, cashAccountID }, row): RowProblem[] => {
      if (!usable.has(cashAccountID)) {
        const message = `${cashAccountID} is not a ledger account for money: see get-accounts`;
        const problem = { name: 'cashAccountID', code: 'LEDGER_ACCOUNT_NOT_FOUND' } as const;
        return [{ row, ...problem, message, rejectedValue: cashAccountID }];
      }
      if (!known.has(code)) {
        known.add(code);
        return [];
      }
      const message = `A cash desk has the code ${code}`;
      return [{ row, name: 'code', code: 'DUPLICATE', message, rejectedValue: code }];
    });
    if (problems.length > 0) throw errorFromRows(detailsOf(problems, 'cashDesks'));
    const wanted = cashDesks.map(({ code, name, cashAccountID: cashAccountId }) => {
      return { code, name: name.trim(), cashAccountId };
    });
    const ids = await insertCashDesks(tx, tenant.tenantId, wanted, postingOf(call).stamp);
    wanted.forEach((after, row) => {
      call.audit({ subject: 'cash-desk', subjectId: ids[row] ?? 0, before: null, after });
    });
    const message = `${counted(ids.length, 'cash desk')} opened`;
    return { message, data: {}, ids: { resourceIds: ids } };
  },
});
