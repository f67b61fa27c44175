// What was changed about one thing, and the login that did it: the entries of the audit trail, the newest first.
import { Card, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { auditOfQuery } from '../api/queries/admin.ts';
import { mayUse } from '../api/session.ts';
import { shownTime } from './days.ts';
import { scrolls } from './scrolls.ts';

export function Trail({ subject, subjectID }: { subject: string; subjectID: number | string }) {
  const { t } = useTranslation();
  const { data: entries = [] } = useQuery({
    ...auditOfQuery(subject, String(subjectID)),
    enabled: mayUse('audit:read'),
  });
  if (entries.length === 0) return null;
  return (
    <Card withBorder {...scrolls(t('trail.title'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('trail.title')}
      </Text>
      <Table aria-label={t('trail.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('audit.at')}</Table.Th>
            <Table.Th>{t('audit.actor')}</Table.Th>
            <Table.Th>{t('audit.operation')}</Table.Th>
            <Table.Th>{t('trail.fields')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map(({ requestID, at, actor, operation, before, after }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: one call may change a thing twice.
            <Table.Tr key={`${requestID} ${place}`}>
              <Table.Td>{shownTime(at)}</Table.Td>
              <Table.Td>{actor}</Table.Td>
              <Table.Td>{operation}</Table.Td>
              <Table.Td className="breaks">{changedIn(before, after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

type Values = object | null;

/** The names of what differs; what is made has no value before. */
function changedIn(before: Values, after: Values): string {
  if (before === null || after === null) return '';
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)))
    .filter((name) => !['ts', 'modifiedAt', 'modifiedBy'].includes(name))
    .join(', ');
}
