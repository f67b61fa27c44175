import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type CashDesk,
  type CashierTotal,
  type ClosedDayRow,
  type DeskTotal,
  listCashDesks,
  listCashierTotals,
  listDeskTotals,
  listLastClosedDays,
} from '../../domain/receivables/cash-desks-store.ts';
import { date, maybe, money, nullable, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';

const day = Type.String({ description: 'DD/MM/YYYY' });

const deskView = Type.Object({
  cashDesk: Type.String(),
  name: Type.String(),
  cashAccountID: Type.Integer(),
  date: day,
  taken: Type.Array(
    Type.Object({ paymentMethod: Type.String(), amount: money, payments: Type.Integer() }),
    { description: 'on this day, without what was reversed the same day' },
  ),
  cashiers: Type.Array(
    Type.Object({
      cashier: Type.String({ description: 'the login that took the payments' }),
      paymentMethod: Type.String(),
      amount: money,
      payments: Type.Integer(),
    }),
    { description: 'the same by login' },
  ),
  lastClosed: nullable(
    Type.Object({
      date: day,
      difference: Type.Number({ description: 'counted less expected' }),
      reason: nullable(Type.String()),
      closedBy: Type.String(),
    }),
  ),
});

export const getCashDesks = operation({
  path: '/billing/cash-desks/get-cash-desks',
  method: 'Retrieve',
  action: 'Retrieve Cash Desks',
  access: { permission: 'payments:read' },
  summary: 'Shows cash desks with what each took on a day, and when each was last closed.',
  request: Type.Object({ cashDesk: maybe(text({ max: 16 })), date: maybe(date) }),
  response: Type.Object({ cashDesks: Type.Array(deskView) }),
  errors: [],
  example: { date: '18/08/2026' },
  async handle(call, body) {
    const { tx, tenant } = call;
    const all = await listCashDesks(tx, tenant.tenantId);
    const wanted = body.cashDesk ? all.filter((one) => one.code === body.cashDesk) : all;
    const closed = await listLastClosedDays(tx, tenant.tenantId);
    const lastOf = new Map(closed.map((one) => [one.cash_desk_id, one]));
    const on = dayOf(body.date) ?? postingOf(call).today;
    const ids = wanted.map((one) => one.cash_desk_id);
    const [totals, cashiers] = await Promise.all([
      listDeskTotals(tx, tenant.tenantId, ids, on),
      listCashierTotals(tx, tenant.tenantId, ids, on),
    ]);
    const taken = Map.groupBy(totals, (one) => one.cash_desk_id);
    const byCashier = Map.groupBy(cashiers, (one) => one.cash_desk_id);
    const cashDesks = wanted.map((desk) => {
      const { cash_desk_id: deskId } = desk;
      return present(call, desk, {
        on,
        taken: taken.get(deskId) ?? [],
        cashiers: byCashier.get(deskId) ?? [],
        last: lastOf.get(deskId),
      });
    });
    return { message: counted(cashDesks.length, 'cash desk'), data: { cashDesks } };
  },
});

type Day = {
  on: Temporal.PlainDate;
  taken: readonly DeskTotal[];
  cashiers: readonly CashierTotal[];
  last: ClosedDayRow | undefined;
};

function present({ tenant }: Call, desk: CashDesk, { on, taken, cashiers, last }: Day) {
  const amount = (minor: number | string) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  const byMethod = (one: DeskTotal) => ({
    paymentMethod: one.payment_method,
    amount: amount(one.amount),
    payments: one.payments,
  });
  return {
    cashDesk: desk.code,
    name: desk.name,
    cashAccountID: desk.cash_account_id,
    date: formatDate(on),
    taken: taken.map(byMethod),
    cashiers: cashiers.map((one) => ({ cashier: one.created_by, ...byMethod(one) })),
    lastClosed: last
      ? {
          date: wireDay(last.desk_date),
          difference: amount(last.difference),
          reason: last.reason,
          closedBy: last.closed_by,
        }
      : null,
  };
}
