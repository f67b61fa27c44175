// The cash desk: find the customer, see what is owed, take the payment, print the receipt, close
// the day.
import {
  Button,
  Card,
  Grid,
  Group,
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
import { cashDesksQuery } from '../../api/queries/payments.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { mayUse } from '../../api/session.ts';
import { Money } from '../../parts/amount.tsx';
import { Figures } from '../../parts/figures.tsx';
import { FileButton } from '../../parts/file.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { CloseDay } from './close-day.tsx';
import { FindPayer, type Payer } from './find-payer.tsx';
import { NewDesk } from './new-desk.tsx';

export function CashDesk() {
  const { t } = useTranslation();
  const query = useQuery(cashDesksQuery(undefined));
  // The desk of this machine; nothing about customers or sessions is kept.
  const [chosen, choose] = useLocalStorage({ key: 'billwright-cash-desk', defaultValue: '' });
  if (query.isPending) return <Loading />;
  if (query.isError) return <Refusal error={query.error} onRetry={() => query.refetch()} />;
  const desks = query.data;
  const desk = desks.find((one) => one.cashDesk === chosen) ?? desks[0];
  const open = mayUse('settings:write') && <NewDesk />;
  return (
    <Page
      title={t('cashDesk.title')}
      actions={
        <>
          {open}
          {desk && mayUse('payments:write') && <CloseDay desk={desk} />}
        </>
      }
    >
      {desk === undefined ? (
        <Empty title={t('cashDesk.none')}>{t('cashDesk.noneHint')}</Empty>
      ) : (
        <>
          <Group align="flex-end">
            <NativeSelect
              label={t('cashDesk.desk')}
              value={desk.cashDesk}
              onChange={(event) => choose(event.currentTarget.value)}
              data={desks.map((one) => ({ value: one.cashDesk, label: one.name }))}
            />
          </Group>
          <Figures
            items={desk.taken.map((one) => ({
              label: t('cashDesk.taken', {
                method: t(`method.${one.paymentMethod}`),
                count: one.payments,
              }),
              value: <Money value={one.amount} />,
            }))}
          />
          {mayUse('payments:write') && <Counter cashDesk={desk.cashDesk} />}
        </>
      )}
    </Page>
  );
}

type Taken = { paymentID: number; message: string };

function Counter({ cashDesk }: { cashDesk: string }) {
  const { t } = useTranslation();
  const [payer, setPayer] = useState<Payer | null>(null);
  const [taken, setTaken] = useState<Taken | null>(null);
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <FindPayer
          onChoose={(found) => {
            setPayer(found);
            setTaken(null);
          }}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        {payer && (
          <Card withBorder>
            <Stack>
              <Text component="h2" fw={600}>
                {payer.name} · {payer.partyNumber}
              </Text>
              <TakeCash
                key={`${payer.partyNumber} ${taken?.paymentID}`}
                payer={payer}
                cashDesk={cashDesk}
                onTaken={setTaken}
              />
            </Stack>
          </Card>
        )}
        {taken && (
          <Card withBorder mt="md" role="status">
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
      </Grid.Col>
    </Grid>
  );
}

const methods = ['Cash', 'Card', 'Cheque'] as const;

function TakeCash({
  payer,
  cashDesk,
  onTaken,
}: {
  payer: Payer;
  cashDesk: string;
  onTaken: (taken: Taken) => void;
}) {
  const { t } = useTranslation();
  // One reference for one form: a second click, or a lost answer, pays once.
  const [reference] = useState(() => newRequestKey());
  const amountField = useRef<HTMLInputElement>(null);
  const form = useForm({
    initialValues: {
      amount: payer.owed > 0 ? String(payer.owed) : '',
      paymentMethod: 'Cash' as (typeof methods)[number],
      chequeNumber: '',
    },
  });
  const press = (key: string) => {
    const { amount } = form.values;
    form.setFieldValue('amount', key === '⌫' ? amount.slice(0, -1) : amount + key);
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
        const payment = { reference, partyNumber, amount, paymentMethod, cashDesk, ...cheque };
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
      <SimpleGrid cols={3} spacing="xs" className="no-print">
        {['7', '8', '9', '4', '5', '6', '1', '2', '3', '0', '.', '⌫'].map((key) => (
          <Button
            key={key}
            variant="default"
            size="md"
            tabIndex={-1}
            aria-label={key === '⌫' ? t('cashDesk.back') : key}
            onClick={() => press(key)}
          >
            {key}
          </Button>
        ))}
      </SimpleGrid>
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
