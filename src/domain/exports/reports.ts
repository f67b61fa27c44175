// Reports: what each shows, and how its rows are read piece by piece.
import type { Cell } from '../../base/csv/write.ts';
import type { Tx } from '../../base/db/pool.ts';
import { amountText } from '../../base/money.ts';
import type { JobTenant } from '../tenants/tenant.ts';
import { findAgingTotals, listAging } from './aging-store.ts';
import {
  countUnread,
  findRegisterTotals,
  listByComponent,
  listCollection,
  listConsumption,
  listRegister,
  listUnread,
  type ReportFilter,
  type ReportRow,
  type ReportWindow,
} from './reports-store.ts';

export const reportNames = [
  'Aging',
  'Collection',
  'Revenue',
  'TaxSummary',
  'Consumption',
  'UnreadMeters',
  'BillRegister',
] as const;
export type ReportName = (typeof reportNames)[number];

export type ReportColumn = { name: string; label: string; type: 'Text' | 'Number' | 'Amount' };

export type Report = {
  columns: readonly ReportColumn[];
  /** A page, or the rows after one; a short report has all its rows in the first. */
  list(tx: Tx, tenantId: number, filter: ReportFilter, window: ReportWindow): Promise<ReportRow[]>;
  /** Null: the sums of the rows. `key` counts the rows. */
  totals: ((tx: Tx, tenantId: number, filter: ReportFilter) => Promise<ReportRow>) | null;
};

const text = (name: string, label: string): ReportColumn => ({ name, label, type: 'Text' });
const count = (name: string, label: string): ReportColumn => ({ name, label, type: 'Number' });
const amount = (name: string, label: string): ReportColumn => ({ name, label, type: 'Amount' });

const byComponent = [
  text('accountCode', 'Account'),
  text('accountName', 'Name'),
  text('component', 'Component'),
  amount('billed', 'Billed'),
  amount('credited', 'Credited'),
  amount('net', 'Net'),
];

/** A report whose rows are few: sums by day, account or input. */
function short(
  columns: readonly ReportColumn[],
  list: (tx: Tx, tenantId: number, filter: ReportFilter) => Promise<ReportRow[]>,
): Report {
  return {
    columns,
    totals: null,
    list: async (tx, tenantId, filter, { after, offset, limit }) => {
      const all = await list(tx, tenantId, filter);
      return all.filter((row) => row.key > after).slice(offset, offset + limit);
    },
  };
}

export const reports: Record<ReportName, Report> = {
  Aging: {
    columns: [
      count('partyNumber', 'Party'),
      text('partyName', 'Name'),
      amount('current', 'Not due'),
      amount('d1_30', '1 to 30 days'),
      amount('d31_60', '31 to 60 days'),
      amount('d61_90', '61 to 90 days'),
      amount('over90', 'Over 90 days'),
      amount('total', 'Total'),
    ],
    list: listAging,
    totals: findAgingTotals,
  },
  Collection: short(
    [
      text('date', 'Date'),
      text('paymentMethod', 'Method'),
      count('payments', 'Payments'),
      amount('amount', 'Received'),
      amount('reversed', 'Reversed'),
      amount('net', 'Net'),
    ],
    listCollection,
  ),
  Revenue: short(byComponent, (tx, tenantId, filter) =>
    listByComponent(tx, tenantId, filter, ['Income', 'Expense']),
  ),
  TaxSummary: short(byComponent, (tx, tenantId, filter) =>
    listByComponent(tx, tenantId, filter, ['Liability']),
  ),
  Consumption: short(
    [
      text('serviceCode', 'Service'),
      text('input', 'Input'),
      count('bills', 'Bills'),
      text('quantity', 'Quantity'),
      text('estimated', 'Estimated of it'),
    ],
    listConsumption,
  ),
  UnreadMeters: {
    columns: [
      text('connectionNumber', 'Subscription'),
      text('serviceCode', 'Service'),
      text('partyName', 'Name'),
      count('meterNumber', 'Meter'),
      text('input', 'Input'),
      text('lastReadingDate', 'Last read'),
      text('lastReading', 'Last reading'),
    ],
    list: listUnread,
    totals: countUnread,
  },
  BillRegister: {
    columns: [
      text('billNumber', 'Bill'),
      text('issueDate', 'Issued'),
      text('dueDate', 'Due'),
      text('serviceCode', 'Service'),
      text('status', 'Status'),
      text('paymentStatus', 'Payment'),
      count('partyNumber', 'Party'),
      text('partyName', 'Name'),
      text('connectionNumber', 'Subscription'),
      amount('currentCharges', 'Charges'),
      amount('taxAmount', 'Tax'),
      amount('billAmount', 'Amount'),
      amount('paidAmount', 'Paid'),
      amount('outstandingAmount', 'Open'),
    ],
    list: listRegister,
    totals: findRegisterTotals,
  },
};

export type Summary = {
  /** How many rows the report has. */
  count: number;
  /** Sums of its amounts, as text in minor units. */
  sums: Record<string, string>;
};

export async function summaryOf(
  tx: Tx,
  tenantId: number,
  report: Report,
  filter: ReportFilter,
): Promise<Summary> {
  const summed = report.columns.filter(({ type }) => type === 'Amount').map(({ name }) => name);
  if (report.totals) {
    const found = await report.totals(tx, tenantId, filter);
    const sums = Object.fromEntries(summed.map((name) => [name, String(found[name] ?? 0)]));
    return { count: found.key, sums };
  }
  const all = { after: 0, offset: 0, limit: Number.MAX_SAFE_INTEGER };
  const rows = await report.list(tx, tenantId, filter, all);
  const sum = (name: string) => rows.reduce((total, row) => total + BigInt(row[name] ?? 0), 0n);
  const sums = Object.fromEntries(summed.map((name) => [name, String(sum(name))]));
  return { count: rows.length, sums };
}

/** A row as cells of a CSV file. */
export function reportCells({ columns }: Report, { currencyDecimals }: JobTenant) {
  return (row: ReportRow): Record<string, Cell> =>
    Object.fromEntries(
      columns.map(({ name, type }) => {
        const value = row[name] ?? null;
        const isAmount = type === 'Amount' && value !== null;
        return [name, isAmount ? amountText(BigInt(value), currencyDecimals) : value];
      }),
    );
}
