// Settles other bills of the customer with a payment than those that it settled.
import { Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { payableBillsQuery } from '../../api/queries/bills.ts';
import { mayUse } from '../../api/session.ts';
import { useMoney } from '../../parts/amount.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Payment = DataOf<'getPayments'>['payments'][number];
/** A bill that the payment settles or could settle. */
type Payable = { billID: number; number: string; term: string; given: number; open: number };

export function Reallocate({ payment }: { payment: Payment }) {
  const { t } = useTranslation();
  if (!mayUse('bills:read')) return null;
  return (
    <DialogButton label={t('payment.reallocate')} variant="default">
      {(close) => <Payables payment={payment} onDone={close} />}
    </DialogButton>
  );
}

type Props = { payment: Payment; onDone: () => void };

function Payables(props: Props) {
  const { t } = useTranslation();
  const { partyID = 0, allocations = [] } = props.payment;
  const settled = allocations.flatMap(({ billID }) => billID ?? []);
  const query = useQuery({ ...payableBillsQuery(partyID, settled), staleTime: 0, gcTime: 0 });
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const payables = query.data.map((bill): Payable => {
    const { billID, billNumber, billRefNo, termLabel: term, outstandingAmount } = bill;
    const parts = allocations.filter((one) => one.billID === billID);
    const given = inMoney(parts.reduce((sum, one) => sum + one.amount, 0));
    const open = inMoney(given + outstandingAmount);
    return { billID, number: billNumber ?? billRefNo, term, given, open };
  });
  if (payables.length === 0) return <Text>{t('payment.reallocateNone')}</Text>;
  return <Form {...props} payables={payables} />;
}

type Values = { amounts: Record<string, string>; reason: string };

function Form({ payment, onDone, payables }: Props & { payables: Payable[] }) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const given = ({ given }: Payable) => (given === 0 ? '' : String(given));
  const form = useForm<Values>({
    initialValues: {
      amounts: Object.fromEntries(payables.map((one) => [one.billID, given(one)])),
      reason: '',
    },
  });
  const filled = payables.filter(({ billID }) => typed(form.values, billID) !== '');
  const sum = inMoney(
    filled.reduce((total, { billID }) => total + (Number(typed(form.values, billID)) || 0), 0),
  );
  const available = inMoney((payment.amount ?? 0) - (payment.recoveredAmount ?? 0));
  const rest = inMoney(available - sum);
  const send = ({ amounts, reason }: Values) =>
    api.reallocatePayment({
      data: {
        paymentID: payment.paymentID ?? 0,
        allocations: filled.map(({ billID }) => ({
          billID,
          amount: amounts[billID]?.trim() ?? '',
        })),
        reason: reason.trim(),
      },
    });
  /** The call has only the bills that are given something. */
  const placesOf = (fields: Record<string, string>) => ({
    ...fields,
    ...Object.fromEntries(
      filled.flatMap(({ billID }, index) => {
        const at = (name: string) => fields[`allocations.${index}.${name}`];
        const message = at('amount') ?? at('billID');
        return message === undefined ? [] : [[`amounts.${billID}`, message]];
      }),
    ),
  });
  return (
    <SendForm
      form={form}
      send={send}
      placesOf={placesOf}
      action={t('payment.reallocateAction', { sum: money(sum) })}
      onDone={onDone}
    >
      <Text size="sm">{t('payment.reallocateEffect', { amount: money(available) })}</Text>
      <OtherDebts payment={payment} />
      <Stack gap="xs">
        {payables.map(({ billID, number, term, open }, index) => (
          <TextInput
            key={billID}
            label={t('payment.reallocateBill', { number, term })}
            description={t('payment.reallocateOpen', { amount: money(open) })}
            inputMode="decimal"
            {...(index === 0 ? { 'data-autofocus': true } : {})}
            {...form.getInputProps(`amounts.${billID}`)}
          />
        ))}
      </Stack>
      <Text size="sm" role="status">
        {rest < 0
          ? t('payment.reallocateTooMuch', { amount: money(-rest) })
          : t('payment.reallocateRest', { amount: money(rest) })}
      </Text>
      <Textarea
        label={t('reason')}
        required
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
    </SendForm>
  );
}

/** Deposits, fees and opening balances: a call can name bills alone. */
function OtherDebts({ payment: { allocations = [] } }: { payment: Payment }) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const others = allocations.filter(({ billID }) => billID === null);
  if (others.length === 0) return null;
  const amount = money(others.reduce((sum, one) => sum + one.amount, 0));
  return (
    <Text size="sm" fw={600}>
      {t('payment.reallocateOthers', { amount })}
    </Text>
  );
}

function typed({ amounts }: Values, billID: number): string {
  return (amounts[billID] ?? '').trim();
}

/** Sums of amounts, without what binary fractions leave. */
function inMoney(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
