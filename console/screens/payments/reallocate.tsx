// Settles other bills of the customer with a payment than those that it settled.
import { Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { payableBillsQuery } from '../../api/queries/bills.ts';
import { mayUse, useSession } from '../../api/session.ts';
import { useMoney } from '../../parts/amount.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { typedAmount } from '../../parts/typed-amount.ts';

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
  const { sum } = useMoney();
  const { partyID = 0, allocations = [] } = props.payment;
  const settled = allocations.flatMap(({ billID }) => billID ?? []);
  const query = useQuery({ ...payableBillsQuery(partyID, settled), staleTime: 0, gcTime: 0 });
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const payables = query.data.map((bill): Payable => {
    const { billID, billNumber, billRefNo, termLabel: term, outstandingAmount } = bill;
    const parts = allocations.filter((one) => one.billID === billID);
    const given = sum(parts.map((one) => one.amount));
    const open = sum([given, outstandingAmount]);
    return { billID, number: billNumber ?? billRefNo, term, given, open };
  });
  if (payables.length === 0) return <Text>{t('payment.reallocateNone')}</Text>;
  return <Form {...props} payables={payables} />;
}

type Values = { amounts: Record<string, string>; reason: string };

function Form({ payment, onDone, payables }: Props & { payables: Payable[] }) {
  const { t } = useTranslation();
  const { money, sum } = useMoney();
  const { currencyDecimals = 2 } = useSession() ?? {};
  const given = ({ given }: Payable) => (given === 0 ? '' : String(given));
  const form = useForm<Values>({
    initialValues: {
      amounts: Object.fromEntries(payables.map((one) => [one.billID, given(one)])),
      reason: '',
    },
  });
  const filled = payables.filter(({ billID }) => typed(form.values, billID) !== '');
  const amountOf = ({ billID }: Payable) =>
    typedAmount(typed(form.values, billID), currencyDecimals);
  const isWrong = (one: Payable) => filled.includes(one) && amountOf(one) === undefined;
  const settled = sum(filled.map((one) => amountOf(one) ?? 0));
  const available = sum([payment.amount ?? 0, -(payment.recoveredAmount ?? 0)]);
  const rest = sum([available, -settled]);
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
      action={t('payment.reallocateAction', { sum: money(settled) })}
      isReady={!payables.some(isWrong)}
      onDone={onDone}
    >
      <Text size="sm">{t('payment.reallocateEffect', { amount: money(available) })}</Text>
      <OtherDebts payment={payment} />
      <Amounts form={form} payables={payables} isWrong={isWrong} />
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

function Amounts({
  form,
  payables,
  isWrong,
}: {
  form: UseFormReturnType<Values>;
  payables: Payable[];
  isWrong: (one: Payable) => boolean;
}) {
  const { t } = useTranslation();
  const { money } = useMoney();
  return (
    <Stack gap="xs">
      {payables.map((one, index) => (
        <TextInput
          key={one.billID}
          label={t('payment.reallocateBill', { number: one.number, term: one.term })}
          description={t('payment.reallocateOpen', { amount: money(one.open) })}
          inputMode="decimal"
          {...(index === 0 ? { 'data-autofocus': true } : {})}
          {...form.getInputProps(`amounts.${one.billID}`)}
          {...(isWrong(one) ? { error: t('payment.notAmount') } : {})}
        />
      ))}
    </Stack>
  );
}

/** Deposits, fees and opening balances: a call can name bills alone. */
function OtherDebts({ payment: { allocations = [] } }: { payment: Payment }) {
  const { t } = useTranslation();
  const { money, sum } = useMoney();
  const others = allocations.filter(({ billID }) => billID === null);
  if (others.length === 0) return null;
  const amount = money(sum(others.map((one) => one.amount)));
  return (
    <Text size="sm" fw={600}>
      {t('payment.reallocateOthers', { amount })}
    </Text>
  );
}

function typed({ amounts }: Values, billID: number): string {
  return (amounts[billID] ?? '').trim();
}
