import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import { majorUnits } from '../../base/money.ts';
import { type Report, reportNames, reports, summaryOf } from '../../domain/exports/reports.ts';
import type { ReportRow } from '../../domain/exports/reports-store.ts';
import { date, maybe, oneOf, page, text } from '../fields.ts';
import { daysOf } from '../ledger/ledger-fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';

const freeForm = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
});

export const getReport = operation({
  path: '/billing/reports/get-report',
  method: 'Retrieve',
  action: 'Retrieve Report',
  access: { permission: 'ledger:read' },
  summary: 'Shows a report: columns, rows and totals.',
  request: Type.Object({
    report: oneOf(reportNames),
    fromDate: maybe(date),
    toDate: maybe(date),
    serviceCode: maybe(text({ max: 32 })),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        label: Type.String(),
        type: Type.String({ description: 'Text, Number or Amount' }),
      }),
    ),
    rows: Type.Array(freeForm),
    totals: freeForm,
    asOf: Type.String({ description: 'DD/MM/YYYY' }),
  }),
  errors: [],
  example: { report: 'Revenue', page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const report = reports[body.report];
    const { from, to } = daysOf(body);
    const asOf = to ?? postingOf(call).today;
    const filter = { from, to: asOf, serviceCode: body.serviceCode || null };
    const { count, sums } = await summaryOf(call.tx, tenantId, report, filter);
    const totals = shown(report, sums, call);
    return listing(call, {
      page: body.page,
      count: () => Promise.resolve(count),
      at: (tx, window) => report.list(tx, tenantId, filter, { ...window, after: 0 }),
      after: (tx, { after, limit }) =>
        report.list(tx, tenantId, filter, { after: after?.key ?? 0, offset: 0, limit }),
      present: (row: ReportRow) => shown(report, row, call),
      wrap: (rows) => ({ columns: [...report.columns], rows, totals, asOf: formatDate(asOf) }),
    });
  },
});

/** Amounts in major units; columns that totals do not have are left out. */
function shown(
  { columns }: Report,
  row: Readonly<Record<string, string | number | null>>,
  { tenant }: Call,
): Record<string, unknown> {
  const wanted = columns.filter(({ name }) => name in row);
  return Object.fromEntries(
    wanted.map(({ name, type }) => {
      const value = row[name] ?? null;
      const isAmount = type === 'Amount' && value !== null;
      return [name, isAmount ? majorUnits(BigInt(value), tenant.currencyDecimals) : value];
    }),
  );
}
