// The versions of a plan, and what changed between two of them.
import { Group, NativeSelect, Stack, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Plan, planVersionsQuery } from '../../api/queries/plans.ts';
import { Changes } from '../../parts/changes.tsx';
import { shownTime } from '../../parts/days.ts';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';

export function Versions({ plan }: { plan: Plan }) {
  const { t } = useTranslation();
  const query = useQuery(planVersionsQuery(plan.tariffID));
  const [chosen, setChosen] = useState<{ before?: string; after?: string }>({});
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const versions = query.data;
  const numbers = versions.map(({ version }) => String(version));
  const after = chosen.after ?? numbers[0] ?? '';
  const before = chosen.before ?? numbers[1] ?? after;
  const definition = (number: string) => {
    const found = versions.find(({ version }) => String(version) === number);
    const { valueFormulas, componentRules, usageData, securityAttributes } = found ?? plan;
    return { valueFormulas, componentRules, usageData, securityAttributes };
  };
  const options = versions.map((one) => ({
    value: String(one.version),
    label: labelOf(one, t('versions.always')),
  }));
  return (
    <Stack>
      <Table.ScrollContainer minWidth={420} type="native" {...scrolls(t('plan.versions'))}>
        <Table aria-label={t('plan.versions')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('versions.version')}</Table.Th>
              <Table.Th>{t('versions.from')}</Table.Th>
              <Table.Th>{t('versions.savedAt')}</Table.Th>
              <Table.Th>{t('versions.savedBy')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map((one) => (
              <Table.Tr key={one.version}>
                <Table.Td>{one.version}</Table.Td>
                <Table.Td>{one.effectiveDate ?? t('versions.always')}</Table.Td>
                <Table.Td>{shownTime(one.modifiedAt)}</Table.Td>
                <Table.Td>{one.modifiedBy}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group align="flex-end">
        <NativeSelect
          label={t('versions.compare')}
          data={options}
          value={before}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, before: value })}
        />
        <NativeSelect
          label={t('versions.with')}
          data={options}
          value={after}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, after: value })}
        />
      </Group>
      <Changes
        before={definition(before)}
        after={definition(after)}
        label={t('versions.changes')}
      />
    </Stack>
  );
}

function labelOf({ version, effectiveDate }: Plan, always: string): string {
  return `${version} · ${effectiveDate ?? always}`;
}
