// Readings that wait for a decision: one after another, by key or by mouse, until none is left.
import {
  Alert,
  Badge,
  Button,
  Card,
  Grid,
  Group,
  NavLink,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { meterReadingsQuery, reviewsQuery } from '../../api/queries/readings.ts';
import { mayUse } from '../../api/session.ts';
import { isolated } from '../../language/isolated.ts';
import { Bars } from '../../parts/bars.tsx';
import { Figures } from '../../parts/figures.tsx';
import { Keys } from '../../parts/keys.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';
import { CorrectReading } from './correct-reading.tsx';

export type Reading = DataOf<'getReadings'>['readings'][number];

export function ReadingReview() {
  const { t } = useTranslation();
  const query = useQuery(reviewsQuery);
  const [chosen, setChosen] = useState<number | null>(null);
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { readings, total } = query.data;
  if (total === 0) {
    return <Empty title={t('review.none')}>{t('review.noneHint')}</Empty>;
  }
  const at = Math.max(
    readings.findIndex((one) => one.readingID === chosen),
    0,
  );
  const reading = readings[at] as Reading;
  const goTo = (index: number) => {
    const next = readings[Math.min(Math.max(index, 0), readings.length - 1)];
    setChosen(next?.readingID ?? null);
  };
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Title order={2} size="h4" mb="xs" aria-live="polite">
          {t('review.count', { count: total })}
        </Title>
        <Stack gap={0} component="nav" aria-label={t('review.list')}>
          {readings.map((one, index) => (
            <NavLink
              key={one.readingID}
              component="button"
              active={index === at}
              onClick={() => goTo(index)}
              label={isolated(`${one.number} ${one.register}`)}
              description={`${one.connectionNumber} · ${one.readingDate}`}
              rightSection={<Flags reading={one} />}
              styles={{ description: { opacity: 1 } }}
            />
          ))}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Detail
          key={reading.readingID}
          reading={reading}
          onMove={(by) => goTo(at + by)}
          onDecided={() => setChosen(readings[at + 1]?.readingID ?? null)}
        />
      </Grid.Col>
    </Grid>
  );
}

function Flags({ reading }: { reading: Reading }) {
  const { t } = useTranslation();
  return (reading.flags ?? []).map((flag) => (
    <Badge key={flag} variant="light" color="gray" c="inherit" tt="none">
      {t(`flag.${flag}`, { defaultValue: flag })}
    </Badge>
  ));
}

type DetailProps = { reading: Reading; onMove: (by: number) => void; onDecided: () => void };
export type Decision = {
  decision: 'Accept' | 'Reject';
  value?: string;
  rollover?: boolean;
  remark?: string;
};

function Detail({ reading, onMove, onDecided }: DetailProps) {
  const { t } = useTranslation();
  const { readingID = 0, number = 0 } = reading;
  const past = useQuery(meterReadingsQuery(number));
  const [isCorrecting, setCorrecting] = useState(false);
  const deciding = useSend(
    (decision: Decision) => api.reviewReading({ data: { readingID, ...decision } }),
    { onDone: onDecided },
  );
  const isLower = reading.flags?.includes('Decreased') ?? false;
  const decide = (decision: Decision) => {
    if (!deciding.isPending) deciding.mutate(decision);
  };
  const decisions = [
    ...(isLower
      ? [
          {
            key: 'o',
            label: t('review.rollover'),
            run: () => decide({ decision: 'Accept', rollover: true }),
          },
        ]
      : [{ key: 'a', label: t('review.accept'), run: () => decide({ decision: 'Accept' }) }]),
    { key: 'c', label: t('review.correct'), run: () => setCorrecting(true) },
    {
      key: 'e',
      label: t('review.estimate'),
      run: () => decide({ decision: 'Reject', remark: 'To be estimated' }),
    },
    {
      key: 'r',
      label: t('review.reread'),
      run: () => decide({ decision: 'Reject', remark: 'To be read again' }),
    },
  ];
  const moves = [
    { key: 'j', label: t('review.next'), run: () => onMove(1) },
    { key: 'k', label: t('review.before'), run: () => onMove(-1) },
  ];
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {t('review.meter', { number: isolated(`${number} ${reading.register}`) })}
          </Title>
          <Flags reading={reading} />
        </Group>
        <Facts reading={reading} past={past.data ?? []} />
        <History reading={reading} past={past.data ?? []} />
        {isLower && (
          <Alert color="orange" p="xs">
            {t('review.lower')}
          </Alert>
        )}
        {deciding.isError && <Refusal error={deciding.error} />}
        {mayUse('readings:review') && (
          <Group gap="xs">
            {decisions.map(({ key, label, run }) => (
              <Button key={key} variant="default" loading={deciding.isPending} onClick={run}>
                {label} ({key})
              </Button>
            ))}
            <Keys actions={[...moves, ...decisions]} />
          </Group>
        )}
        <CorrectReading
          reading={reading}
          isOpen={isCorrecting}
          onClose={() => setCorrecting(false)}
          send={(value) => deciding.mutateAsync({ decision: 'Accept', value })}
        />
      </Stack>
    </Card>
  );
}

function Facts({ reading, past }: { reading: Reading; past: readonly Reading[] }) {
  const { t } = useTranslation();
  const known = past.filter((one) => isKnown(one) && one.register === reading.register);
  const last = known.at(-1);
  return (
    <Figures
      items={[
        { label: t('review.shown'), value: `${reading.value} ${reading.unit}` },
        { label: t('review.on'), value: reading.readingDate },
        { label: t('review.last'), value: last ? `${last.value}` : '–' },
        { label: t('review.usage'), value: reading.consumption ?? '–' },
      ]}
    />
  );
}

function isKnown({ status }: Reading): boolean {
  return status !== 'Rejected' && status !== 'Review';
}

/** Usage of the last 13 readings, then this one. */
function History({ reading, past }: { reading: Reading; past: readonly Reading[] }) {
  const { t } = useTranslation();
  const bars = [...past.filter((one) => isKnown(one) && one.consumption !== null), reading]
    .filter((one) => one.register === reading.register && one.consumption !== null)
    .slice(-13)
    .map((one) => ({ label: one.readingDate?.slice(3) ?? '', value: Number(one.consumption) }));
  if (bars.length === 0) return <Text size="sm">{t('review.noHistory')}</Text>;
  return <Bars label={t('review.history', { unit: reading.unit })} data={bars} />;
}
