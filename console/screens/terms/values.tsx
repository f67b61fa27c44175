// Manual values of components: typed, or from a file, with their totals beside those of last term.
import {
  Button,
  Card,
  FileInput,
  Group,
  NativeSelect,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingError, type DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { serviceQuery } from '../../api/queries/services.ts';
import { otherTermQuery, termQuery } from '../../api/queries/terms.ts';
import { Amount } from '../../parts/amount.tsx';
import { cellsOfCsv } from '../../parts/csv.ts';
import { rowProblems } from '../../parts/fix-rows.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { useSend } from '../../parts/send-form.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';

type TermView = DataOf<'getBillTerm'>['term'];
type Component = { name: string; label?: string; manual?: string };
type Cells = [connection: string, component: string, value: string];
type ValueRow = { id: number; cells: Cells };

export function ManualValues() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  const service = useQuery({
    ...serviceQuery(data?.term.serviceCode ?? ''),
    enabled: data !== undefined,
  });
  if (service.isError) return <Refusal error={service.error} />;
  if (!data || !service.data) return <Loading />;
  const manual = (service.data.components ?? []).filter(({ manual = 'No' }) => manual !== 'No');
  if (manual.length === 0) {
    return <Empty title={t('manualValues.none')}>{t('manualValues.noneHint')}</Empty>;
  }
  if (data.term.status !== 'Open') {
    return <Empty title={t('manualValues.closed')}>{t('manualValues.closedHint')}</Empty>;
  }
  return <Values term={data.term} components={manual} />;
}

let made = 0;

function rowOf(cells: Cells): ValueRow {
  made += 1;
  return { id: made, cells };
}

function Values({ term, components }: { term: TermView; components: readonly Component[] }) {
  const { t } = useTranslation();
  const blank = () => rowOf(['', components[0]?.name ?? '', '']);
  const [rows, setRows] = useState<ValueRow[]>(() => [blank()]);
  const filled = rows.filter(({ cells: [connection] }) => connection.trim() !== '');
  const sending = useSend(() => save(term.termID, filled), { onDone: () => setRows([blank()]) });
  useUnsaved(filled.length > 0);
  const change = (row: ValueRow, place: number, value: string) => {
    const cells = row.cells.with(place, value) as Cells;
    const next = rows.map((one) => (one === row ? { ...row, cells } : one));
    setRows(row === rows.at(-1) && value !== '' ? [...next, blank()] : next);
  };
  const open = async (file: File | null) => {
    if (file) setRows([...filled, ...(await rowsIn(file, components)), blank()]);
  };
  const details = sending.error instanceof BillingError ? sending.error.error.details : [];
  const problems = rowProblems(details, 0);
  const messageOf = (row: ValueRow) =>
    problems
      .filter((one) => one.row === filled.indexOf(row))
      .map(({ message }) => message)
      .join(' ');
  return (
    <Stack gap="md">
      <Totals term={term} components={components} rows={filled} />
      <Card withBorder>
        <Stack gap="sm">
          <FileInput
            label={t('readings.file')}
            description={t('manualValues.fileHint')}
            accept=".csv,text/csv"
            clearable
            clearButtonProps={{ 'aria-label': t('file.remove') }}
            onChange={open}
          />
          <ValueGrid rows={rows} components={components} messageOf={messageOf} onChange={change} />
          {sending.isError && problems.length === 0 && <Refusal error={sending.error} />}
          {sending.isSuccess && filled.length === 0 && (
            <Text size="sm" role="status">
              {sending.data.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button
              disabled={filled.length === 0}
              loading={sending.isPending}
              onClick={() => sending.mutate(undefined)}
            >
              {t('manualValues.save', { count: filled.length })}
            </Button>
          </Group>
        </Stack>
      </Card>
    </Stack>
  );
}

function save(termID: number, rows: readonly ValueRow[]) {
  const compsData = rows.map(({ cells }) => cells.map((cell) => cell.trim()));
  const data = { data: JSON.stringify({ termID, compsData }) };
  return api.postManualComponentValues({ operation: 'schedule', data });
}

/** A first line that names the columns is left out. */
async function rowsIn(file: File, components: readonly Component[]): Promise<ValueRow[]> {
  const [first = [], ...rest] = cellsOfCsv(await file.text());
  const isHead =
    !components.some(({ name }) => name === first[1]) && Number.isNaN(Number(first[2]));
  return (isHead ? rest : [first, ...rest]).map(([connection = '', component = '', value = '']) =>
    rowOf([connection, component, value]),
  );
}

function ValueGrid({
  rows,
  components,
  messageOf,
  onChange,
}: {
  rows: readonly ValueRow[];
  components: readonly Component[];
  messageOf: (row: ValueRow) => string;
  onChange: (row: ValueRow, place: number, value: string) => void;
}) {
  const { t } = useTranslation();
  const names = [t('bills.subscription'), t('manualValues.component'), t('manualValues.value')];
  return (
    <Table.ScrollContainer
      minWidth={300}
      type="native"
      mah={480}
      {...scrolls(t('termSteps.values'))}
    >
      <Table aria-label={t('termSteps.values')}>
        <Table.Thead>
          <Table.Tr>
            {names.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, at) => {
            const field = (place: number) => ({
              'aria-label': t('manualValues.cell', { name: names[place], row: at + 1 }),
              value: row.cells[place] ?? '',
              onChange: (event: { currentTarget: { value: string } }) =>
                onChange(row, place, event.currentTarget.value),
            });
            return (
              <Table.Tr key={row.id}>
                <Table.Td>
                  <TextInput {...field(0)} error={messageOf(row)} />
                </Table.Td>
                <Table.Td>
                  <NativeSelect {...field(1)} data={optionsOf(components, row.cells[1])} />
                </Table.Td>
                <Table.Td>
                  <TextInput {...field(2)} inputMode="decimal" />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** A component of a file that the service does not have stays to be seen. */
function optionsOf(components: readonly Component[], chosen: string) {
  const known = components.map(({ name, label }) => ({ value: name, label: label ?? name }));
  if (known.some(({ value }) => value === chosen)) return known;
  return [...known, { value: chosen, label: chosen }];
}

function Totals({
  term,
  components,
  rows,
}: {
  term: TermView;
  components: readonly Component[];
  rows: readonly ValueRow[];
}) {
  const { t } = useTranslation();
  const { data: own } = useQuery(termQuery(term.termID));
  const { data: before } = useQuery(otherTermQuery(term, 'before'));
  const typed = (name: string) =>
    rows.reduce(
      (sum, { cells: [, component, value] }) => sum + (component === name ? Number(value) || 0 : 0),
      0,
    );
  const billed = (from: typeof own | null, name: string) =>
    from?.summary.components.find(({ component }) => component === name)?.amount ?? 0;
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('manualValues.totals'))}>
      <Table aria-label={t('manualValues.totals')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('manualValues.component')}</Table.Th>
            <Table.Th className="figure">{t('manualValues.typed')}</Table.Th>
            <Table.Th className="figure">{t('manualValues.billed')}</Table.Th>
            <Table.Th className="figure">{t('register.before')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {components.map(({ name, label }) => (
            <Table.Tr key={name}>
              <Table.Td>{label ?? name}</Table.Td>
              <Table.Td className="figure">
                <Amount value={typed(name)} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={billed(own, name)} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={billed(before, name)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
