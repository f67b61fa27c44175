import * as Type from 'typebox';
import { dateIn, formatDate, parseDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { majorUnits } from '../../base/money.ts';
import { findTrialBalance } from '../../domain/ledger/trial-balance.ts';
import { date, maybe, money, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { assertOrder } from './ledger-fields.ts';

const shownDate = Type.String({ description: 'DD/MM/YYYY' });

export const getTrialBalance = operation({
  path: '/billing/ledger/get-trial-balance',
  method: 'Retrieve',
  action: 'Retrieve Trial Balance',
  access: { permission: 'ledger:read' },
  summary: 'Shows debits and credits of each ledger account, by posting date.',
  request: Type.Object({
    fromDate: maybe(date),
    toDate: maybe(date),
    accountCode: maybe(text({ max: 64 })),
  }),
  response: Type.Object({
    asOf: shownDate,
    accounts: Type.Array(
      Type.Object({
        accountCode: Type.String(),
        name: Type.String(),
        kind: Type.String({ description: 'Asset, Liability, Income, Expense or Equity' }),
        debit: money,
        credit: money,
        balance: Type.Number({ description: 'debit less credit' }),
      }),
    ),
    totals: Type.Object({
      debit: money,
      credit: money,
      difference: Type.Number({ description: 'debit less credit of all accounts: always 0' }),
    }),
  }),
  errors: [],
  example: { fromDate: '01/07/2025', toDate: '31/07/2025', accountCode: null },
  async handle(call, body) {
    const { tenantId, timezone, currencyDecimals } = call.tenant;
    const from = (body.fromDate && parseDate(body.fromDate)) || null;
    const to = (body.toDate && parseDate(body.toDate)) || dateIn(call.now, timezone);
    assertOrder(from, to);
    const query = { from, to, accountCode: body.accountCode ?? null };
    const { accounts, totals } = await findTrialBalance(call.tx, tenantId, query);
    const amount = (minor: bigint) => majorUnits(minor, currencyDecimals);
    return {
      message: `${counted(accounts.length, 'ledger account')} as of ${formatDate(to)}`,
      data: {
        asOf: formatDate(to),
        accounts: accounts.map(({ code, name, kind, debit, credit, balance }) => ({
          accountCode: code,
          name,
          kind,
          debit: amount(debit),
          credit: amount(credit),
          balance: amount(balance),
        })),
        totals: {
          debit: amount(totals.debit),
          credit: amount(totals.credit),
          difference: amount(totals.difference),
        },
      },
    };
  },
});
