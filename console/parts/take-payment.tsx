// Takes a payment of one customer. What the server refuses is shown at its field.
import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { queries } from '../api/queries.ts';
import { Refusal } from './notes.tsx';

const methods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Online', 'Cheque'] as const;

export function TakePayment({
  isOpen,
  onClose,
  partyNumber,
}: {
  isOpen: boolean;
  onClose: () => void;
  /** Null where the form asks for it. */
  partyNumber: number | null;
}) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t('payments.take')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <PaymentForm partyNumber={partyNumber} onDone={onClose} />
    </Modal>
  );
}

function PaymentForm({ partyNumber, onDone }: { partyNumber: number | null; onDone: () => void }) {
  const { t } = useTranslation();
  // One reference for one form: a second click, or a lost answer, pays once.
  const [own] = useState(() => crypto.randomUUID());
  const [payer, setPayer] = useState('');
  const [amount, setAmount] = useState('');
  const [method, setMethod] = useState<(typeof methods)[number]>('Cash');
  const [reference, setReference] = useState('');
  const [remark, setRemark] = useState('');
  const taking = useMutation({
    mutationFn: () =>
      api.makePayments({
        payments: [
          {
            reference: reference === '' ? own : reference,
            ...(partyNumber === null ? { connectionNumber: payer } : { partyNumber }),
            amount,
            paymentMethod: method,
            ...(remark === '' ? {} : { remark }),
          },
        ],
      }),
    onSuccess: async () => {
      notifications.show({
        message: t('payments.taken'),
        color: 'teal',
        closeButtonProps: { 'aria-label': t('close') },
      });
      await queries.invalidateQueries();
      onDone();
    },
  });
  const { fields } = taking.isError ? problemOf(taking.error) : { fields: {} as never };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        taking.mutate();
      }}
    >
      <Stack gap="sm">
        {partyNumber === null && (
          <TextInput
            label={t('bills.subscription')}
            required
            value={payer}
            onChange={(event) => setPayer(event.currentTarget.value)}
            error={fields.connectionNumber}
            data-autofocus
          />
        )}
        <TextInput
          label={t('bills.amount')}
          required
          inputMode="decimal"
          value={amount}
          onChange={(event) => setAmount(event.currentTarget.value.trim())}
          error={fields.amount}
          {...(partyNumber === null ? {} : { 'data-autofocus': true })}
        />
        <NativeSelect
          label={t('payments.method')}
          value={method}
          onChange={(event) =>
            setMethod(methods.find((one) => one === event.currentTarget.value) ?? 'Cash')
          }
          data={methods.map((value) => ({ value, label: t(`method.${value}`) }))}
          error={fields.paymentMethod}
        />
        <TextInput
          label={t('payments.reference')}
          description={t('payments.referenceHint')}
          value={reference}
          onChange={(event) => setReference(event.currentTarget.value)}
          error={fields.reference}
        />
        <TextInput
          label={t('payments.remark')}
          value={remark}
          onChange={(event) => setRemark(event.currentTarget.value)}
          error={fields.remark}
        />
        {taking.isError && <Refusal error={taking.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={taking.isPending}>
            {t('payments.take')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
