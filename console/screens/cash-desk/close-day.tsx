// Closes the day of a desk: what was counted, beside what was taken.
import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import type { Desk } from '../../api/queries/payments.ts';
import { useMoney } from '../../parts/amount.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const methods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Online', 'Cheque'] as const;

export function CloseDay({ desk }: { desk: Desk }) {
  const { t } = useTranslation();
  return (
    <DialogButton
      label={t('closeDay.title')}
      title={t('closeDay.of', { desk: desk.name, date: desk.date })}
      variant="default"
    >
      {(close) => <Form desk={desk} onDone={close} />}
    </DialogButton>
  );
}

function Form({ desk, onDone }: { desk: Desk; onDone: () => void }) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const taken = methods.filter((method) => desk.taken.some((one) => one.paymentMethod === method));
  const form = useForm<Record<string, string>>({
    initialValues: { reason: '', ...Object.fromEntries(taken.map((method) => [method, ''])) },
  });
  const send = (values: Record<string, string>) => {
    const counted = taken.map((paymentMethod) => ({
      paymentMethod,
      amount: (values[paymentMethod] ?? '').trim(),
    }));
    const { cashDesk, date } = desk;
    const { reason = '' } = values;
    return api.closeDay({ data: { cashDesk, date, counted, ...(reason ? { reason } : {}) } });
  };
  return (
    <SendForm form={form} send={send} action={t('closeDay.close')} onDone={onDone}>
      {taken.length === 0 && <Text size="sm">{t('closeDay.nothing')}</Text>}
      {taken.map((method) => {
        const amount = desk.taken.find((one) => one.paymentMethod === method)?.amount ?? 0;
        return (
          <TextInput
            key={method}
            label={t('closeDay.counted', { method: t(`method.${method}`) })}
            description={t('closeDay.expected', { amount: money(amount) })}
            required
            inputMode="decimal"
            {...form.getInputProps(method)}
          />
        );
      })}
      <TextInput
        label={t('reason')}
        description={t('closeDay.reasonHint')}
        {...form.getInputProps('reason')}
      />
    </SendForm>
  );
}
