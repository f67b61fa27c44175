// One line of the grid: the register, what it showed, and the field for what it shows now.
import { Alert, Box, Flex, Group, NativeSelect, Radio, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { meterReadingsQuery } from '../../api/queries/readings.ts';
import { isolated } from '../../language/isolated.ts';
import { Status } from '../../parts/status.tsx';
import { changeOf, codes, daysBetween, type Stop, typedOf, usageOf } from './entry-check.ts';
import type { Entry } from './entry-store.ts';

export type RowActions = {
  onType: (stop: Stop, text: string) => void;
  onCode: (stop: Stop, code: string) => void;
  onRollover: (stop: Stop, isRollover: boolean) => void;
  onKey: (event: KeyboardEvent, index: number) => void;
  onFocus: (index: number) => void;
};

type Props = RowActions & {
  stop: Stop;
  entry: Entry;
  index: number;
  readingDate: string;
  isCurrent: boolean;
};

export const EntryRow = memo(function EntryRow(props: Props) {
  const { t } = useTranslation();
  const { stop, entry, index, isCurrent, onType, onCode, onKey, onFocus } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isCurrent) field.current?.focus();
  }, [isCurrent]);
  const isDone = entry.phase === 'saved' || entry.phase === 'saving';
  return (
    <Box
      px="xs"
      py={6}
      bg={isCurrent ? 'var(--mantine-color-default-hover)' : undefined}
      style={{ borderBlockEnd: '1px solid var(--mantine-color-default-border)' }}
      onKeyDown={(event) => onKey(event, index)}
    >
      <Flex wrap="wrap" gap="sm" align="center">
        <Box flex="1 1 200px">
          <Text size="sm" fw={500}>
            {stop.address || stop.customer}
          </Text>
          <Text size="xs" c="dimmed">
            {[stop.address && stop.customer, stop.connectionNumber, stop.number, stop.register]
              .filter(Boolean)
              .join(' · ')}
          </Text>
        </Box>
        <Fact label={t('readings.previous')} hint={stop.previousDate}>
          {stop.previous}
        </Fact>
        <Fact label={t('readings.expected')}>
          {stop.low !== null && stop.high !== null ? `${stop.low} – ${stop.high}` : '–'}
        </Fact>
        <TextInput
          ref={field}
          w={130}
          aria-label={t('readings.valueOf', { number: stop.key.trim() })}
          value={entry.text}
          readOnly={isDone}
          inputMode="text"
          autoComplete="off"
          dir="ltr"
          error={entry.phase === 'refused' || entry.phase === 'unsaved'}
          onChange={(event) => onType(stop, event.currentTarget.value)}
          onFocus={() => onFocus(index)}
        />
        <NativeSelect
          w={140}
          aria-label={t('readings.codeOf', { number: stop.key.trim() })}
          value={entry.code ?? typedOf(entry.text, stop)?.code ?? ''}
          disabled={isDone}
          onChange={(event) => onCode(stop, event.currentTarget.value)}
          data={[
            { value: '', label: '–' },
            ...Object.keys(codes).map((code) => ({ value: code, label: t(`readingCode.${code}`) })),
          ]}
        />
        <Usage {...props} />
        <Box w={140} aria-live="polite">
          <RowState entry={entry} />
        </Box>
      </Flex>
      {entry.phase === 'asked' && <Asked {...props} />}
      {entry.problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {t(entry.problem, { defaultValue: entry.problem })}
        </Text>
      )}
    </Box>
  );
});

function Fact({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string | null;
  children: ReactNode;
}) {
  return (
    <Box w={110}>
      <Text size="xs" c="dimmed">
        {label} {hint}
      </Text>
      <Text size="sm" dir="ltr" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {children}
      </Text>
    </Box>
  );
}

/** Before it is saved: the usage, and how it differs from the usual of a day. */
function Usage({ stop, entry, readingDate, isCurrent }: Props) {
  const { t } = useTranslation();
  const past = useQuery({ ...meterReadingsQuery(stop.number), enabled: isCurrent });
  const typed = usageOf(typedOf(entry.text, stop)?.value ?? null, stop);
  const usage = entry.usage === null ? typed : Number(entry.usage);
  if (usage === null) return <Fact label={t('readings.usage')}>–</Fact>;
  const days = stop.previousDate === null ? 0 : daysBetween(stop.previousDate, readingDate);
  const change = changeOf(usage, days, past.data ?? [], stop);
  const share = change === null ? '' : ` (${change > 0 ? '+' : ''}${change} %)`;
  return <Fact label={t('readings.usage')}>{isolated(`${usage} ${stop.unit}${share}`)}</Fact>;
}

function RowState({ entry }: { entry: Entry }) {
  const { t } = useTranslation();
  if (entry.phase === 'saved') return <Status value={entry.status ?? 'Accepted'} />;
  if (entry.phase === 'open' || entry.phase === 'asked' || entry.phase === 'refused') return null;
  return (
    <Text size="sm" fw={entry.phase === 'unsaved' ? 700 : 400}>
      {t(`readingPhase.${entry.phase}`)}
    </Text>
  );
}

/** The second Enter confirms. */
function Asked({ stop, entry, onRollover }: Props) {
  const { t } = useTranslation();
  const isLower = entry.question === 'lower' || entry.question === 'rollover';
  return (
    <Alert color="orange" mt={6} p="xs" role="alert" title={t(`readingAsk.${entry.question}`)}>
      {isLower && (
        <Radio.Group
          aria-label={t('readings.whyLower')}
          value={entry.isRollover ? 'rollover' : 'review'}
          onChange={(value) => onRollover(stop, value === 'rollover')}
        >
          <Group gap="md">
            <Radio value="rollover" label={t('readings.rollover')} />
            <Radio value="review" label={t('readings.toReview')} />
          </Group>
        </Radio.Group>
      )}
      <Text size="sm">{t('readings.enterConfirms')}</Text>
    </Alert>
  );
}
