// Which subscriptions the term bills, which it does not, and why.
import { Chip, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import {
  type Excluded,
  type PopulationFilter,
  populationCountsQuery,
  populationPages,
} from '../../api/queries/terms.ts';
import { Figures } from '../../parts/figures.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Status } from '../../parts/status.tsx';

/** While the subscriptions are counted. */
const counting = '…';

export function Population() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { termID } = useParams({ from: '/inside/terms/$termID' });
  const { show = 'all' } = useSearch({ from: '/inside/terms/$termID/population' });
  const query = useQuery(populationCountsQuery(Number(termID)));
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { data: counts } = query;
  const difference = counts?.difference;
  const choices = [
    { value: 'all', label: t('status.All') },
    { value: 'in', label: t('population.billed') },
    ...(counts?.reasons ?? []).map(({ reason, count }) => ({
      value: reason,
      label: `${t(`notBilled.${reason}`)}: ${count}`,
    })),
    ...(difference ? ['New', 'Gone'] : []).map((value) => ({
      value,
      label: t(`population.${value}`),
    })),
  ];
  return (
    <Stack gap="sm">
      <Figures
        items={[
          { label: t('population.billed'), value: counts?.included ?? counting },
          { label: t('population.notBilled'), value: counts?.excluded ?? counting },
          { label: t('population.New'), value: counts ? (difference?.new ?? '–') : counting },
          { label: t('population.Gone'), value: counts ? (difference?.gone ?? '–') : counting },
        ]}
      />
      <Text size="sm" c="dimmed">
        {counts === undefined && t('population.counting')}
        {counts && difference && t('population.against', { label: difference.previousLabel })}
        {counts && !difference && t('population.first')}
      </Text>
      <Chip.Group
        value={show}
        onChange={(value) =>
          navigate({
            to: '/terms/$termID/population',
            params: { termID },
            search: value === 'all' ? {} : { show: String(value) },
          })
        }
      >
        <Group gap="xs" role="group" aria-label={t('population.show')}>
          {choices.map(({ value, label }) => (
            <Chip key={value} value={value} size="sm" variant="outline">
              {label}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Rows filter={filterOf(Number(termID), show)} />
    </Stack>
  );
}

function filterOf(termID: number, show: string): PopulationFilter {
  if (show === 'all') return { termID };
  if (show === 'in') return { termID, included: true };
  if (show === 'New' || show === 'Gone') return { termID, change: show };
  return { termID, reason: show as Excluded };
}

function Rows({ filter }: { filter: PopulationFilter }) {
  const { t } = useTranslation();
  return (
    <List
      pages={populationPages(filter)}
      label={t('termSteps.population')}
      rowKey={(row) => row.connectionNumber}
      empty={<Empty title={t('population.none')}>{t('population.noneHint')}</Empty>}
      columns={[
        {
          key: 'connection',
          label: t('bills.subscription'),
          show: (row) => row.connectionNumber,
        },
        {
          key: 'party',
          label: t('bills.customer'),
          text: (row) => row.name,
          show: (row) => (
            <PageLink
              to="/customers/$partyNumber"
              params={{ partyNumber: String(row.partyNumber) }}
            >
              {row.name}
            </PageLink>
          ),
        },
        { key: 'plan', label: t('customer.plan'), show: (row) => row.tariffCode },
        {
          key: 'status',
          label: t('terms.status'),
          text: (row) => row.connectionStatus,
          show: (row) => <Status value={row.connectionStatus} />,
        },
        {
          key: 'billed',
          label: t('population.billed'),
          show: (row) =>
            row.included ? t('population.yes') : t(`notBilled.${row.reason}`, { defaultValue: '' }),
        },
        {
          key: 'change',
          label: t('population.change'),
          show: (row) => (row.change === null ? '' : t(`population.${row.change}`)),
        },
      ]}
    />
  );
}
