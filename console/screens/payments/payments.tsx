// Payments, newest first, found by reference, day and status.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { paymentPages } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { toWire } from '../../parts/days.ts';
import { Filters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { paymentColumns } from '../../parts/payment-columns.tsx';
import { TakePayment } from '../../parts/take-payment.tsx';

const statuses = ['Posted', 'Reversed', 'Refunded'] as const;

export function Payments() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { reference, from, to, status } = useSearch({ from: '/inside/payments' });
  const pages = paymentPages({
    reference,
    fromDate: from && toWire(from),
    toDate: to && toWire(to),
    status: statuses.find((one) => one === status),
  });
  return (
    <Page
      title={t('payments.title')}
      actions={mayUse('payments:write') && <TakePayment partyNumber={null} />}
    >
      <Filters
        specs={{
          reference: { label: t('payments.reference') },
          from: { label: t('from'), kind: 'date' },
          to: { label: t('to'), kind: 'date' },
          status: {
            label: t('terms.status'),
            kind: 'choice',
            choices: statuses.map((value) => ({ value, label: t(`status.${value}`) })),
          },
        }}
        values={{ reference, from, to, status }}
        onChange={(search) => navigate({ to: '/payments', search })}
      />
      <List
        pages={pages}
        label={t('payments.title')}
        rowKey={(payment) => payment.paymentID ?? 0}
        empty={<Empty title={t('payments.none')}>{t('payments.noneHint')}</Empty>}
        columns={paymentColumns(t)}
      />
    </Page>
  );
}
