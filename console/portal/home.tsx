// What the customer owes and until when, the newest bill, and how to pay.
import { Alert, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { ownBillsQuery, ownPartyQuery, paymentDetailsQuery } from '../api/queries/portal.ts';
import { useSession } from '../api/session.ts';
import { Money } from '../parts/amount.tsx';
import type { ListedBill } from '../parts/bill-columns.tsx';
import { FileButton } from '../parts/file.tsx';
import { Loading, Refusal } from '../parts/notes.tsx';
import { usePageTitle } from '../parts/page.tsx';
import { QrCode } from '../parts/qr-code.tsx';

export function PortalHome() {
  const { t } = useTranslation();
  const partyNumber = useSession()?.user.partyNumber ?? 0;
  const party = useQuery(ownPartyQuery(partyNumber));
  const bills = useQuery(ownBillsQuery);
  usePageTitle(t('portal.home'));
  if (party.isLoadingError) return <Refusal error={party.error} onRetry={() => party.refetch()} />;
  if (bills.isLoadingError) return <Refusal error={bills.error} onRetry={() => bills.refetch()} />;
  if (party.isPending || bills.isPending) return <Loading />;
  const owed = party.data.outstandingAccount.balance;
  const { newest, open } = bills.data;
  const [first] = open;
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

/** The code is scanned by the app of a bank; the reference and the accounts are for all others. */
function HowToPay({ bill }: { bill: ListedBill }) {
  const { t } = useTranslation();
  const { data } = useQuery(paymentDetailsQuery(bill.billID));
  if (!data?.payable) return null;
  const { reference, banks, code } = data;
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        {t('portal.howToPay')}
      </Title>
      <Group align="flex-start" gap="lg">
        {code?.isPayment && <PaymentCode text={code.text} />}
        <Stack gap="xs" miw={0}>
          <Text>
            {t('payments.reference')}: <strong dir="ltr">{reference}</strong>
          </Text>
          {banks.map(({ title, facts }) => (
            <div key={`${title} ${facts.map(({ value }) => value).join(' ')}`}>
              <Text size="sm" fw={600} className="breaks">
                {title}
              </Text>
              {facts.map(({ label, value }) => (
                <Text key={label} size="sm" className="breaks">
                  {label} <span dir="ltr">{value}</span>
                </Text>
              ))}
            </div>
          ))}
        </Stack>
      </Group>
      {!code?.isPayment && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('portal.scanHint')}
        </Text>
      )}
    </Card>
  );
}

function PaymentCode({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <Stack gap={4} align="center" maw={200}>
      <QrCode text={text} label={t('portal.code')} />
      <Text size="xs" ta="center">
        {t('portal.scan')}
      </Text>
    </Stack>
  );
}
