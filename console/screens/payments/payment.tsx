// One payment: what it settled, its receipt, and what can still be changed about it.
import { Alert, Card, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { paymentQuery } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Amount, Money } from '../../parts/amount.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FileButton } from '../../parts/file.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';
import { Status } from '../../parts/status.tsx';
import { Steady } from '../../parts/steady.tsx';
import { Reallocate } from './reallocate.tsx';

type PaymentData = DataOf<'getPayments'>['payments'][number];

export function Payment() {
  const { t } = useTranslation();
  const paymentID = Number(useParams({ from: '/inside/payments/$paymentID' }).paymentID);
  const query = useQuery(paymentQuery(paymentID));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const payment = query.data;
  return (
    <Page
      title={t('payment.title', { reference: payment.receiptNumber ?? payment.reference })}
      crumbs={[{ label: t('payments.title'), to: '/payments' }]}
      hint={
        <PageLink
          to="/customers/$partyNumber"
          params={{ partyNumber: String(payment.partyNumber) }}
        >
          {payment.partyName}
        </PageLink>
      }
      actions={
        <Steady
          subject={payment}
          versionOf={({ status, clearedDate, allocations }) =>
            JSON.stringify([status, clearedDate, allocations])
          }
          reload={() => queries.fetchQuery({ ...paymentQuery(paymentID), staleTime: 0 })}
        >
          {(steady) => <Actions paymentID={paymentID} payment={steady} />}
        </Steady>
      }
    >
      {payment.reversal && (
        <Alert color="orange" title={t('payment.reversed', { date: payment.reversal.date })}>
          {payment.reversal.reason}
        </Alert>
      )}
      <Figures
        items={[
          { label: t('bills.amount'), value: <Money value={payment.amount ?? 0} /> },
          { label: t('terms.status'), value: <Status value={payment.status ?? ''} /> },
          { label: t('payments.date'), value: payment.paymentDate },
          { label: t('payments.method'), value: t(`method.${payment.paymentMethod}`) },
          { label: t('payments.reference'), value: payment.reference },
          { label: t('payment.toWallet'), value: <Money value={payment.walletAmount ?? 0} /> },
          { label: t('payment.takenBy'), value: payment.createdBy },
        ]}
      />
      <Settled payment={payment} />
    </Page>
  );
}

function Settled({ payment }: { payment: PaymentData }) {
  const { t } = useTranslation();
  const { allocations = [] } = payment;
  if (allocations.length === 0) return <Text>{t('payment.settlesNothing')}</Text>;
  return (
    <Card withBorder {...scrolls(t('payments.settles'))}>
      <Table aria-label={t('payments.settles')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('payments.settles')}</Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
            <Table.Th className="figure">{t('payment.surcharge')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {allocations.map((one) => (
            <Table.Tr key={`${one.kind} ${one.billID}`}>
              <Table.Td>
                {one.billID === null ? (
                  t(`entryKind.${one.kind}`, { defaultValue: one.kind })
                ) : (
                  <PageLink to="/bills/$billID" params={{ billID: String(one.billID) }}>
                    {one.billNumber}
                  </PageLink>
                )}
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={one.amount} />
              </Table.Td>
              <Table.Td className="figure">
                <Amount value={one.surchargeAmount} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

function Actions({ paymentID, payment }: { paymentID: number; payment: PaymentData }) {
  const { t } = useTranslation();
  const reason = { label: t('reason'), kind: 'long', required: true } as const;
  const isPosted = payment.status === 'Posted' && payment.direction !== 'Out';
  const isUncleared = payment.paymentMethod === 'Cheque' && !payment.clearedDate;
  return (
    <>
      <FileButton
        label={t('payment.receipt')}
        name={`${payment.receiptNumber ?? payment.reference}.pdf`}
        load={() => api.getReceiptDocument({ paymentID, format: 'PDF' })}
      />
      {isPosted && isUncleared && mayUse('payments:write') && (
        <ActionDialog
          label={t('payment.clear')}
          fields={{ clearedDate: { label: t('payment.clearedOn'), kind: 'date' } }}
          send={(typed) => api.clearPayment({ data: { paymentID, ...typed } })}
        />
      )}
      {isPosted && mayUse('payments:manage') && <Reallocate payment={payment} />}
      {isPosted && mayUse('payments:manage') && (
        <ActionDialog
          label={t('payment.transfer')}
          fields={{
            toConnectionNumber: { label: t('payment.toSubscription') },
            toPartyNumber: { label: t('payment.toCustomer') },
            reason,
          }}
          send={({ toConnectionNumber, toPartyNumber, reason = '' }) =>
            api.transferPayment({
              data: {
                ...{ paymentID, toConnectionNumber, reason },
                toPartyNumber: toPartyNumber === undefined ? undefined : Number(toPartyNumber),
              },
            })
          }
        />
      )}
      {isPosted && mayUse('payments:write') && (
        <ActionDialog
          label={t('payment.reverse')}
          colour="red"
          effect={<Text size="sm">{t('payment.reverseEffect')}</Text>}
          fields={{
            reason,
            chargeComponent: { label: t('payment.fee'), hint: t('payment.feeHint') },
            chargeAmount: { label: t('payment.feeAmount'), kind: 'amount' },
          }}
          send={({ reason = '', ...fee }) =>
            api.reversePayment({ data: { paymentID, reason, ...fee } })
          }
        />
      )}
    </>
  );
}
