// A form on something that others may change too. What they saved is shown beside what was typed, and
// the person chooses what stays; nothing that was typed is lost, and nothing of theirs overwritten.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingError } from '../../sdk/client.ts';
import { MergeChoice, type Side } from './merge-choice.tsx';

type Versioned = { ts?: unknown; modifiedBy?: string | null };

type Edit<Seen, Values> = {
  form: UseFormReturnType<Values>;
  /** As the server has it now. */
  object: Seen;
  valuesOf: (object: Seen) => Values;
  load: () => Promise<Seen>;
  labelOf: (name: keyof Values & string) => string;
};

export function useEdited<Seen extends Versioned, Values extends Record<string, unknown>>({
  form,
  object,
  valuesOf,
  load,
  labelOf,
}: Edit<Seen, Values>) {
  const [seen, setSeen] = useState(object);
  const [theirs, setTheirs] = useState<Seen | null>(null);
  const begin = (from: Seen, values: Values) => {
    setSeen(from);
    form.setInitialValues(valuesOf(from));
    form.setValues(values);
    setTheirs(null);
  };
  // While nothing was typed, the form shows what others save.
  useEffect(() => {
    if (object.ts !== seen.ts && !form.isDirty()) begin(object, valuesOf(object));
  });
  const send =
    <Reply,>(sending: (values: Values, seen: Seen) => Promise<Reply>) =>
    async (values: Values) => {
      try {
        return await sending(values, seen);
      } catch (error) {
        const isStale = error instanceof BillingError && error.code === 'STALE_OBJECT';
        if (isStale) setTheirs(await load());
        throw error;
      }
    };
  const merge: ReactNode = theirs && (
    <MergeValues
      key={String(theirs.ts)}
      base={valuesOf(seen)}
      mine={form.values}
      theirs={valuesOf(theirs)}
      name={theirs.modifiedBy ?? ''}
      labelOf={labelOf}
      onMerged={(values) => begin(theirs, values)}
    />
  );
  return { send, merge };
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function MergeValues<Values extends Record<string, unknown>>({
  base,
  mine,
  theirs,
  name,
  labelOf,
  onMerged,
}: {
  base: Values;
  mine: Values;
  theirs: Values;
  name: string;
  labelOf: (name: keyof Values & string) => string;
  onMerged: (values: Values) => void;
}) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map());
  const changed = Object.keys(theirs).filter(
    (key) => !isSame(base[key], mine[key]) || !isSame(base[key], theirs[key]),
  );
  // Where only one of them changed something, that change; what I typed, where both did.
  const sideOf = (key: string): Side =>
    chosen.get(key) ?? (isSame(base[key], mine[key]) ? 'theirs' : 'mine');
  const take = () => {
    const own = changed.filter((key) => sideOf(key) === 'mine').map((key) => [key, mine[key]]);
    onMerged({ ...theirs, ...Object.fromEntries(own) });
  };
  return (
    <Alert color="orange" role="group" title={t('edited.title')}>
      <Stack gap="sm">
        <Text size="sm">{t('edited.hint')}</Text>
        {changed.map((key) => (
          <MergeChoice
            key={key}
            title={labelOf(key)}
            name={name || t('edited.other')}
            part={{
              base: base[key],
              mine: mine[key],
              theirs: theirs[key],
              isConflict:
                !isSame(base[key], mine[key]) &&
                !isSame(base[key], theirs[key]) &&
                !isSame(mine[key], theirs[key]),
            }}
            side={sideOf(key)}
            onChoose={(side) => setChosen(new Map(chosen).set(key, side))}
          />
        ))}
        <Group justify="flex-end">
          <Button onClick={take}>{t('merge.take')}</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
