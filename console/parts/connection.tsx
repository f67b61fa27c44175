// While the server does not answer, what a page has read stays, and is read again when it is back.
import { Alert, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { queries } from '../api/queries/base.ts';

export function Connection() {
  const { t } = useTranslation();
  const isLost = useSyncExternalStore((heard) => queries.getQueryCache().subscribe(heard), tries);
  if (!isLost) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconPlugConnectedX />}
      role="status"
      mb="sm"
      className="no-print"
    >
      <Text size="sm">{t('noConnection')}</Text>
    </Alert>
  );
}

/** Whether something is asked for again that brought no answer. */
function tries(): boolean {
  const all = queries.getQueryCache().getAll();
  return all.some(
    ({ state }) =>
      state.fetchStatus === 'paused' ||
      (state.fetchStatus === 'fetching' && state.fetchFailureCount > 0),
  );
}
