// What a person adds to a term: manual values of components with their totals beside those of last
// term, and usage that no meter measures.
import { Stack, Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { serviceQuery } from '../../api/queries/services.ts';
import { otherTermQuery, termQuery } from '../../api/queries/terms.ts';
import { Amount } from '../../parts/amount.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { type Row, ValueRows } from './value-rows.tsx';

type TermView = DataOf<'getBillTerm'>['term'];
type Component = { name: string; label?: string; manual?: string };

export function ManualValues() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  const service = useQuery({
    ...serviceQuery(data?.term.serviceCode ?? ''),
    enabled: data !== undefined,
  });
  if (service.isLoadingError) return <Refusal error={service.error} />;
  if (!data || !service.data) return <Loading />;
  const { components, unmeteredInputs } = service.data;
  const manual = (components ?? []).filter(({ manual = 'No' }) => manual !== 'No');
  const uploaded = (unmeteredInputs ?? []).filter(({ source }) => source === 'Uploaded');
  if (manual.length + uploaded.length === 0) {
    return <Empty title={t('manualValues.none')}>{t('manualValues.noneHint')}</Empty>;
  }
  if (data.term.status !== 'Open') {
    return <Empty title={t('manualValues.closed')}>{t('manualValues.closedHint')}</Empty>;
  }
  return (
    <Stack gap="lg">
      {manual.length > 0 && <Values term={data.term} components={manual} />}
      {uploaded.length > 0 && <Usage termID={termID} inputs={uploaded} />}
    </Stack>
  );
}

function Values({ term, components }: { term: TermView; components: readonly Component[] }) {
  const { t } = useTranslation();
  const names = [t('bills.subscription'), t('manualValues.component'), t('manualValues.value')];
  return (
    <ValueRows
      title={t('termSteps.values')}
      names={names}
      choices={components.map(({ name, label }) => ({ value: name, label: label ?? name }))}
      fileHint={t('manualValues.fileHint')}
      action={(count) => t('manualValues.save', { count })}
      send={(compsData) =>
        api.postManualComponentValues({
          operation: 'schedule',
          data: { data: JSON.stringify({ termID: term.termID, compsData }) },
        })
      }
    >
      {(rows) => <Totals term={term} components={components} rows={rows} />}
    </ValueRows>
  );
}

type UsageInput = { name: string; label?: string; unit?: string | null };

/** Without a day a quantity is of the whole term. */
function Usage({ termID, inputs }: { termID: number; inputs: readonly UsageInput[] }) {
  const { t } = useTranslation();
  const names = [
    t('bills.subscription'),
    t('usageRows.input'),
    t('bill.quantity'),
    t('usageRows.day'),
  ];
  const nameOf = ({ name, label, unit }: UsageInput) =>
    unit ? `${label ?? name} (${unit})` : (label ?? name);
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {t('usageRows.title')}
      </Title>
      <ValueRows
        title={t('usageRows.title')}
        names={names}
        choices={inputs.map((input) => ({ value: input.name, label: nameOf(input) }))}
        fileHint={t('usageRows.fileHint')}
        action={(count) => t('usageRows.save', { count })}
        send={(rows) => {
          const usage = rows.map((cells) => (cells[3] === '' ? cells.slice(0, 3) : cells));
          const data = { data: JSON.stringify({ termID, usage }) };
          return api.uploadUsage({ operation: 'schedule', data });
        }}
      />
    </section>
  );
}

function Totals({
  term,
  components,
  rows,
}: {
  term: TermView;
  components: readonly Component[];
  rows: readonly Row[];
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
