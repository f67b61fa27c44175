// What a page has read stays while it cannot be read again: the server does not answer, or it refuses.
// A note above the page says which.
import { Alert, Box, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { Query } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { hasEnded } from '../api/problem.ts';
import { queries } from '../api/queries/base.ts';
import { Refusal } from './notes.tsx';

export function Connection() {
  const { t } = useTranslation();
  const isLost = useCache(tries);
  const refused = useCache(refusal);
  if (isLost) {
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
  if (refused === null) return null;
  return (
    <Box mb="sm" className="no-print">
      <Refusal
        error={refused}
        onRetry={() => queries.refetchQueries({ type: 'active', predicate: isRefused })}
      />
    </Box>
  );
}

/** Something about all that is in the memory of the page, kept up to date. */
function useCache<Seen>(see: () => Seen): Seen {
  return useSyncExternalStore((heard) => queries.getQueryCache().subscribe(heard), see);
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

/** Why something that is in view could not be read again. */
function refusal(): unknown {
  const all = queries.getQueryCache().getAll();
  return all.find((query) => query.isActive() && isRefused(query))?.state.error ?? null;
}

/** For an ended session the person is asked to log in again. */
function isRefused({ state }: Query): boolean {
  return state.status === 'error' && state.data !== undefined && !hasEnded(state.error);
}
