// Readings out and in: the route sheet on paper or as a file, the file that comes back, and the step
// that locks the readings of the term.
import { Button, Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ReadingTerm, routeSheetQuery } from '../../api/queries/readings.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse, today } from '../../api/session.ts';
import { isolated } from '../../language/isolated.ts';
import { rowsOfCsv, textOfLines } from '../../parts/csv.ts';
import { DayField } from '../../parts/day-field.tsx';
import { dayAfter, toField, toWire } from '../../parts/days.ts';
import { offerFile } from '../../parts/download.ts';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { type Stop, stopOf } from './entry-check.ts';
import { PostReadings } from './post-readings.tsx';
import { ReadingsFile } from './readings-file.tsx';

export function ReadingSheet() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  if (!data) return <Loading />;
  const { term } = data;
  return (
    <Sheet
      key={termID}
      term={term}
      entry={
        mayUse('readings:write') && (
          <PageLink to="/terms/$termID/entry" params={{ termID: String(termID) }}>
            {t('readings.entry')}
          </PageLink>
        )
      }
      next={(unread) =>
        mayUse('terms:write') &&
        term.status === 'Open' && <PostReadings term={term} unread={unread} />
      }
    />
  );
}

type SheetProps = {
  term: ReadingTerm;
  /** The way to the page where readings are typed. */
  entry?: ReactNode;
  /** What is done when the readings are in. */
  next?: (unread: number) => ReactNode;
};

export function Sheet({ term, entry, next }: SheetProps) {
  const { t } = useTranslation();
  const end = toField(term.endDate);
  const [day, setDay] = useState(end < today() ? end : today());
  const { termID, serviceCode, batchCode } = term;
  const sinceDate = dayAfter(term.startDate);
  const readingDate = toWire(day);
  const sheet = useQuery({
    ...routeSheetQuery({ serviceCode, batchCode, sinceDate, readingDate, termID }),
    placeholderData: keepPreviousData,
  });
  const stops = sheet.data ? rowsOfCsv(textOfLines(sheet.data)).map(stopOf) : [];
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: 2 }} className="no-print">
        <Card withBorder>
          <Stack gap="sm">
            <Title order={2} size="h4">
              {t('readings.out')}
            </Title>
            <Text size="sm" aria-live="polite">
              {sheet.data && t('readings.toRead', { count: stops.length })}
              {sheet.isPending && t('loading')}
            </Text>
            <DayField
              label={t('readings.readOn')}
              value={day}
              onChange={(chosen) => chosen !== '' && setDay(chosen)}
            />
            <Group gap="xs">
              {entry}
              <Button variant="default" onClick={() => window.print()}>
                {t('readings.print')}
              </Button>
              <Button
                variant="default"
                disabled={!sheet.data || sheet.isPlaceholderData}
                onClick={() =>
                  offerFile(`${term.label} ${batchCode}.csv`, textOfLines(sheet.data ?? []))
                }
              >
                {t('asCsv')}
              </Button>
            </Group>
          </Stack>
        </Card>
        {mayUse('readings:write') && <ReadingsFile />}
      </SimpleGrid>
      {sheet.data && next?.(stops.length)}
      {sheet.isPending && <Loading />}
      {sheet.isLoadingError && <Refusal error={sheet.error} onRetry={() => sheet.refetch()} />}
      {sheet.data && <Paper stops={stops} />}
    </Stack>
  );
}

/** On the screen the first lines; on paper all of them. */
function Paper({ stops }: { stops: readonly Stop[] }) {
  const { t } = useTranslation();
  if (stops.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('readings.sheet'))}>
      <Table aria-label={t('readings.sheet')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('readings.place')}</Table.Th>
            <Table.Th>{t('bills.customer')}</Table.Th>
            <Table.Th>{t('readings.meter')}</Table.Th>
            <Table.Th className="figure">{t('readings.previous')}</Table.Th>
            <Table.Th className="figure">{t('readings.expected')}</Table.Th>
            <Table.Th>{t('readings.value')}</Table.Th>
            <Table.Th>{t('readings.remark')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {stops.map((stop, index) => (
            <Table.Tr key={stop.key} className={index < shownOnScreen ? '' : 'only-print'}>
              <Table.Td className="long">{stop.address}</Table.Td>
              <Table.Td>{stop.customer}</Table.Td>
              <Table.Td>{isolated(`${stop.number} ${stop.register ?? ''}`)}</Table.Td>
              <Table.Td className="figure">{stop.previous}</Table.Td>
              <Table.Td className="figure">
                {stop.low !== null && isolated(`${stop.low} – ${stop.high}`)}
              </Table.Td>
              <Table.Td className="to-fill" />
              <Table.Td className="to-fill" />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const shownOnScreen = 100;
