// Takes a payment of one customer.

import { NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { newRequestKey } from '../api/request-key.ts';
import { DialogButton } from './dialog.tsx';
import { SendForm } from './send-form.tsx';

const methods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Online', 'Cheque'] as const;

/** A button with the form. Without a party number the form asks for the subscription. */
export function TakePayment({ partyNumber }: { partyNumber: number | null }) {
  const { t } = useTranslation();
  return (
    <DialogButton label={t('payments.take')}>
      {(close) => <PaymentForm partyNumber={partyNumber} onDone={close} />}
    </DialogButton>
  );
}

function PaymentForm({ partyNumber, onDone }: { partyNumber: number | null; onDone: () => void }) {
  const { t } = useTranslation();
  // One reference for one form: a second click, or a lost answer, pays once.
  const [own] = useState(() => newRequestKey());
  const form = useForm({
    initialValues: {
      connectionNumber: '',
      amount: '',
      paymentMethod: 'Cash' as (typeof methods)[number],
      reference: '',
      remark: '',
    },
  });
  const asks = partyNumber === null;
  return (
    <SendForm
      form={form}
      action={t('payments.take')}
      done={t('payments.taken')}
      onDone={onDone}
      send={({ connectionNumber, amount, paymentMethod, reference, remark }) =>
        api.makePayments({
          payments: [
            {
              reference: reference === '' ? own : reference,
              ...(asks ? { connectionNumber } : { partyNumber }),
              amount: amount.trim(),
              paymentMethod,
              ...(remark === '' ? {} : { remark }),
            },
          ],
        })
      }
    >
      {asks && (
        <TextInput
          label={t('bills.subscription')}
          required
          data-autofocus
          {...form.getInputProps('connectionNumber')}
        />
      )}
      <TextInput
        label={t('bills.amount')}
        required
        inputMode="decimal"
        {...(asks ? {} : { 'data-autofocus': true })}
        {...form.getInputProps('amount')}
      />
      <NativeSelect
        label={t('payments.method')}
        data={methods.map((value) => ({ value, label: t(`method.${value}`) }))}
        {...form.getInputProps('paymentMethod')}
      />
      <TextInput
        label={t('payments.reference')}
        description={t('payments.referenceHint')}
        {...form.getInputProps('reference')}
      />
      <TextInput label={t('payments.remark')} {...form.getInputProps('remark')} />
    </SendForm>
  );
}
