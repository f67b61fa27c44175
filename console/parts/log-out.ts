// The way out. What was typed is not lost without a question. If the server cannot be asked, the
// session goes on and the page says so.
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { logOut } from '../api/session.ts';
import { hasUnsaved } from './unsaved.ts';

export function useLogOut(): () => Promise<void> {
  const { t } = useTranslation();
  return async () => {
    if (hasUnsaved() && !window.confirm(t('leaveForm'))) return;
    try {
      await logOut();
    } catch {
      notifications.show({
        message: t('notLoggedOut'),
        color: 'red',
        autoClose: false,
        closeButtonProps: { 'aria-label': t('close') },
      });
    }
  };
}
