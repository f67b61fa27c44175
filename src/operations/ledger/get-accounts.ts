import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { listAccounts } from '../../domain/ledger/accounts-store.ts';
import { maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';

export const getLedgerAccounts = operation({
  path: '/billing/ledger/get-accounts',
  method: 'Retrieve',
  action: 'Retrieve Ledger Accounts',
  access: { permission: 'ledger:read' },
  summary: 'Shows the chart of accounts.',
  request: Type.Object({ accountCode: maybe(text({ max: 64 })) }),
  response: Type.Object({
    accounts: Type.Array(
      Type.Object({
        ledgerAccountID: Type.Integer({ description: 'for cashAccountID of a pricing context' }),
        accountCode: Type.String(),
        name: Type.String(),
        kind: Type.String({ description: 'Asset, Liability, Income, Expense or Equity' }),
        isControl: Type.Integer({
          description: '1 if it is the sum of what customers owe or hold',
        }),
      }),
    ),
  }),
  errors: [],
  example: {},
  async handle(call, body) {
    const all = await listAccounts(call.tx, call.tenant.tenantId);
    const wanted = body.accountCode ? all.filter((one) => one.code === body.accountCode) : all;
    const accounts = wanted.map((row) => ({
      ledgerAccountID: row.ledger_account_id,
      accountCode: row.code,
      name: row.name,
      kind: row.kind,
      isControl: Number(row.is_control),
    }));
    return { message: counted(accounts.length, 'ledger account'), data: { accounts } };
  },
});
