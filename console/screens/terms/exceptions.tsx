// What keeps bills from being posted, grouped by cause: errors and holds, with the way to the source.
import {
  Accordion,
  Badge,
  Button,
  Checkbox,
  Group,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { heldQuery } from '../../api/queries/bills.ts';
import { termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { inOrder } from '../../language/isolated.ts';
import { Amount, Money, useMoney } from '../../parts/amount.tsx';
import { useChosen } from '../../parts/chosen.ts';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { useSend } from '../../parts/send-form.tsx';
import { GenerateAgain } from './generate-again.tsx';
import { HoldBills } from './hold-bills.tsx';

type Exception = DataOf<'getBillTerm'>['exceptions'][number];
type HeldBill = DataOf<'getBills'>['bills'][number];

/** The page on which the cause can be removed. */
const sources: Record<string, string> = {
  READING_MISSING: 'entry',
  READING_UNDER_REVIEW: 'review',
  READING_DECREASED: 'review',
  ESTIMATE_NOT_POSSIBLE: 'entry',
  MANUAL_VALUE_MISSING: 'values',
  MANUAL_VALUE_REQUIRED: 'values',
};

export function Exceptions() {
  const { t } = useTranslation();
  const { sum } = useMoney();
  const termID = Number(useParams({ from: '/inside/terms/$termID' }).termID);
  const term = useQuery(termQuery(termID));
  const held = useQuery(heldQuery(termID));
  if (term.isLoadingError) return <Refusal error={term.error} />;
  if (held.isLoadingError) return <Refusal error={held.error} />;
  if (!term.data || !held.data) return <Loading />;
  const { exceptions } = term.data;
  const isOpen = term.data.term.status === 'Open' && mayUse('bills:write');
  if (exceptions.length + held.data.total === 0) {
    return <Empty title={t('exceptions.none')}>{t('exceptions.noneHint')}</Empty>;
  }
  const byCode = Map.groupBy(exceptions, ({ code }) => code);
  const byReason = Map.groupBy(held.data.bills, ({ holdReason }) => holdReason ?? '');
  return (
    <Stack gap="md">
      {byCode.size > 0 && (
        <section aria-label={t('exceptions.errors')}>
          <Title order={2} size="h4" mb="xs">
            {t('exceptions.errors')}
          </Title>
          <Accordion variant="contained" order={3} defaultValue={[...byCode.keys()][0] ?? null}>
            {[...byCode].map(([code, found]) => (
              <Accordion.Item key={code} value={code}>
                <Accordion.Control>
                  <Group gap="sm">
                    <Text fw={600}>{t(`cause.${code}`, { defaultValue: code })}</Text>
                    <Count of={billsOf(found).length} />
                  </Group>
                </Accordion.Control>
                <Accordion.Panel>
                  <Errors termID={termID} code={code} found={found} isOpen={isOpen} />
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        </section>
      )}
      {byReason.size > 0 && (
        <section aria-label={t('exceptions.holds')}>
          <Title order={2} size="h4" mb="xs">
            {t('exceptions.holds')}
          </Title>
          {held.data.total > held.data.bills.length && (
            <Text size="sm" mb="xs">
              {t('exceptions.first', { shown: held.data.bills.length, total: held.data.total })}
            </Text>
          )}
          <Accordion variant="contained" order={3} defaultValue={`hold ${[...byReason.keys()][0]}`}>
            {[...byReason].map(([reason, bills]) => (
              <Accordion.Item key={reason} value={`hold ${reason}`}>
                <Accordion.Control>
                  <Group gap="sm">
                    <Text fw={600}>{reason || t('exceptions.noReason')}</Text>
                    <Count of={bills.length} />
                    <Money value={sum(bills.map(({ currentCharges }) => currentCharges))} />
                  </Group>
                </Accordion.Control>
                <Accordion.Panel>
                  <Held termID={termID} bills={bills} isOpen={isOpen} />
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        </section>
      )}
    </Stack>
  );
}

function Count({ of }: { of: number }) {
  return (
    <Badge variant="light" color="gray" c="inherit">
      {of}
    </Badge>
  );
}

type ErrorsProps = { termID: number; code: string; found: readonly Exception[]; isOpen: boolean };

/** So many bills of one cause are shown; a cause has one source. */
const shownMax = 100;

/** A bill may have one cause several times, such as two meters that were not read. */
function billsOf(found: readonly Exception[]): number[] {
  return [...new Set(found.map(({ billID }) => billID))];
}

function Errors({ termID, code, found, isOpen }: ErrorsProps) {
  const { t } = useTranslation();
  const again = useSend((billId: number) =>
    api.generateBills({ operation: 'schedule', data: { termID }, billId }),
  );
  const source = sources[code];
  const shown = found.slice(0, shownMax);
  return (
    <Stack gap="xs">
      {source !== undefined && (
        <PageLink to={`/terms/${termID}/${source}` as '/'}>{t(`exceptions.to_${source}`)}</PageLink>
      )}
      {isOpen && <GenerateAgain termID={termID} billIDs={billsOf(shown)} />}
      {shown.length < found.length && (
        <Text size="sm">{t('exceptions.first', { shown: shown.length, total: found.length })}</Text>
      )}
      {again.isError && <Refusal error={again.error} />}
      <Table.ScrollContainer
        minWidth={300}
        type="native"
        {...scrolls(t(`cause.${code}`, { defaultValue: code }))}
      >
        <Table aria-label={t(`cause.${code}`, { defaultValue: code })}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('bills.subscription')}</Table.Th>
              <Table.Th>{t('file.problem')}</Table.Th>
              {isOpen && <Table.Th>{t('logins.action')}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(({ billID, connectionNumber, message }) => (
              <Table.Tr key={`${billID} ${message}`}>
                <Table.Td>
                  <PageLink to="/bills/$billID" params={{ billID: String(billID) }}>
                    {connectionNumber ?? billID}
                  </PageLink>
                </Table.Td>
                <Table.Td className="long">{inOrder(message)}</Table.Td>
                {isOpen && (
                  <Table.Td>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={t('exceptions.againOf', { number: connectionNumber ?? billID })}
                      loading={again.isPending && again.variables === billID}
                      onClick={() => again.mutate(billID)}
                    >
                      {t('exceptions.again')}
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

type HeldProps = { termID: number; bills: readonly HeldBill[]; isOpen: boolean };

function Held({ bills, isOpen }: HeldProps) {
  const { t } = useTranslation();
  const { has, choose, toggle } = useChosen<HeldBill>(({ billID }) => billID);
  return (
    <Stack gap="xs">
      {isOpen && (
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => choose(bills)}>
            {t('exceptions.all')}
          </Button>
          <HoldBills bills={bills.filter(has)} isHold={false} onDone={() => choose([])} />
        </Group>
      )}
      <Table.ScrollContainer minWidth={300} type="native" {...scrolls(t('exceptions.holds'))}>
        <Table aria-label={t('exceptions.holds')}>
          <Table.Thead>
            <Table.Tr>
              {isOpen && <Table.Th>{t('exceptions.chosen')}</Table.Th>}
              <Table.Th>{t('bills.subscription')}</Table.Th>
              <Table.Th>{t('bills.customer')}</Table.Th>
              <Table.Th className="figure">{t('term.charges')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {bills.map((bill) => (
              <Table.Tr key={bill.billID}>
                {isOpen && (
                  <Table.Td w={40}>
                    <Checkbox
                      aria-label={t('exceptions.choose', { number: bill.billRefNo })}
                      checked={has(bill)}
                      onChange={() => toggle(bill)}
                    />
                  </Table.Td>
                )}
                <Table.Td>
                  <PageLink to="/bills/$billID" params={{ billID: String(bill.billID) }}>
                    {bill.connectionNumber ?? bill.billRefNo}
                  </PageLink>
                </Table.Td>
                <Table.Td>{bill.partyName}</Table.Td>
                <Table.Td className="figure">
                  <Amount value={bill.currentCharges} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
