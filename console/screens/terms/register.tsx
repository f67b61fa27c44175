// The register: what the term charges, beside last term and a year ago, before it is posted.
import { Button, Card, Grid, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { otherTermQuery, termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { Amount, useMoney } from '../../parts/amount.tsx';
import { Bars } from '../../parts/bars.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { type Scan, type ScannedBill, scanBills } from './register-scan.ts';
import { WhatIf } from './what-if.tsx';

type TermData = DataOf<'getBillTerm'>;

export function Register() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  if (!data) return <Loading />;
  if (data.summary.bills === 0) {
    return <Empty title={t('register.none')}>{t('register.noneHint')}</Empty>;
  }
  return (
    <Stack gap="md">
      <Components own={data} />
      <Bills term={data} />
      {mayUse('plans:read') && <WhatIf term={data.term} />}
    </Stack>
  );
}

function Components({ own }: { own: TermData }) {
  const { t } = useTranslation();
  const { data: before } = useQuery(otherTermQuery(own.term, 'before'));
  const { data: year } = useQuery(otherTermQuery(own.term, 'year'));
  const { sum } = useMoney();
  const rows = componentsOf(own, before, year).map(({ component, label }) => ({
    key: component,
    label,
    now: amountOf(own, component) ?? 0,
    before: amountOf(before, component),
    year: amountOf(year, component),
  }));
  const total = {
    key: '',
    label: t('register.total'),
    now: own.summary.currentCharges,
    before: before?.summary.currentCharges ?? null,
    year: year?.summary.currentCharges ?? null,
  };
  const bars = [
    { label: year?.term.label ?? '', value: total.year },
    { label: before?.term.label ?? '', value: total.before },
    { label: own.term.label, value: total.now },
  ].flatMap(({ label, value }) => (value === null ? [] : { label, value }));
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('register.byComponent'))}>
          <Table aria-label={t('register.byComponent')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('manualValues.component')}</Table.Th>
                <Table.Th className="figure">{t('register.now')}</Table.Th>
                <Table.Th className="figure">{t('register.before')}</Table.Th>
                <Table.Th className="figure">{t('register.change')}</Table.Th>
                <Table.Th className="figure">{t('register.year')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {[...rows, total].map((row) => (
                <Table.Tr key={row.key} fw={row.key === '' ? 700 : 400}>
                  <Table.Td>{row.label}</Table.Td>
                  <Money value={row.now} />
                  <Money value={row.before} />
                  <Money value={row.before === null ? null : sum([row.now, -row.before])} />
                  <Money value={row.year} />
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        {bars.length > 1 && <Bars label={t('term.charges')} data={bars} />}
      </Grid.Col>
    </Grid>
  );
}

type Compared = TermData | null | undefined;

/** Also those that an earlier term charged and this one does not. */
function componentsOf(...terms: readonly Compared[]): { component: string; label: string }[] {
  const found = terms.flatMap((term) => term?.summary.components ?? []);
  return found.filter(
    ({ component }, index) => found.findIndex((one) => one.component === component) === index,
  );
}

/** null where there is no term to compare with. */
function amountOf(term: Compared, name: string): number | null {
  if (!term) return null;
  return term.summary.components.find(({ component }) => component === name)?.amount ?? 0;
}

function Money({ value }: { value: number | null }) {
  return <Table.Td className="figure">{value === null ? '–' : <Amount value={value} />}</Table.Td>;
}

const kinds = ['up', 'down', 'zero', 'negative', 'first', 'sample'] as const;

/** Larger terms are looked through when the person asks for it. */
const scannedAtOnce = 2_000;

function Bills({ term: { term, summary } }: { term: TermData }) {
  const { t } = useTranslation();
  const [isWanted, setWanted] = useState(summary.bills <= scannedAtOnce);
  const [scan, setScan] = useState<Scan | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!isWanted) return;
    const leaving = new AbortController();
    scanBills(term.termID, setScan, leaving.signal).catch(setError);
    return () => leaving.abort();
  }, [term.termID, isWanted]);
  if (error) return <Refusal error={error} />;
  if (!isWanted) {
    return (
      <Button variant="default" onClick={() => setWanted(true)}>
        {t('register.look', { count: summary.bills })}
      </Button>
    );
  }
  if (!scan) return <Loading />;
  return (
    <Stack gap="md">
      {scan.done < scan.total && (
        <div aria-live="polite">
          <Progress
            value={(100 * scan.done) / scan.total}
            aria-label={t('register.read', { done: scan.done, total: scan.total })}
          />
        </div>
      )}
      <Text size="sm">{t('register.read', { done: scan.done, total: scan.total })}</Text>
      <Plans scan={scan} />
      <Grid>
        {kinds
          .filter((key) => scan[key].length > 0)
          .map((key) => (
            <Grid.Col key={key} span={{ base: 12, lg: 6 }}>
              <Found title={t(`register.${key}`)} bills={scan[key]} />
            </Grid.Col>
          ))}
      </Grid>
    </Stack>
  );
}

function Plans({ scan }: { scan: Scan }) {
  const { t } = useTranslation();
  const { sum } = useMoney();
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('register.byPlan'))}>
      <Table aria-label={t('register.byPlan')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('register.plan')}</Table.Th>
            <Table.Th className="figure">{t('term.bills')}</Table.Th>
            <Table.Th className="figure">{t('term.charges')}</Table.Th>
            <Table.Th className="figure">{t('register.lastBills')}</Table.Th>
            <Table.Th className="figure">{t('register.change')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...scan.plans.values()].map(({ plan, bills, amount, before }) => (
            <Table.Tr key={plan}>
              <Table.Td className="short">{plan}</Table.Td>
              <Table.Td className="figure">{bills}</Table.Td>
              <Money value={amount} />
              <Money value={before} />
              <Money value={before === null ? null : sum([amount, -before])} />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Found({ title, bills }: { title: string; bills: readonly ScannedBill[] }) {
  const { t } = useTranslation();
  return (
    <Card withBorder padding="sm">
      <Title order={2} size="h5" mb="xs">
        {title} ({bills.length})
      </Title>
      <Table.ScrollContainer minWidth={280} type="native" mah={440} {...scrolls(title)}>
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('bills.subscription')}</Table.Th>
              <Table.Th>{t('bills.customer')}</Table.Th>
              <Table.Th className="figure">{t('bills.amount')}</Table.Th>
              <Table.Th className="figure">{t('register.change')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {bills.map((bill) => (
              <Table.Tr key={bill.billID}>
                <Table.Td>
                  <PageLink to="/bills/$billID" params={{ billID: String(bill.billID) }}>
                    {bill.number}
                  </PageLink>
                </Table.Td>
                <Table.Td>{bill.customer}</Table.Td>
                <Money value={bill.amount} />
                <Money value={bill.change} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
