// A day of a desk: what it took by method and by cashier, and the close of the day.
import { Card, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cashDesksQuery, type Desk } from '../../api/queries/payments.ts';
import { mayUse, today } from '../../api/session.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { DayField } from '../../parts/day-field.tsx';
import { toWire } from '../../parts/days.ts';
import { Figures } from '../../parts/figures.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { CloseDay } from './close-day.tsx';

/** Today, or another day: one that was not closed before midnight is closed later. */
export function DayOfDesk({
  desk,
  choice,
  children,
}: {
  desk: Desk;
  /** Of the desk. */
  choice: ReactNode;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const [day, setDay] = useState('');
  const isOther = day !== '';
  const other = useQuery({ ...cashDesksQuery(toWire(day)), enabled: isOther });
  const shown = isOther ? other.data?.find((one) => one.cashDesk === desk.cashDesk) : desk;
  const canClose = shown !== undefined && shown.lastClosed?.date !== shown.date;
  return (
    <>
      <Group align="flex-end">
        {choice}
        <DayField label={t('cashDesk.otherDay')} value={day} onChange={setDay} max={today()} />
        {canClose && mayUse('payments:write') && (
          <CloseDay key={`${shown.cashDesk} ${shown.date}`} desk={shown} />
        )}
      </Group>
      {other.isLoading && <Loading />}
      {other.isLoadingError && <Refusal error={other.error} onRetry={() => other.refetch()} />}
      {shown && <Taken desk={shown} isToday={shown.date === desk.date} />}
      {children}
      {shown && <ByCashier cashiers={shown.cashiers} />}
    </>
  );
}

function Taken({ desk, isToday }: { desk: Desk; isToday: boolean }) {
  const { t } = useTranslation();
  const { taken, lastClosed, date } = desk;
  return (
    <>
      {lastClosed && (
        <Text size="sm">
          {t('cashDesk.lastClosed', { date: lastClosed.date, name: lastClosed.closedBy })}
        </Text>
      )}
      {!isToday && taken.length === 0 && <Text size="sm">{t('closeDay.nothing')}</Text>}
      <Figures
        items={taken.map((one) => ({
          label: t(isToday ? 'cashDesk.taken' : 'cashDesk.takenOn', {
            method: t(`method.${one.paymentMethod}`),
            count: one.payments,
            date,
          }),
          value: <Money value={one.amount} />,
        }))}
      />
    </>
  );
}

/** One cashier alone took what the figures above say. */
function ByCashier({ cashiers }: Pick<Desk, 'cashiers'>) {
  const { t } = useTranslation();
  if (new Set(cashiers.map(({ cashier }) => cashier)).size < 2) return null;
  return (
    <Card withBorder {...scrolls(t('cashDesk.byCashier'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('cashDesk.byCashier')}
      </Text>
      <Table aria-label={t('cashDesk.byCashier')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('cashDesk.cashier')}</Table.Th>
            <Table.Th>{t('payments.method')}</Table.Th>
            <Table.Th className="figure">{t('payments.title')}</Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cashiers.map((one) => (
            <Table.Tr key={`${one.cashier} ${one.paymentMethod}`}>
              <Table.Td translate="no">{one.cashier}</Table.Td>
              <Table.Td>{t(`method.${one.paymentMethod}`)}</Table.Td>
              <Table.Td className="figure">{one.payments}</Table.Td>
              <Table.Td className="figure">
                <Amount value={one.amount} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}
