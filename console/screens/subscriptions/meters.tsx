// The meters of a subscription: installed, exchanged, removed.

import { Card, Group, Stack, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import type { SubscriptionData } from '../../api/queries/subscriptions.ts';
import { mayUse, today } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { shownDay } from '../../parts/days.ts';
import { Empty } from '../../parts/notes.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';
import { EditMeter } from './edit-meter.tsx';
import { NewMeter } from './new-meter.tsx';

type Meter = NonNullable<SubscriptionData['meters']>[number];

export function Meters({ subscription }: { subscription: SubscriptionData }) {
  const { t } = useTranslation();
  const { meters = [], connectionNumber = '' } = subscription;
  const mayWrite = mayUse('meters:write');
  return (
    <Stack>
      {meters.length === 0 ? (
        <Empty title={t('meter.none')}>{t('meter.noneHint')}</Empty>
      ) : (
        <Card withBorder {...scrolls(t('subscription.meters'))}>
          <Table aria-label={t('subscription.meters')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('bill.meter')}</Table.Th>
                <Table.Th>{t('meter.type')}</Table.Th>
                <Table.Th>{t('meter.installed')}</Table.Th>
                <Table.Th>{t('meter.lastReading')}</Table.Th>
                <Table.Th>{t('meter.health')}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {meters.map((meter) => (
                <Table.Tr key={`${meter.number} ${meter.installDate}`}>
                  <Table.Td>{meter.number}</Table.Td>
                  <Table.Td>
                    {meter.meterType} · {meter.brand}
                  </Table.Td>
                  <Table.Td>
                    {shownDay(meter.installDate)}
                    {meter.removeDate && ` – ${shownDay(meter.removeDate)}`}
                  </Table.Td>
                  <Table.Td>{readingsOf(meter)}</Table.Td>
                  <Table.Td>
                    <Status value={meter.meterHealth} />
                  </Table.Td>
                  <Table.Td>
                    {mayWrite && meter.removeDate === null && (
                      <Group gap={4} wrap="nowrap">
                        <EditMeter number={meter.number} />
                        <Exchange connectionNumber={connectionNumber} meter={meter} />
                        <Remove connectionNumber={connectionNumber} meter={meter} />
                      </Group>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Card>
      )}
      {mayWrite && subscription.status !== 'Closed' && (
        <Group>
          <Install connectionNumber={connectionNumber} />
          <NewMeter />
        </Group>
      )}
    </Stack>
  );
}

function readingsOf({ registers }: Meter): string {
  return registers
    .map((one) => `${one.lastReading ?? '–'} ${one.unit} (${shownDay(one.lastReadingDate) || '–'})`)
    .join(', ');
}

/** Readings as the API takes them: one value where a meter has one register. */
function readingFor(number: number, value: string | undefined) {
  return value === undefined ? undefined : [{ number, value }];
}

function Install({ connectionNumber }: { connectionNumber: string }) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('meter.install')}
      fields={{
        number: { label: t('meter.number'), required: true },
        installDate: { label: t('meter.installDate'), kind: 'date', initial: today() },
        opening: { label: t('meter.opening'), kind: 'amount' },
      }}
      send={({ number, installDate = '', opening }) =>
        api.assignMeter({
          data: {
            connectionNumber,
            number: Number(number),
            installDate,
            initialReadings: readingFor(Number(number), opening),
          },
        })
      }
    />
  );
}

function Exchange({ connectionNumber, meter }: { connectionNumber: string; meter: Meter }) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('meter.exchange')}
      effect={t('meter.exchangeEffect', { number: meter.number })}
      fields={{
        final: {
          label: t('meter.final', { number: meter.number }),
          kind: 'amount',
          required: true,
        },
        newNumber: { label: t('meter.newNumber'), required: true },
        initial: { label: t('meter.opening'), kind: 'amount', required: true },
        replaceDate: { label: t('payments.date'), kind: 'date', initial: today() },
        reason: { label: t('reason') },
      }}
      send={({ final, newNumber, initial, replaceDate = '', reason }) =>
        api.replaceMeter({
          data: {
            connectionNumber,
            oldNumber: meter.number,
            newNumber: Number(newNumber),
            replaceDate,
            finalReadings: readingFor(meter.number, final),
            initialReadings: readingFor(Number(newNumber), initial),
            reason,
          },
        })
      }
    />
  );
}

function Remove({ connectionNumber, meter }: { connectionNumber: string; meter: Meter }) {
  const { t } = useTranslation();
  return (
    <ActionDialog
      label={t('meter.remove')}
      fields={{
        removeDate: { label: t('payments.date'), kind: 'date', initial: today() },
        final: { label: t('meter.final', { number: meter.number }), kind: 'amount' },
        reason: { label: t('reason') },
      }}
      send={({ removeDate = '', final, reason }) =>
        api.removeMeter({
          data: {
            connectionNumber,
            number: meter.number,
            removeDate,
            finalReadings: readingFor(meter.number, final),
            reason,
          },
        })
      }
    />
  );
}
