// Puts drafts on hold or releases them, with a reason.
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { useMoney } from '../../parts/amount.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Bill = { billID: number; currentCharges: number };
type Props = { bills: readonly Bill[]; isHold: boolean; onDone: () => void };

export function HoldBills(props: Props) {
  const { t } = useTranslation();
  const { bills, isHold } = props;
  const label = t(isHold ? 'exceptions.hold' : 'exceptions.release', { count: bills.length });
  return (
    <DialogButton label={label} size="md" disabled={bills.length === 0}>
      {(close) => <Form {...props} onDone={() => [close(), props.onDone()]} />}
    </DialogButton>
  );
}

function Form({ bills, isHold, onDone }: Props) {
  const { t } = useTranslation();
  const { money, sum } = useMoney();
  const form = useForm({
    initialValues: { reason: '' },
    validate: { reason: (value) => (value.trim() === '' ? t('exceptions.needsReason') : null) },
  });
  const amount = money(sum(bills.map(({ currentCharges }) => currentCharges)));
  return (
    <SendForm
      form={form}
      send={({ reason }) =>
        api.holdBills({
          data: { billIDs: bills.map(({ billID }) => billID), hold: isHold, reason: reason.trim() },
        })
      }
      onDone={onDone}
      action={t(isHold ? 'exceptions.holdSum' : 'exceptions.releaseSum', {
        count: bills.length,
        sum: amount,
      })}
    >
      <TextInput
        label={t('exceptions.reason')}
        required
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </SendForm>
  );
}
