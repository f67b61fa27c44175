// The value that the register really showed.
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Props = {
  reading: { value?: string; number?: number };
  isOpen: boolean;
  onClose: () => void;
  send: (value: string) => Promise<unknown>;
};

export function CorrectReading({ reading, isOpen, onClose, send }: Props) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { value: reading.value ?? '' } });
  return (
    <Dialog title={t('review.correct')} isOpen={isOpen} onClose={onClose}>
      <SendForm
        form={form}
        send={({ value }) => send(value.trim())}
        action={t('review.save')}
        onDone={onClose}
      >
        <TextInput
          label={t('review.value', { number: reading.number })}
          inputMode="decimal"
          data-autofocus
          {...form.getInputProps('value')}
        />
      </SendForm>
    </Dialog>
  );
}
