// The person's own password.
import { Modal, PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { SendForm } from './send-form.tsx';

export default function OwnPassword({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { currentPassword: '', newPassword: '' } });
  const shared = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('ownPassword.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <SendForm
        form={form}
        send={(data) => api.changePassword({ data })}
        action={t('ownPassword.save')}
        done={t('ownPassword.saved')}
        onDone={onClose}
      >
        <PasswordInput
          label={t('ownPassword.current')}
          autoComplete="current-password"
          data-autofocus
          {...shared}
          {...form.getInputProps('currentPassword')}
        />
        <PasswordInput
          label={t('ownPassword.new')}
          description={t('ownPassword.hint')}
          autoComplete="new-password"
          {...shared}
          {...form.getInputProps('newPassword')}
        />
      </SendForm>
    </Modal>
  );
}
