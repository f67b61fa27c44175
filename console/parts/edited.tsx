// A form on something that others may change too. What they saved is shown beside what was typed, and
// the person chooses what stays; nothing that was typed is lost, and nothing of theirs overwritten.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingError } from '../../sdk/client.ts';
import { MergeChoice, type Side } from './merge-choice.tsx';
import { clash, rebased } from './rebased.ts';

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
  const [theirs, setTheirs] = useState<{ object: Seen; base: Values } | null>(null);
  const sent = useRef<Values | null>(null);
  /** What was saved; the version that the server made of it is not read yet. */
  const saved = useRef<Values | null>(null);
  const begin = (from: Seen, values: Values) => {
    saved.current = null;
    setSeen(from);
    form.setInitialValues(valuesOf(from));
    form.setValues(values);
    setTheirs(null);
  };
  /** The version after saving. What was typed meanwhile stays, and is a change of this version. */
  const goOn = (base: Values, now: Seen): boolean => {
    const values = rebased(base, form.getValues(), valuesOf(now));
    if (values === clash) {
      saved.current = null;
      setTheirs({ object: now, base });
    } else begin(now, values as Values);
    return values !== clash;
  };
  // While nothing was typed, the form shows what others save.
  useEffect(() => {
    if (object.ts === seen.ts) return;
    if (saved.current !== null) goOn(saved.current, object);
    else if (!form.isDirty()) begin(object, valuesOf(object));
  });
  const send =
    <Reply,>(sending: (values: Values, seen: Seen) => Promise<Reply>) =>
    async (values: Values) => {
      sent.current = values;
      try {
        return await sending(values, seen);
      } catch (error) {
        const isStale = error instanceof BillingError && error.code === 'STALE_OBJECT';
        if (!isStale) throw error;
        const base = saved.current ?? valuesOf(seen);
        const now = await load();
        // The version that this person saved before could not be read before now.
        if (saved.current !== null && goOn(base, now)) {
          sent.current = form.getValues();
          return await sending(sent.current, now);
        }
        setTheirs({ object: now, base });
        throw error;
      }
    };
  /** For a form that stays open: what was sent is saved, and what was typed since then is not. */
  const stay = () => {
    if (sent.current === null) return;
    saved.current = sent.current;
    form.resetDirty(sent.current);
  };
  const merge: ReactNode = theirs && (
    <MergeValues
      key={String(theirs.object.ts)}
      base={theirs.base}
      mine={form.values}
      theirs={valuesOf(theirs.object)}
      name={theirs.object.modifiedBy ?? ''}
      labelOf={labelOf}
      onMerged={(values) => begin(theirs.object, values)}
    />
  );
  return { send, stay, merge };
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
