import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { insertAccounts } from '../../domain/ledger/accounts-store.ts';
import { empty, filledText, limits, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';

const account = Type.Object({
  code: filledText({ max: 64, description: 'by which components and reports name the account' }),
  name: filledText({ max: 120 }),
  kind: oneOf(['Asset', 'Liability', 'Income', 'Expense', 'Equity']),
});

export const makeLedgerAccounts = operation({
  path: '/billing/ledger/make-accounts',
  method: 'Create',
  action: 'Create Ledger Accounts',
  access: { permission: 'ledger:write' },
  summary: 'Adds accounts to the chart of accounts, all or none.',
  takesRows: true,
  request: Type.Object({
    accounts: Type.Array(account, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: ['DUPLICATE', 'ROWS_REJECTED'],
  example: { accounts: [{ code: '4410', name: 'Electricity sold', kind: 'Income' }] },
  async handle(call, body) {
    const wanted = body.accounts.map(({ code, name, kind }) => ({
      code: code.trim(),
      name: name.trim(),
      kind,
    }));
    const { ids, taken } = await insertAccounts(call.tx, call.tenant.tenantId, unique(wanted));
    const problems = wanted.flatMap((one, row) => problemsOf(one, row, wanted, taken));
    if (problems.length > 0) throw errorFromRows(detailsOf(problems, 'accounts'));
    wanted.forEach((after, row) => {
      const subjectId = ids[row] ?? 0;
      call.audit({ subject: 'ledger-account', subjectId, before: null, after });
    });
    const message = `${counted(ids.length, 'ledger account')} added`;
    return { message, data: {}, ids: { resourceIds: ids } };
  },
});

type Wanted = { code: string; name: string; kind: string };

function unique(wanted: readonly Wanted[]): Wanted[] {
  return [...new Map(wanted.map((one) => [one.code, one])).values()];
}

function problemsOf(
  { code }: Wanted,
  row: number,
  all: readonly Wanted[],
  taken: ReadonlySet<string>,
): RowProblem[] {
  const isTwice = all.findIndex((one) => one.code === code) !== row;
  if (!isTwice && !taken.has(code)) return [];
  const message = isTwice
    ? `The code ${code} appears twice in this call`
    : `A ledger account has the code ${code}: choose another, or rename that one`;
  return [{ row, name: 'code', code: 'DUPLICATE', message, rejectedValue: code }];
}
