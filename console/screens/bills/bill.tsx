// One bill: the PDF beside its lines, and why each line is what it is.
import { Button, Card, Grid, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { billQuery, documentQuery } from '../../api/queries/bills.ts';
import { isolated } from '../../language/isolated.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { CreditNotes } from '../../parts/credit-notes.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FileView } from '../../parts/file.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';
import { Trail } from '../../parts/trail.tsx';
import { BillActions } from './bill-actions.tsx';
import { Deliveries, Problems, UsageBefore } from './bill-facts.tsx';
import { AgainstPrevious, PaymentsOfBill } from './bill-money.tsx';
import { LineWhy } from './line-why.tsx';

type BillData = DataOf<'getBills'>['bills'][number];

export function Bill() {
  const { t } = useTranslation();
  const billID = Number(useParams({ from: '/inside/bills/$billID' }).billID);
  const query = useQuery(billQuery(billID));
  if (query.isPending) return <Loading />;
  // A draft that is gone stays in view, so that what is typed about it is not lost.
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const bill = query.data;
  return (
    <Page
      title={t('bill.title', { number: bill.billNumber ?? bill.billRefNo })}
      crumbs={[
        { label: t('terms.title'), to: '/' },
        { label: bill.termLabel, to: `/terms/${bill.termID}` },
      ]}
      hint={
        <Group gap="xs">
          <PageLink to="/customers/$partyNumber" params={{ partyNumber: String(bill.partyNumber) }}>
            {bill.partyName}
          </PageLink>
          <Status value={bill.hold === 1 ? 'Hold' : bill.status} />
          {bill.issueDate !== null && <Status value={bill.paymentStatus} />}
        </Group>
      }
      actions={<BillActions bill={bill} />}
    >
      <Problems bill={bill} />
      <Figures
        items={[
          { label: t('bills.amount'), value: <Money value={bill.billAmount} /> },
          { label: t('bill.arrears'), value: <Money value={bill.arrears} /> },
          { label: t('bill.payable'), value: <Money value={bill.payableWithinDueDate} /> },
          { label: t('terms.due'), value: bill.dueDate },
          { label: t('bill.paid'), value: <Money value={bill.paidAmount} /> },
          { label: t('bills.open'), value: <Money value={bill.outstandingAmount} /> },
        ]}
      />
      <Grid>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Stack>
            <Lines bill={bill} />
            {bill.meterReadings.length > 0 && <Readings bill={bill} />}
            <UsageBefore bill={bill} />
            <AgainstPrevious bill={bill} />
            <PaymentsOfBill bill={bill} />
            <CreditNotes of={{ billID: bill.billID }} />
            <Deliveries bill={bill} />
            <Trail subject="bill" subjectID={bill.billID} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Paper bill={bill} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function quantityOf({ quantity, unit }: BillData['lines'][number]): string {
  return quantity === null ? '' : isolated(`${quantity} ${unit ?? ''}`);
}

function Lines({ bill }: { bill: BillData }) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState<number | null>(null);
  return (
    <Card withBorder {...scrolls(t('bill.lines'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('bill.lines')}
      </Text>
      <Table aria-label={t('bill.lines')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bill.charge')}</Table.Th>
            <Table.Th className="figure" visibleFrom="sm">
              {t('bill.quantity')}
            </Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bill.lines.map((line) => (
            <Table.Tr key={line.lineNo}>
              <Table.Td>
                <Text size="sm">{line.label}</Text>
                <Text size="xs" c="dimmed">
                  {isolated(`${line.fromDate} – ${line.toDate}`)}
                </Text>
                <Text size="xs" c="dimmed" hiddenFrom="sm">
                  {quantityOf(line)}
                </Text>
              </Table.Td>
              <Table.Td className="figure" visibleFrom="sm">
                {quantityOf(line)}
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={line.amount} />
              </Table.Td>
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-expanded={opened === line.lineNo}
                  aria-label={t('bill.whyOf', { label: line.label })}
                  onClick={() => setOpened(opened === line.lineNo ? null : line.lineNo)}
                >
                  {t('bill.why')}
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {opened !== null && <LineWhy billID={bill.billID} lineNo={opened} />}
    </Card>
  );
}

function Readings({ bill }: { bill: BillData }) {
  const { t } = useTranslation();
  return (
    <Card withBorder {...scrolls(t('bill.readings'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('bill.readings')}
      </Text>
      <Table aria-label={t('bill.readings')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bill.meter')}</Table.Th>
            <Table.Th className="figure">{t('bill.previous')}</Table.Th>
            <Table.Th className="figure">{t('bill.current')}</Table.Th>
            <Table.Th className="figure">{t('bill.use')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bill.meterReadings.map((reading) => (
            <Table.Tr key={`${reading.meterNumber} ${reading.register} ${reading.currentDate}`}>
              <Table.Td>{isolated(`${reading.meterNumber} ${reading.register}`)}</Table.Td>
              <Table.Td className="figure">{reading.previousReading}</Table.Td>
              <Table.Td className="figure">{reading.currentReading}</Table.Td>
              <Table.Td className="figure">{reading.consumption}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

/** The published file, or the draft marked as one. A bill in error has none. */
function Paper({ bill }: { bill: BillData }) {
  const { t } = useTranslation();
  const hasLines = bill.lines.length > 0 && bill.errors.length === 0;
  const file = useQuery({ ...documentQuery(bill), enabled: hasLines });
  if (!hasLines) return <Empty title={t('bill.notPublished')}>{t('bill.noDocumentHint')}</Empty>;
  if (file.isLoadingError) return <Refusal error={file.error} onRetry={() => file.refetch()} />;
  const name = `${bill.billNumber ?? bill.billRefNo}.pdf`;
  const title = t(bill.issueDate === null ? 'bill.draftDocument' : 'bill.document');
  return <FileView file={file.data} name={name} title={title} />;
}
