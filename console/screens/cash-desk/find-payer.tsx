// Finds the customer at the counter.
import { Button, Group, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { Empty, Refusal } from '../../parts/notes.tsx';

type Payer = { partyNumber: number; name: string };
type Found = Payer & { detail: string };
type Answer = { found: Found[]; isCut: boolean };

/** A search closes the customer before: money is never taken of one who was there earlier. */
export function FindPayer({ onChoose }: { onChoose: (partyNumber: number | null) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const finding = useMutation({
    mutationFn: () => find(text.trim()),
    onSuccess: ({ found: [only, second] }) => onChoose(only && !second ? only.partyNumber : null),
  });
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
        {finding.data && <Customers {...finding.data} onChoose={onChoose} />}
      </Stack>
    </form>
  );
}

function Customers({
  found,
  isCut,
  onChoose,
}: Answer & { onChoose: (partyNumber: number) => void }) {
  const { t } = useTranslation();
  if (found.length === 0) {
    return <Empty title={t('cashDesk.noneFound')}>{t('cashDesk.noneFoundHint')}</Empty>;
  }
  return (
    <>
      <Stack gap={0} role="group" aria-label={t('cashDesk.found')}>
        {found.map(({ partyNumber, name, detail }) => (
          <NavLink
            key={partyNumber}
            component="button"
            type="button"
            label={name}
            description={detail}
            onClick={() => onChoose(partyNumber)}
          />
        ))}
      </Stack>
      {isCut && <Text size="sm">{t('cashDesk.more')}</Text>}
    </>
  );
}

const kinds = ['party', 'connection', 'meter', 'bill', 'payment'] as const;

/** As many results of a kind as the search returns at most. */
const foundMax = 10;

/** By anything that the search knows; each customer once. */
async function find(text: string): Promise<Answer> {
  const { results } = (await api.search({ text, kinds: [...kinds], payers: true })).data;
  const found = new Map<number, Found>();
  for (const { payer, number, detail } of results) {
    if (!payer || found.has(payer.partyNumber)) continue;
    found.set(payer.partyNumber, {
      ...payer,
      detail: [number, detail].filter(Boolean).join(' · '),
    });
  }
  const ofKinds = Map.groupBy(results, ({ kind }) => kind).values();
  const isCut = [...ofKinds].some(({ length }) => length >= foundMax);
  return { found: [...found.values()], isCut };
}
