// The cash desk: find the customer, see what is owed, take the payment, print the receipt, close
// the day.
import {
  Button,
  Card,
  Grid,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useLocalStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { customerQuery } from '../../api/queries/customers.ts';
import { cashDesksQuery, type Desk } from '../../api/queries/payments.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { mayUse, today } from '../../api/session.ts';
import { Money } from '../../parts/amount.tsx';
import { toWire } from '../../parts/days.ts';
import { FileButton } from '../../parts/file.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { DayOfDesk } from './day-of-desk.tsx';
import { FindPayer } from './find-payer.tsx';
import { NewDesk } from './new-desk.tsx';

export function CashDesk() {
  const { t } = useTranslation();
  const query = useQuery(cashDesksQuery(undefined));
  // The desk of this machine; nothing about customers or sessions is kept.
  const [chosen, choose] = useLocalStorage({ key: 'billwright-cash-desk', defaultValue: '' });
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const desks = query.data;
  const desk = desks.find((one) => one.cashDesk === chosen) ?? desks[0];
  return (
    <Page title={t('cashDesk.title')} actions={mayUse('settings:write') && <NewDesk />}>
      {desk === undefined ? (
        <Empty title={t('cashDesk.none')}>{t('cashDesk.noneHint')}</Empty>
      ) : (
        <DayOfDesk
          desk={desk}
          choice={
            <NativeSelect
              label={t('cashDesk.desk')}
              value={desk.cashDesk}
              onChange={(event) => choose(event.currentTarget.value)}
              data={desks.map((one) => ({ value: one.cashDesk, label: one.name }))}
            />
          }
        >
          {mayUse('payments:write') && <Counter desk={desk} />}
        </DayOfDesk>
      )}
    </Page>
  );
}

type TakenPayment = { paymentID: number; message: string };

function Counter({ desk }: { desk: Desk }) {
  const { t } = useTranslation();
  const [partyNumber, setPartyNumber] = useState<number | null>(null);
  const [taken, setTaken] = useState<TakenPayment | null>(null);
  if (desk.lastClosed?.date === toWire(today())) return <Text>{t('cashDesk.closedToday')}</Text>;
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <FindPayer
          onChoose={(found) => {
            if (found !== null) readAgain(found);
            setPartyNumber(found);
            setTaken(null);
          }}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        {taken && (
          <Card withBorder mb="md" role="status">
            <Stack align="flex-start">
              <Text>{taken.message}</Text>
              <FileButton
                label={t('payment.receipt')}
                name={`receipt-${taken.paymentID}.pdf`}
                load={() => api.getReceiptDocument({ paymentID: taken.paymentID, format: 'PDF' })}
              />
            </Stack>
          </Card>
        )}
        {partyNumber !== null && (
          <Card withBorder>
            <Payer
              partyNumber={partyNumber}
              cashDesk={desk.cashDesk}
              hasPaid={taken !== null}
              onTaken={(payment) => {
                readAgain(partyNumber);
                setTaken(payment);
              }}
            />
          </Card>
        )}
      </Grid.Col>
    </Grid>
  );
}

/** The form is shown only with what is owed now, never with what was owed before a payment. */
function readAgain(partyNumber: number): void {
  void queries.resetQueries({ queryKey: customerQuery(partyNumber).queryKey });
}

type PayerProps = {
  partyNumber: number;
  cashDesk: string;
  /** What is left is not suggested: a second press of the button takes no second payment. */
  hasPaid: boolean;
  onTaken: (taken: TakenPayment) => void;
};

function Payer({ partyNumber, ...props }: PayerProps) {
  const query = useQuery(customerQuery(partyNumber));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const { name, outstandingAccount } = query.data;
  return (
    <Stack>
      <Text component="h2" fw={600}>
        {name} · {partyNumber}
      </Text>
      <TakeCash
        key={partyNumber}
        payer={{ partyNumber, owed: outstandingAccount.balance }}
        {...props}
      />
    </Stack>
  );
}

const methods = ['Cash', 'Card', 'Cheque'] as const;

function TakeCash({
  payer,
  cashDesk,
  hasPaid,
  onTaken,
}: Omit<PayerProps, 'partyNumber'> & { payer: { partyNumber: number; owed: number } }) {
  const { t } = useTranslation();
  // One reference for one form: a second click, or a lost answer, pays once.
  const [reference] = useState(() => newRequestKey());
  const amountField = useRef<HTMLInputElement>(null);
  const form = useForm({
    initialValues: {
      amount: payer.owed > 0 && !hasPaid ? String(payer.owed) : '',
      paymentMethod: 'Cash' as (typeof methods)[number],
      chequeNumber: '',
    },
  });
  const press = (key: string) => {
    const { amount } = form.values;
    // The first digit replaces the suggestion.
    const begun = form.isDirty('amount') ? amount : '';
    form.setFieldValue('amount', key === '⌫' ? amount.slice(0, -1) : begun + key);
    amountField.current?.focus();
  };
  return (
    <SendForm
      form={form}
      action={t('cashDesk.take', { amount: form.values.amount })}
      isReady={form.values.amount !== ''}
      send={({ amount, paymentMethod, chequeNumber }) => {
        const { partyNumber } = payer;
        const cheque = paymentMethod === 'Cheque' ? { chequeNumber } : {};
        const paid = { amount: amount.trim(), paymentMethod, ...cheque };
        const payment = { reference, partyNumber, cashDesk, ...paid };
        return api.makePayments({ payments: [payment] });
      }}
      onDone={({ headers, message }) =>
        onTaken({ paymentID: Number(headers.get('x-resource-id') ?? 0), message })
      }
    >
      <Text>
        {t('customer.owes')}: <Money value={payer.owed} />
      </Text>
      <TextInput
        ref={amountField}
        label={t('bills.amount')}
        required
        size="lg"
        inputMode="decimal"
        {...form.getInputProps('amount')}
      />
      <NumberPad onPress={press} />
      <NativeSelect
        label={t('payments.method')}
        data={methods.map((value) => ({ value, label: t(`method.${value}`) }))}
        {...form.getInputProps('paymentMethod')}
      />
      {form.values.paymentMethod === 'Cheque' && (
        <TextInput label={t('cashDesk.cheque')} required {...form.getInputProps('chequeNumber')} />
      )}
    </SendForm>
  );
}

function NumberPad({ onPress }: { onPress: (key: string) => void }) {
  const { t } = useTranslation();
  return (
    <SimpleGrid cols={3} spacing="xs" className="no-print">
      {['7', '8', '9', '4', '5', '6', '1', '2', '3', '0', '.', '⌫'].map((key) => (
        <Button
          key={key}
          variant="default"
          size="md"
          tabIndex={-1}
          aria-label={key === '⌫' ? t('cashDesk.back') : key}
          onClick={() => onPress(key)}
        >
          {key}
        </Button>
      ))}
    </SimpleGrid>
  );
}
