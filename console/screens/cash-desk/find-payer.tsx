// Finds the customer at the counter.
import { Button, Group, NavLink, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import type { Found as SearchResult } from '../../api/queries/search.ts';
import { Empty, Refusal } from '../../parts/notes.tsx';

export type Payer = { partyNumber: number; name: string; owed: number };
type Found = { partyNumber: number; title: string; detail: string };

export function FindPayer({ onChoose }: { onChoose: (payer: Payer) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const choosing = useMutation({ mutationFn: payerOf, onSuccess: onChoose });
  const finding = useMutation({
    mutationFn: () => find(text.trim()),
    onSuccess: (found) => {
      const [only, second] = found;
      if (only && !second) choosing.mutate(only.partyNumber);
    },
  });
  const { data: found } = finding;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') finding.mutate();
      }}
    >
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            label={t('cashDesk.find')}
            type="search"
            style={{ flexGrow: 1 }}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" loading={finding.isPending}>
            {t('cashDesk.search')}
          </Button>
        </Group>
        {finding.isError && <Refusal error={finding.error} />}
        {choosing.isError && <Refusal error={choosing.error} />}
        {found?.length === 0 && (
          <Empty title={t('cashDesk.noneFound')}>{t('cashDesk.noneFoundHint')}</Empty>
        )}
        <Stack gap={0} role="group" aria-label={t('cashDesk.found')}>
          {found?.map((one) => (
            <NavLink
              key={`${one.partyNumber} ${one.detail}`}
              component="button"
              type="button"
              label={one.title}
              description={one.detail}
              onClick={() => choosing.mutate(one.partyNumber)}
            />
          ))}
        </Stack>
      </Stack>
    </form>
  );
}

/** By anything that the search knows; each customer once. */
async function find(text: string): Promise<Found[]> {
  const { results } = (await api.search({ text, kinds: ['party', 'connection', 'bill'] })).data;
  const found = await Promise.all(results.slice(0, 12).map(partyOf));
  return [...new Map(found.map((one) => [one.partyNumber, one])).values()];
}

async function partyOf({ kind, id, number, title, detail }: SearchResult): Promise<Found> {
  const words = `${number} · ${detail ?? ''}`;
  if (kind === 'party') return { partyNumber: Number(number), title, detail: words };
  if (kind === 'bill') {
    const [bill] = (await api.getBills({ billID: id })).data.bills;
    return { partyNumber: bill?.partyNumber ?? 0, title, detail: words };
  }
  const [one] = (await api.getConnections({ connectionNumber: number })).data.connections;
  return { partyNumber: one?.partyNumber ?? 0, title, detail: words };
}

async function payerOf(partyNumber: number): Promise<Payer> {
  const { user } = (await api.getUsers({ partyNumber })).data;
  return { partyNumber, name: user.name, owed: user.outstandingAccount.balance };
}
