// What the customer owes and until when, the newest bill, and how to pay.
import { Alert, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { ownBillsQuery, ownPartyQuery } from '../api/queries/portal.ts';
import { useSession } from '../api/session.ts';
import { Money } from '../parts/amount.tsx';
import type { ListedBill } from '../parts/bill-columns.tsx';
import { FileButton } from '../parts/file.tsx';
import { Loading, Refusal } from '../parts/notes.tsx';
import { usePageTitle } from '../parts/page.tsx';

export function PortalHome() {
  const { t } = useTranslation();
  const partyNumber = useSession()?.user.partyNumber ?? 0;
  const party = useQuery(ownPartyQuery(partyNumber));
  const bills = useQuery(ownBillsQuery);
  usePageTitle(t('portal.home'));
  if (party.isError) return <Refusal error={party.error} onRetry={() => party.refetch()} />;
  if (bills.isError) return <Refusal error={bills.error} onRetry={() => bills.refetch()} />;
  if (party.isPending || bills.isPending) return <Loading />;
  const owed = party.data.outstandingAccount.balance;
  const open = bills.data.filter((bill) => bill.outstandingAmount > 0);
  // Bills come newest first: the last open one is due first.
  const first = open.at(-1);
  const newest = bills.data[0];
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('portal.hello', { name: party.data.name })}
      </Title>
      <Card withBorder>
        <Text c="dimmed">{owed > 0 ? t('portal.youOwe') : t('portal.nothingOwed')}</Text>
        <Text fz={32} fw={700}>
          <Money value={owed} />
        </Text>
        {owed > 0 && first && <Text>{t('portal.payBy', { date: first.dueDate })}</Text>}
        {open.some((bill) => bill.paymentStatus === 'Overdue') && (
          <Alert color="red" mt="sm" title={t('portal.overdue')} />
        )}
        {party.data.walletAccount.balance > 0 && (
          <Text size="sm">
            {t('customer.wallet')}: <Money value={party.data.walletAccount.balance} />
          </Text>
        )}
      </Card>
      {newest && <NewestBill bill={newest} />}
      {owed > 0 && newest && <HowToPay bill={first ?? newest} />}
    </Stack>
  );
}

function NewestBill({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        {t('portal.newest', { term: bill.termLabel })}
      </Title>
      <Group justify="space-between">
        <Text>
          <Money value={bill.payableWithinDueDate} />
        </Text>
        <FileButton
          label={t('downloadPdf')}
          name={`${bill.billNumber}.pdf`}
          load={() => api.getBillDocument({ billID: bill.billID, format: 'PDF' })}
        />
      </Group>
    </Card>
  );
}

type BankAccount = { title?: string; bankName?: string; accountNumber?: string; iban?: string };

function HowToPay({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  const accounts = bill.bankAccounts as BankAccount[];
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        {t('portal.howToPay')}
      </Title>
      <Text>
        {t('payments.reference')}: <strong dir="ltr">{bill.billRefNo}</strong>
      </Text>
      {accounts.map((one) => (
        <Text key={`${one.title} ${one.iban ?? one.accountNumber}`} size="sm">
          {[one.title, one.bankName].filter(Boolean).join(', ')}{' '}
          <span dir="ltr">{one.iban ?? one.accountNumber}</span>
        </Text>
      ))}
      <Text size="sm" c="dimmed" mt="xs">
        {t('portal.scanHint')}
      </Text>
    </Card>
  );
}
