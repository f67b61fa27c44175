// The columns that every list of bills begins and ends with.
import type { TFunction } from 'i18next';
import type { DataOf } from '../../sdk/client.ts';
import { Amount } from './amount.tsx';
import type { Column } from './columns.ts';
import { PageLink } from './page-link.tsx';

export type ListedBill = DataOf<'getBills'>['bills'][number];

/** The bill number, the screen's own columns, the billed amount and the open amount. */
export function billColumns(
  t: TFunction,
  between: readonly Column<ListedBill>[],
): Column<ListedBill>[] {
  return [
    {
      key: 'number',
      label: t('bills.number'),
      text: (bill) => bill.billNumber ?? bill.billRefNo,
      show: (bill) => (
        <PageLink to="/bills/$billID" params={{ billID: String(bill.billID) }}>
          {bill.billNumber ?? bill.billRefNo}
        </PageLink>
      ),
    },
    ...between,
    {
      key: 'amount',
      label: t('bills.amount'),
      isFigure: true,
      text: (bill) => bill.billAmount,
      sum: (bill) => bill.billAmount,
      show: (bill) => <Amount value={bill.billAmount} />,
    },
    {
      key: 'open',
      label: t('bills.open'),
      isFigure: true,
      text: (bill) => bill.outstandingAmount,
      sum: (bill) => bill.outstandingAmount,
      show: (bill) => <Amount value={bill.outstandingAmount} />,
    },
  ];
}
