// Posting, publishing and sending: what will happen, what was delivered, and what was not.
import { Button, Card, Checkbox, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import {
  type DeliveryStatus,
  deliveriesQuery,
  outcomeQuery,
  printQuery,
} from '../../api/queries/deliveries.ts';
import { settingsQuery } from '../../api/queries/settings.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { Money } from '../../parts/amount.tsx';
import { useChosen } from '../../parts/chosen.ts';
import { offerFile } from '../../parts/download.ts';
import { Figures } from '../../parts/figures.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { useSend } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';

type Delivery = DataOf<'getDeliveries'>['deliveries'][number];
const sentStages = ['Distributing', 'Distributed'];

export function Send() {
  const { t } = useTranslation();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const { data } = useQuery(termQuery(termID));
  if (!data) return <Loading />;
  const { term, summary } = data;
  return (
    <Stack gap="md">
      <Figures
        items={[
          { label: t('term.bills'), value: summary.bills },
          { label: t('term.charges'), value: <Money value={summary.currentCharges} /> },
          { label: t('terms.due'), value: term.dueDate },
          { label: t('terms.status'), value: <Status value={term.stage} /> },
        ]}
      />
      <WhatHappens term={term} />
      {sentStages.includes(term.stage) && (
        <>
          <Outcome termID={termID} />
          <Trouble termID={termID} status="Failed" />
          <Trouble termID={termID} status="Uncertain" />
          <PrintFiles termID={termID} />
        </>
      )}
    </Stack>
  );
}

/** In the words of the stage: which button above does what. */
function WhatHappens({ term }: { term: DataOf<'getBillTerm'>['term'] }) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...settingsQuery, enabled: mayUse('settings:read') });
  const stage =
    term.status === 'Open' ? (term.stage === 'Generated' ? 'Generated' : 'Open') : term.stage;
  return (
    <Card withBorder>
      <Text size="sm">{t(`send.at${stage}`, { defaultValue: '' })}</Text>
      {term.status === 'Open' && data && (
        <Text size="sm">{t('send.numbers', { format: data.billNumberFormat })}</Text>
      )}
      {term.status === 'Open' && data?.separationOfDuty && (
        <Text size="sm" fw={600}>
          {t('send.fourEyes')}
        </Text>
      )}
    </Card>
  );
}

function Outcome({ termID }: { termID: number }) {
  const { t } = useTranslation();
  const query = useQuery(outcomeQuery(termID));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { channels, statuses } = query.data;
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('send.outcome'))}>
      <Table aria-label={t('send.outcome')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('send.channel')}</Table.Th>
            {statuses.map((status) => (
              <Table.Th key={status} className="figure">
                {t(`status.${status}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {channels.map(({ channel, counts }) => (
            <Table.Tr key={channel}>
              <Table.Td>{t(`channel.${channel}`)}</Table.Td>
              {counts.map((count, index) => (
                <Table.Td key={statuses[index]} className="figure">
                  {count}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** So many deliveries are in the page; more of them can be chosen together. */
const shownMax = 100;

function Trouble({ termID, status }: { termID: number; status: DeliveryStatus }) {
  const { t } = useTranslation();
  const query = useQuery(deliveriesQuery({ termID, status }));
  const { deliveries, total } = query.data ?? { deliveries: [], total: 0 };
  const { has, choose, toggle } = useChosen<Delivery>(({ deliveryID = 0 }) => deliveryID);
  const picked = deliveries.filter(has);
  const resolving = useSend(
    (resolution: 'Resend' | 'Sent' | 'Failed') => {
      const deliveryIDs = picked.map(({ deliveryID = 0 }) => deliveryID);
      return api.resolveDeliveries({ data: { termID, deliveryIDs, resolution } });
    },
    { onDone: () => choose([]) },
  );
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  if (total === 0) return null;
  const choices =
    status === 'Failed' ? (['Resend'] as const) : (['Resend', 'Sent', 'Failed'] as const);
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {t(`send.list${status}`, { count: total })}
        </Title>
        {mayUse('bills:distribute') && (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={() => choose(deliveries)}>
              {deliveries.length < total
                ? t('send.chooseFirst', { count: deliveries.length })
                : t('exceptions.all')}
            </Button>
            {choices.map((choice) => (
              <Button
                key={choice}
                size="xs"
                variant="default"
                disabled={picked.length === 0}
                loading={resolving.isPending}
                onClick={() => resolving.mutate(choice)}
              >
                {t(`send.as${choice}`, { count: picked.length })}
              </Button>
            ))}
          </Group>
        )}
      </Group>
      {resolving.isError && <Refusal error={resolving.error} />}
      {total > shownMax && (
        <Text size="sm" mb="xs">
          {t('exceptions.first', { shown: shownMax, total })}
        </Text>
      )}
      <Deliveries
        deliveries={deliveries.slice(0, shownMax)}
        isChosen={has}
        onToggle={toggle}
        status={status}
      />
    </Card>
  );
}

function Deliveries({
  deliveries,
  isChosen,
  onToggle,
  status,
}: {
  deliveries: readonly Delivery[];
  isChosen: (delivery: Delivery) => boolean;
  onToggle: (delivery: Delivery) => void;
  status: string;
}) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t(`status.${status}`))}>
      <Table aria-label={t(`status.${status}`)}>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <Table.Tr key={delivery.deliveryID}>
              <Table.Td w={40}>
                <Checkbox
                  aria-label={t('exceptions.choose', { number: delivery.billNumber })}
                  checked={isChosen(delivery)}
                  onChange={() => onToggle(delivery)}
                />
              </Table.Td>
              <Table.Td>
                <PageLink to="/bills/$billID" params={{ billID: String(delivery.billID) }}>
                  {delivery.billNumber}
                </PageLink>
              </Table.Td>
              <Table.Td>
                {t(`channel.${delivery.channel}`, { defaultValue: delivery.channel })}
              </Table.Td>
              <Table.Td>{delivery.to}</Table.Td>
              <Table.Td>{delivery.reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function PrintFiles({ termID }: { termID: number }) {
  const { t } = useTranslation();
  const { data: files } = useQuery(printQuery(termID));
  const getting = useSend(async ({ jobID = 0, part = 0 }: { jobID?: number; part?: number }) => {
    const { base64, contentType } = (await api.getPrintFile({ jobID, part })).data;
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    offerFile(`${jobID}-${part}.pdf`, bytes, contentType);
  });
  if (!files) return null;
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        {t('send.print')}
      </Title>
      {files.length === 0 && <Empty title={t('send.noPrint')}>{t('send.noPrintHint')}</Empty>}
      {getting.isError && <Refusal error={getting.error} />}
      <Group gap="xs">
        {files.map((file) => (
          <Button
            key={`${file.jobID} ${file.part}`}
            variant="default"
            loading={getting.isPending}
            onClick={() => getting.mutate(file)}
          >
            {t('send.printFile', { part: file.part, count: file.bills })}
          </Button>
        ))}
      </Group>
    </Card>
  );
}
