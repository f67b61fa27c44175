// The columns of a list of payments.
import type { TFunction } from 'i18next';
import type { DataOf } from '../../sdk/client.ts';
import { Amount } from './amount.tsx';
import type { Column } from './columns.ts';
import { PageLink } from './page-link.tsx';
import { Status } from './status.tsx';

type Payment = DataOf<'getPayments'>['payments'][number];

export function paymentColumns(t: TFunction): Column<Payment>[] {
  return [
    { key: 'date', label: t('payments.date'), show: (payment) => payment.paymentDate },
    {
      key: 'reference',
      label: t('payments.reference'),
      text: (payment) => payment.reference,
      show: (payment) => (
        <PageLink to="/payments/$paymentID" params={{ paymentID: String(payment.paymentID) }}>
          {payment.receiptNumber ?? payment.reference}
        </PageLink>
      ),
    },
    { key: 'party', label: t('bills.customer'), show: (payment) => payment.partyName },
    {
      key: 'method',
      label: t('payments.method'),
      text: (payment) => payment.paymentMethod,
      show: ({ paymentMethod }) => t(`method.${paymentMethod}`, { defaultValue: paymentMethod }),
    },
    {
      key: 'bills',
      label: t('payments.settles'),
      show: ({ allocations = [] }) =>
        [
          ...new Set(
            allocations.map(
              (one) => one.billNumber ?? t(`entryKind.${one.kind}`, { defaultValue: one.kind }),
            ),
          ),
        ].join(', '),
    },
    {
      key: 'status',
      label: t('terms.status'),
      text: ({ status }) => status,
      groups: ({ status = '' }) => t(`status.${status}`, { defaultValue: status }),
      show: ({ status = '' }) => <Status value={status} />,
    },
    {
      key: 'amount',
      label: t('bills.amount'),
      isFigure: true,
      text: ({ amount }) => amount,
      sum: ({ amount = 0 }) => amount,
      show: ({ amount = 0 }) => <Amount value={amount} />,
    },
  ];
}
