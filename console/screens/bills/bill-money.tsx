// What became of a bill: payments, the change against the bill before it, its history.
import { Card, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { previousBillQuery } from '../../api/queries/bills.ts';
import { paymentsOfBillQuery } from '../../api/queries/payments.ts';
import { mayUse } from '../../api/session.ts';
import { Amount, type MoneyFormat, useMoney } from '../../parts/amount.tsx';
import type { ListedBill } from '../../parts/bill-columns.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { scrolls } from '../../parts/scrolls.ts';

type Props = { bill: ListedBill };

export function PaymentsOfBill({ bill: { billID } }: Props) {
  const { t } = useTranslation();
  const { sum } = useMoney();
  const { data: payments = [] } = useQuery({
    ...paymentsOfBillQuery(billID),
    enabled: mayUse('payments:read'),
  });
  if (payments.length === 0) return null;
  const settledOf = (payment: (typeof payments)[number]) =>
    sum((payment.allocations ?? []).flatMap((one) => (one.billID === billID ? one.amount : [])));
  return (
    <Card withBorder {...scrolls(t('payments.title'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('payments.title')}
      </Text>
      <Table aria-label={t('payments.title')}>
        <Table.Tbody>
          {payments.map((payment) => (
            <Table.Tr key={payment.paymentID}>
              <Table.Td>
                <PageLink
                  to="/payments/$paymentID"
                  params={{ paymentID: String(payment.paymentID) }}
                >
                  {payment.receiptNumber ?? payment.reference}
                </PageLink>
              </Table.Td>
              <Table.Td>{payment.paymentDate}</Table.Td>
              <Table.Td>{t(`method.${payment.paymentMethod}`)}</Table.Td>
              <Table.Td className="figure">
                <Amount value={settledOf(payment)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

/** Line by line, so that a customer's question "why more than last month?" has an answer. */
export function AgainstPrevious({ bill }: Props) {
  const { t } = useTranslation();
  const { sum } = useMoney();
  const { data: previous } = useQuery(previousBillQuery(bill));
  if (!previous) return null;
  const [own, other] = [amountsOf(bill, sum), amountsOf(previous, sum)];
  const labels = new Map([...other, ...own].map(([component, { label }]) => [component, label]));
  return (
    <Card withBorder {...scrolls(t('bill.against'))}>
      <Text component="h2" fw={600} mb="xs">
        {t('bill.against')}
      </Text>
      <Table aria-label={t('bill.against')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bill.charge')}</Table.Th>
            <Table.Th className="figure">{bill.termLabel}</Table.Th>
            <Table.Th className="figure">
              <PageLink to="/bills/$billID" params={{ billID: String(previous.billID) }}>
                {previous.termLabel}
              </PageLink>
            </Table.Th>
            <Table.Th className="figure">{t('bill.difference')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...labels].map(([component, label]) => (
            <Compared
              key={component}
              label={label}
              now={own.get(component)?.amount ?? 0}
              before={other.get(component)?.amount ?? 0}
            />
          ))}
          <Compared
            label={t('term.charges')}
            now={bill.currentCharges}
            before={previous.currentCharges}
            isTotal
          />
        </Table.Tbody>
      </Table>
    </Card>
  );
}

function Compared({
  label,
  now,
  before,
  isTotal = false,
}: {
  label: string;
  now: number;
  before: number;
  isTotal?: boolean;
}) {
  const { sum } = useMoney();
  return (
    <Table.Tr fw={isTotal ? 700 : 400}>
      <Table.Td>{label}</Table.Td>
      {[now, before, sum([now, -before])].map((value, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: three amounts in their order.
        <Table.Td key={place} className="figure">
          <Amount value={value} />
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function amountsOf({ lines }: ListedBill, sum: MoneyFormat['sum']) {
  const amounts = new Map<string, { label: string; amount: number }>();
  for (const { component, label, amount } of lines) {
    const known = amounts.get(component);
    amounts.set(component, {
      label: known?.label ?? label,
      amount: sum([known?.amount ?? 0, amount]),
    });
  }
  return amounts;
}
