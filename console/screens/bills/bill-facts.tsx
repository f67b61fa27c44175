// What happened with a bill: problems, deliveries, and the usage of the terms before it.
import { Alert, Card, List, Table, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { inOrder, isolated } from '../../language/isolated.ts';
import type { ListedBill } from '../../parts/bill-columns.tsx';
import { shownTime } from '../../parts/days.ts';
import { Loading } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';

const Bars = lazy(() => import('../../parts/bars.tsx').then(({ Bars }) => ({ default: Bars })));

/** Why the bill could not be made, or why it is held. */
export function Problems({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  if (bill.errors.length > 0) {
    return (
      <Alert color="red" title={t('bill.problems')}>
        <List size="sm">
          {bill.errors.map((error) => (
            <List.Item key={`${error.code} ${error.message}`}>{inOrder(error.message)}</List.Item>
          ))}
        </List>
      </Alert>
    );
  }
  if (bill.hold !== 1) return null;
  return (
    <Alert color="orange" title={t('bill.held')}>
      {bill.holdReason}
    </Alert>
  );
}

export function Deliveries({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  if (bill.deliveries.length === 0) return null;
  return (
    <Card withBorder {...scrolls(t('bill.deliveries'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('bill.deliveries')}
      </Text>
      <Table aria-label={t('bill.deliveries')}>
        <Table.Tbody>
          {bill.deliveries.map((one) => (
            <Table.Tr key={`${one.channel} ${one.at} ${one.to}`}>
              <Table.Td>{one.channel}</Table.Td>
              <Table.Td>{one.to}</Table.Td>
              <Table.Td>
                <Status value={one.status} />
              </Table.Td>
              <Table.Td>{isolated(shownTime(one.at))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

export function UsageBefore({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  // The newest comes first; people read time from the left.
  const bars = bill.history
    .filter((one) => one.quantity !== null)
    .map((one) => ({ label: one.label, value: Number(one.quantity) }))
    .toReversed();
  if (bars.length < 2) return null;
  const unit = bill.usage[0]?.unit ?? '';
  return (
    <Card withBorder>
      <Text component="h2" fw={600} mb="xs">
        {t('bill.usageBefore', { unit })}
      </Text>
      <Suspense fallback={<Loading />}>
        <Bars data={bars} label={unit} />
      </Suspense>
    </Card>
  );
}
