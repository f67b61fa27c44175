// Search over all kinds of records, opened by Ctrl+K or `/`.
import '@mantine/spotlight/styles.css';
import { ActionIcon } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf } from '../api/problem.ts';
import { type Found, searchQuery } from '../api/queries/search.ts';
import { useSingleKeys } from './keys.tsx';

export function Search() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [isOn] = useSingleKeys();
  const [text] = useDebouncedValue(typed.trim(), 150);
  const query = useQuery(searchQuery(text));
  const { data: found = [] } = query;
  const groups = Map.groupBy(found, ({ kind }) => kind);
  const none = query.isError ? problemOf(query.error).message : t('search.none');
  const words = text === '' ? t('search.hint') : query.isFetching ? t('loading') : none;
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('search.title')}
        onClick={spotlight.open}
      >
        <IconSearch size={18} />
      </ActionIcon>
      <Spotlight.Root
        query={typed}
        onQueryChange={setTyped}
        shortcut={isOn ? ['mod + K', '/'] : 'mod + K'}
        clearQueryOnClose
        scrollable
        maxHeight="70vh"
      >
        <Spotlight.Search
          placeholder={t('search.placeholder')}
          aria-label={t('search.title')}
          leftSection={<IconSearch size={18} aria-hidden />}
        />
        <Spotlight.ActionsList>
          {found.length === 0 && <Spotlight.Empty>{words}</Spotlight.Empty>}
          {[...groups].map(([kind, results]) => (
            <Spotlight.ActionsGroup key={kind} label={t(`search.${kind}`)}>
              {results.map((one) => (
                <Spotlight.Action
                  key={`${one.kind} ${one.id}`}
                  label={`${one.number} · ${one.title}`}
                  {...(one.detail ? { description: one.detail } : {})}
                  onClick={() => navigate({ to: pathOf(one) })}
                />
              ))}
            </Spotlight.ActionsGroup>
          ))}
        </Spotlight.ActionsList>
      </Spotlight.Root>
    </>
  );
}

function pathOf({ kind, id, number, detail }: Found): string {
  const paths: Record<string, string> = {
    party: `/customers/${number}`,
    connection: `/subscriptions/${encodeURIComponent(number)}`,
    // An installed meter is shown with the subscription that it measures.
    meter:
      detail === 'InActive'
        ? `/meters/${number}`
        : `/subscriptions/${encodeURIComponent(detail ?? '')}`,
    bill: `/bills/${id}`,
    payment: `/payments/${id}`,
    plan: `/plans/${id}`,
  };
  return paths[kind] ?? '/';
}
