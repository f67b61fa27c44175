// Reports: the figures of a period as a table, a chart of their first amount, and a file.
import { Card, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { pageSize } from '../../api/queries/base.ts';
import {
  type ReportFilter,
  reportHeadQuery,
  reportPages,
  servicesQuery,
} from '../../api/queries/ledger.ts';
import { Amount } from '../../parts/amount.tsx';
import type { Column } from '../../parts/columns.ts';
import { toWire } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { Filters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { rowsAtOnce } from '../../parts/totals.ts';

const Bars = lazy(() => import('../../parts/bars.tsx').then(({ Bars }) => ({ default: Bars })));

const names = [
  'Aging',
  'Collection',
  'Revenue',
  'TaxSummary',
  'Consumption',
  'UnreadMeters',
  'BillRegister',
] as const;
type Head = DataOf<'getReport'>;
type Row = Record<string, string | number | null>;

export function Reports() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { report, from, to, service } = useSearch({ from: '/inside/reports' });
  const chosen = names.find((one) => one === report) ?? 'Aging';
  const { data: services = [] } = useQuery(servicesQuery);
  const filter: ReportFilter = {
    report: chosen,
    fromDate: from && toWire(from),
    toDate: to && toWire(to),
    serviceCode: service,
  };
  const head = useQuery(reportHeadQuery(filter));
  const period = [from, to].filter(Boolean).join(' – ');
  return (
    <Page
      title={t(`report.${chosen}`)}
      hint={[t(`reportHint.${chosen}`), period, head.data && t('report.asOf', head.data)]
        .filter(Boolean)
        .join(' · ')}
    >
      <NativeSelect
        className="no-print"
        label={t('report.choose')}
        w={260}
        value={chosen}
        onChange={(event) =>
          navigate({ to: '/reports', search: { report: event.currentTarget.value, from, to } })
        }
        data={names.map((value) => ({ value, label: t(`report.${value}`) }))}
      />
      <Filters
        key={chosen}
        specs={{
          from: { label: t('from'), kind: 'date' },
          to: { label: t('to'), kind: 'date' },
          service: {
            label: t('terms.service'),
            kind: 'choice',
            choices: services.map((one) => ({ value: one.serviceCode, label: one.serviceLabel })),
          },
        }}
        values={{ from, to, service }}
        onChange={(search) => navigate({ to: '/reports', search: { report: chosen, ...search } })}
      />
      {head.isPending && <Loading />}
      {head.isLoadingError && <Refusal error={head.error} onRetry={() => head.refetch()} />}
      {head.data && <Report head={head.data} filter={filter} />}
    </Page>
  );
}

function Report({ head, filter }: { head: Head; filter: ReportFilter }) {
  const { t } = useTranslation();
  const { columns, totals } = head;
  const pages = reportPages(filter);
  const { data: first } = useQuery(pages(0));
  const total = first?.total ?? 0;
  // The largest are those of all rows: a report that one call cannot read has no chart.
  const all = useQuery({
    ...pages(0, total <= pageSize ? pageSize : rowsAtOnce),
    enabled: total <= rowsAtOnce,
  });
  const sums = columns.filter(({ name }) => (totals as Row)[name] !== undefined);
  return (
    <>
      <Figures
        items={sums.map(({ name, label, type }) => ({
          label: t(`reportColumn.${name}`, { defaultValue: label }),
          value: <Cell value={(totals as Row)[name]} type={type} />,
        }))}
      />
      {total <= rowsAtOnce && (
        <Chart head={head} report={filter.report} rows={all.data?.rows ?? []} />
      )}
      <List
        pages={pages}
        label={t(`report.${filter.report}`)}
        rowKey={(row) => JSON.stringify(row)}
        empty={<Empty title={t('report.none')}>{t('report.noneHint')}</Empty>}
        columns={columns.map(
          ({ name, label, type }): Column<Row> => ({
            key: name,
            label: t(`reportColumn.${name}`, { defaultValue: label }),
            isFigure: isFigure(name, type),
            text: (row) => row[name],
            show: (row) => <Cell value={wordOf(t, name, row[name])} type={type} />,
          }),
        )}
      />
    </>
  );
}

/** Quantities are texts, so that they keep all their digits. A number that names something is none. */
function isFigure(name: string, type: string): boolean {
  if (['quantity', 'estimated', 'lastReading'].includes(name)) return true;
  return type !== 'Text' && name !== 'partyNumber' && name !== 'meterNumber';
}

/** Columns that tell one row of a report from another; of other reports the last text does. */
const namedBy: Record<string, readonly string[]> = {
  Collection: ['date', 'paymentMethod'],
  BillRegister: ['billNumber'],
};

/** States and methods in words; names and numbers as they are. */
function wordOf(t: TFunction, column: string, value: Row[string] | undefined) {
  const area = { status: 'status', paymentStatus: 'status', paymentMethod: 'method' }[column];
  if (area !== undefined) return t(`${area}.${value}`, { defaultValue: String(value ?? '') });
  if (column !== 'accountName') return value;
  return t(`accountName.${value}`, { defaultValue: String(value ?? '') });
}

function Cell({ value, type }: { value: Row[string] | undefined; type: string }) {
  if (value === null || value === undefined) return null;
  return type === 'Amount' ? <Amount value={Number(value)} /> : value;
}

/** The twenty largest rows, by the last amount. */
function Chart({
  head: { columns },
  report,
  rows,
}: {
  head: Head;
  report: string;
  rows: readonly Row[];
}) {
  const { t } = useTranslation();
  const amount = columns.findLast(({ type }) => type === 'Amount');
  const last = columns.findLast(({ type }) => type === 'Text');
  const names = namedBy[report] ?? (last ? [last.name] : []);
  if (!amount || names.length === 0 || rows.length < 2) return null;
  const label = t(`reportColumn.${amount.name}`, { defaultValue: amount.label });
  const largest = rows
    .map((row) => ({
      label: names.map((name) => wordOf(t, name, row[name])).join(' · '),
      value: Number(row[amount.name]),
    }))
    .toSorted((a, b) => b.value - a.value)
    .slice(0, 20);
  return (
    <Card withBorder>
      <Text component="h2" fw={600} mb="xs">
        {t('report.largest', { label })}
      </Text>
      <Suspense fallback={<Loading />}>
        <Bars data={largest} label={label} />
      </Suspense>
    </Card>
  );
}
