// The meters of a subscription: installed, exchanged, removed.

import { Card, Group, Stack, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import type { SubscriptionData } from '../../api/queries/subscriptions.ts';
import { mayUse, today } from '../../api/session.ts';
import { isolated } from '../../language/isolated.ts';
import { ActionDialog, type FieldSpec, type Typed } from '../../parts/action-dialog.tsx';
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
                  <Table.Td className="long">
                    {meter.meterType} · {meter.brand}
                  </Table.Td>
                  <Table.Td>
                    {shownDay(meter.installDate)}
                    {meter.removeDate && ` – ${shownDay(meter.removeDate)}`}
                  </Table.Td>
                  <Table.Td className="long">{isolated(readingsOf(meter))}</Table.Td>
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

/** A field for each register, which has the number of its place; named where there are several. */
function registerFields(
  { registers }: Meter,
  kind: string,
  { label, required }: { label: string; required: boolean },
): Record<string, FieldSpec> {
  const isOne = registers.length === 1;
  const fields = registers.map(({ register, unit }, place) => [
    `${kind}${place}`,
    { label: isOne ? label : `${label}, ${register} (${unit})`, kind: 'amount', required } as const,
  ]);
  return Object.fromEntries(fields);
}

/** Readings as the API takes them; registers whose field was left empty are left out. */
function readingsIn({ registers }: Meter, kind: string, typed: Typed<string>) {
  const isOne = registers.length === 1;
  return registers.flatMap(({ register }, place) => {
    const value = typed[`${kind}${place}`];
    return value === undefined ? [] : [{ ...(isOne ? {} : { register }), value }];
  });
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
            initialReadings: opening === undefined ? [] : [{ value: opening }],
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
        ...registerFields(meter, 'final', {
          label: t('meter.final', { number: meter.number }),
          required: true,
        }),
        newNumber: { label: t('meter.newNumber'), required: true },
        // The new meter measures the same, by registers of the same names.
        ...registerFields(meter, 'initial', { label: t('meter.opening'), required: true }),
        replaceDate: { label: t('payments.date'), kind: 'date', initial: today() },
        reason: { label: t('reason') },
      }}
      send={(typed: Typed<string>) =>
        api.replaceMeter({
          data: {
            connectionNumber,
            oldNumber: meter.number,
            newNumber: Number(typed.newNumber),
            replaceDate: typed.replaceDate ?? '',
            finalReadings: readingsIn(meter, 'final', typed),
            initialReadings: readingsIn(meter, 'initial', typed),
            reason: typed.reason,
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
        ...registerFields(meter, 'final', {
          label: t('meter.final', { number: meter.number }),
          required: false,
        }),
        reason: { label: t('reason') },
      }}
      send={(typed: Typed<string>) =>
        api.removeMeter({
          data: {
            connectionNumber,
            number: meter.number,
            removeDate: typed.removeDate ?? '',
            finalReadings: readingsIn(meter, 'final', typed),
            reason: typed.reason,
          },
        })
      }
    />
  );
}
