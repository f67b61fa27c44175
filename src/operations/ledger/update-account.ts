import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { listAccounts, renameAccount } from '../../domain/ledger/accounts-store.ts';
import { empty, filledText } from '../fields.ts';
import { operation } from '../operation.ts';

export const updateLedgerAccount = operation({
  path: '/billing/ledger/update-account',
  method: 'Update',
  action: 'Update Ledger Account',
  access: { permission: 'ledger:write' },
  summary: 'Renames a ledger account; its code and kind stay.',
  request: Type.Object({
    data: Type.Object({ accountCode: filledText({ max: 64 }), name: filledText({ max: 120 }) }),
  }),
  response: empty,
  errors: ['LEDGER_ACCOUNT_NOT_FOUND'],
  example: { data: { accountCode: 'INCOME', name: 'Sales' } },
  async handle(call, { data }) {
    const { tenantId } = call.tenant;
    const code = data.accountCode.trim();
    const before = (await listAccounts(call.tx, tenantId)).find((one) => one.code === code);
    const name = data.name.trim();
    if (!before || !(await renameAccount(call.tx, tenantId, { code, name }))) {
      const message = `No ledger account has the code ${code}`;
      throw new AppError('LEDGER_ACCOUNT_NOT_FOUND', { message, field: 'data.accountCode' });
    }
    const { ledger_account_id: subjectId } = before;
    const names = { before: { name: before.name }, after: { name } };
    call.audit({ subject: 'ledger-account', subjectId, ...names });
    return { message: `Ledger account ${code} is named ${name}`, data: {} };
  },
});
