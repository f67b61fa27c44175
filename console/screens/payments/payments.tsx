// Payments, newest first, and a form to take one.
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { paymentsQuery } from '../../api/queries.ts';
import { mayUse } from '../../api/session.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { paymentColumns } from '../../parts/payment-columns.tsx';
import { TakePayment } from '../../parts/take-payment.tsx';

export function Payments() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { page = 0 } = useSearch({ from: '/inside/payments' });
  const payments = useQuery(paymentsQuery({}, page));
  const [isPaying, { open, close }] = useDisclosure();
  return (
    <Page
      title={t('payments.title')}
      actions={mayUse('payments:write') && <Button onClick={open}>{t('payments.take')}</Button>}
    >
      <List
        query={payments}
        label={t('payments.title')}
        rowKey={(payment) => payment.paymentID ?? 0}
        page={page}
        onPage={(next) => navigate({ to: '/payments', search: { page: next } })}
        empty={<Empty title={t('payments.none')}>{t('payments.noneHint')}</Empty>}
        columns={paymentColumns(t)}
      />
      <TakePayment isOpen={isPaying} onClose={close} partyNumber={null} />
    </Page>
  );
}
