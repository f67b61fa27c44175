// Finds the customer at the counter.
import { Button, Group, NavLink, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
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

async function find(text: string): Promise<Found[]> {
  const { users } = (await api.listUsers({ name: text, page: { pageNumber: 0, size: 10 } })).data;
  return users.map(({ partyNumber = 0, name = '', email }) => ({
    partyNumber,
    title: name,
    detail: [partyNumber, email].filter(Boolean).join(' · '),
  }));
}

async function payerOf(partyNumber: number): Promise<Payer> {
  const { user } = (await api.getUsers({ partyNumber })).data;
  return { partyNumber, name: user.name, owed: user.outstandingAccount.balance };
}
