import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { majorUnits } from '../../base/money.ts';
import { agingIn, agingOf } from '../../domain/receivables/aging.ts';
import { statementLine } from '../../domain/receivables/statement-line.ts';
import {
  findDisputed,
  findStatement,
  findWallet,
  listOpenAt,
  listStatement,
} from '../../domain/receivables/statement-store.ts';
import { date, limits, maybe, money, nullable, page } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  requireStatementKey,
  statementDays,
  statementErrors,
  statementOf,
} from './statement-fields.ts';

const shownDate = Type.String({ description: 'DD/MM/YYYY' });

const request = Type.Object({
  ...statementOf,
  fromDate: maybe(date),
  toDate: maybe(date),
  page: Type.Optional(page),
});

export const getStatement = operation({
  path: '/billing/statements/get-statement',
  method: 'Retrieve',
  action: 'Retrieve Statement',
  access: { permission: 'payments:read', own: 'own-payments:read' },
  summary:
    'Shows what a party, an account of it or a subscription owes, entry by entry, and the aging.',
  request,
  response: Type.Object({
    fromDate: nullable(shownDate),
    toDate: shownDate,
    currency: Type.String(),
    openingBalance: money,
    entries: Type.Array(
      Type.Object({
        date: shownDate,
        type: Type.String({ description: 'Bill, Payment, CreditNote, Adjustment, …' }),
        reference: nullable(Type.String()),
        description: nullable(Type.String()),
        debit: money,
        credit: money,
        balance: Type.Number({ description: 'after this entry' }),
      }),
    ),
    closingBalance: money,
    walletBalance: Type.Number({ description: 'paid ahead, as of now; not part of the balance' }),
    disputedBalance: Type.Number({ description: 'in dispute now; not part of the balance' }),
    aging: Type.Object({
      current: money,
      d1_30: money,
      d31_60: money,
      d61_90: money,
      over90: money,
    }),
  }),
  errors: statementErrors,
  example: { partyNumber: 100001, page: { pageNumber: 0, size: 50 } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId, currencyDecimals } = tenant;
    const key = await requireStatementKey(call, body);
    const { from, to, days } = statementDays(call, body);
    const { pageNumber, size } = body.page ?? { pageNumber: 0, size: limits.pageSize };
    const window = { offset: pageNumber * size, limit: size };
    const [found, rows, open, wallet, disputed] = await Promise.all([
      findStatement(tx, tenantId, key, days),
      listStatement(tx, tenantId, key, days, window),
      listOpenAt(tx, tenantId, key, days.to),
      findWallet(tx, tenantId, key.partyId),
      findDisputed(tx, tenantId, key),
    ]);
    const amount = (minor: bigint) => majorUnits(minor, currencyDecimals);
    const items = open.map((row) => ({ dueDate: row.due_date, open: BigInt(row.open) }));
    return {
      message: `${counted(found.entries, 'entry', 'entries')} up to ${formatDate(to)}`,
      data: {
        fromDate: from ? formatDate(from) : null,
        toDate: formatDate(to),
        currency: tenant.currency,
        openingBalance: amount(found.opening),
        entries: rows.map((row) => statementLine(row, found.opening, amount)),
        closingBalance: amount(found.opening + found.moved),
        walletBalance: amount(wallet),
        disputedBalance: amount(disputed),
        aging: agingIn(agingOf(items, to), amount),
      },
      total: found.entries,
    };
  },
});
