// What a dialog is about stays as it was when the dialog was opened, also where another person
// changes it meanwhile: the dialog says so and keeps what was typed, and sends nothing unseen.
import { Alert, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { useTranslation } from 'react-i18next';

type Watch = {
  whenOpened(): void;
  whenClosed(): void;
  isChanged: boolean;
  /** Fails if another person has changed it and the dialog has not said so yet. */
  check(): Promise<void>;
};

const Watched = createContext<Watch | null>(null);

/** For the buttons of dialogs, and for what dialogs send; null outside of `Steady`. */
export function useWatched(): Watch | null {
  return useContext(Watched);
}

export function Steady<Subject>({
  subject,
  versionOf,
  reload,
  children,
}: {
  subject: Subject;
  /** Another version is another text. */
  versionOf: (subject: Subject) => string;
  /** Reads it again, so that `subject` is what the server has now; else the server must check. */
  reload?: () => Promise<Subject>;
  children: (subject: Subject) => ReactNode;
}) {
  const { t } = useTranslation();
  const [kept, keep] = useState<Subject | null>(null);
  const isChanged = kept !== null && versionOf(kept) !== versionOf(subject);
  const check = async () => {
    if (kept === null || isChanged || !reload) return;
    if (versionOf(await reload()) !== versionOf(kept)) throw new Error(t('steady.notSent'));
  };
  const watch = {
    whenOpened: () => keep(subject),
    whenClosed: () => keep(null),
    isChanged,
    check,
  };
  return <Watched value={watch}>{children(kept ?? subject)}</Watched>;
}

/** At the top of each dialog. */
export function ChangedMeanwhile() {
  const { t } = useTranslation();
  if (!useWatched()?.isChanged) return null;
  return (
    <Alert color="orange" role="status" title={t('steady.changed')} mb="sm">
      <Text size="sm">{t('steady.hint')}</Text>
    </Alert>
  );
}
