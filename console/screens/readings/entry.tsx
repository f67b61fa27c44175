// Readings typed in walk order: Enter saves a line and moves on, and no mouse is needed.
import { Alert, Box, Button, Group, ScrollArea, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ReadingTerm, routeSheetQuery } from '../../api/queries/readings.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { today } from '../../api/session.ts';
import { rowsOfCsv, textOfLines } from '../../parts/csv.ts';
import { DayField } from '../../parts/day-field.tsx';
import { dayAfter, toField, toWire } from '../../parts/days.ts';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';
import { type Code, type Stop, stopOf } from './entry-check.ts';
import { EntryRow, type RowActions } from './entry-row.tsx';
import { confirm, type EntryStore, isUnsaved, storeOf, useEntries } from './entry-store.ts';

export function ReadingEntry() {
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  return data ? <Entry key={termID} term={data.term} /> : <Loading />;
}

export function Entry({ term }: { term: ReadingTerm }) {
  const { t } = useTranslation();
  const end = toField(term.endDate);
  const [chosen, choose] = useState(end < today() ? end : today());
  return (
    <Stack gap="sm">
      <Group align="flex-end" justify="space-between">
        <DayField
          label={t('readings.readOn')}
          value={chosen}
          onChange={(next) => next !== '' && choose(next)}
        />
        <Text size="sm" c="dimmed" maw={560}>
          {t('readings.entryHint')}
        </Text>
      </Group>
      <Grid key={chosen} term={term} readingDate={toWire(chosen)} />
    </Stack>
  );
}

/** The sheet is read once: lines that were saved stay where they are. */
function Grid({ term, readingDate }: { term: ReadingTerm; readingDate: string }) {
  const { t } = useTranslation();
  const { termID, serviceCode, batchCode } = term;
  // What was read on the first day is the end of the term before.
  const sinceDate = dayAfter(term.startDate);
  const sheet = useQuery({
    ...routeSheetQuery({ serviceCode, batchCode, sinceDate, readingDate, termID }),
    queryKey: ['entry-sheet', String(termID), readingDate],
    staleTime: 'static',
    gcTime: 0,
  });
  const stops = useMemo(
    () => (sheet.data ? rowsOfCsv(textOfLines(sheet.data)).map(stopOf) : []),
    [sheet.data],
  );
  if (sheet.isPending) return <Loading />;
  if (sheet.isLoadingError) return <Refusal error={sheet.error} onRetry={() => sheet.refetch()} />;
  if (stops.length === 0) {
    return <Empty title={t('readings.allRead')}>{t('readings.allReadHint')}</Empty>;
  }
  return (
    <Lines
      stops={stops}
      store={storeOf(`${term.termID} ${readingDate}`)}
      readingDate={readingDate}
    />
  );
}

type LinesProps = { stops: readonly Stop[]; store: EntryStore; readingDate: string };

function Lines({ stops, store, readingDate }: LinesProps) {
  const { t } = useTranslation();
  const entries = useEntries(store);
  const [current, setCurrent] = useState(0);
  const viewport = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: stops.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => 58,
    overscan: 8,
  });
  const goTo = useCallback(
    (index: number) => {
      const next = Math.min(Math.max(index, 0), stops.length - 1);
      setCurrent(next);
      virtual.scrollToIndex(next);
    },
    [stops.length, virtual],
  );
  const actions = useActions({ stops, store, readingDate }, goTo, setCurrent);
  const left = [...entries.values()].filter(isUnsaved).length;
  useUnsaved(left > 0);
  return (
    <>
      <Progress stops={stops} store={store} readingDate={readingDate} />
      <ScrollArea.Autosize
        mah="65vh"
        viewportRef={viewport}
        viewportProps={{ role: 'region', 'aria-label': t('readings.entry'), tabIndex: 0 }}
      >
        <Box pos="relative" h={virtual.getTotalSize()}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const stop = stops[index] as Stop;
            return (
              <Box
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                pos="absolute"
                top={0}
                w="100%"
                style={{ transform: `translateY(${start}px)` }}
              >
                <EntryRow
                  stop={stop}
                  entry={store.of(stop)}
                  index={index}
                  readingDate={readingDate}
                  isCurrent={index === current}
                  {...actions}
                />
              </Box>
            );
          })}
        </Box>
      </ScrollArea.Autosize>
    </>
  );
}

function useActions(
  { stops, store, readingDate }: LinesProps,
  goTo: (index: number) => void,
  onFocus: (index: number) => void,
): RowActions {
  return useMemo(
    () => ({
      onFocus,
      onType: (stop: Stop, text: string) => store.type(stop, text),
      onCode: (stop: Stop, code: string) =>
        store.set(stop, { code: code === '' ? null : (code as Code), phase: 'open' }),
      onRollover: (stop: Stop, isRollover: boolean) => store.set(stop, { isRollover }),
      onKey: (event: KeyboardEvent, index: number) => {
        const isField = (event.target as HTMLElement).tagName === 'INPUT';
        const isText = isField && (event.target as HTMLInputElement).type !== 'radio';
        if (event.key === 'Enter') {
          event.preventDefault();
          const stop = stops[index];
          if (stop && confirm(store, stop, readingDate)) goTo(index + 1);
        } else if (isText && event.key === 'ArrowDown') {
          event.preventDefault();
          goTo(index + 1);
        } else if (isText && event.key === 'ArrowUp') {
          event.preventDefault();
          goTo(index - 1);
        }
      },
    }),
    [stops, store, readingDate, goTo, onFocus],
  );
}

/** How many are saved, and those that did not reach the server. */
function Progress({ stops, store, readingDate }: LinesProps) {
  const { t } = useTranslation();
  useEntries(store);
  // Lines that an earlier sheet of this day had are not in this one any more.
  const all = stops.map((stop) => store.of(stop));
  const saved = all.filter(({ phase }) => phase === 'saved').length;
  const notRead = all.filter(({ phase }) => phase === 'not read').length;
  const failed = stops.filter((stop) => store.of(stop).phase === 'unsaved');
  const retry = () => {
    for (const stop of failed) confirm(store, stop, readingDate);
  };
  useEffect(() => {
    window.addEventListener('online', retry);
    return () => window.removeEventListener('online', retry);
  });
  return (
    <>
      <Text size="sm" aria-live="polite">
        {t('readings.savedOf', { saved, total: stops.length })}
        {notRead > 0 && ` · ${t('readings.notRead', { count: notRead })}`}
      </Text>
      {failed.length > 0 && (
        <Alert color="red" role="alert" title={t('readings.unsaved', { count: failed.length })}>
          <Button size="xs" onClick={retry}>
            {t('readings.saveAgain')}
          </Button>
        </Alert>
      )}
    </>
  );
}
