// What only a printed report has: the workspace, the filter, the time and the user. Reports are
// always printed in the light colours.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { settingsQuery } from '../api/queries/settings.ts';
import { mayUse, now, useSession } from '../api/session.ts';
import { shownTime } from './days.ts';

/** The page's own title says these. */
const titled = ['report', 'tab'];

export function PaperHead() {
  const { t } = useTranslation();
  const session = useSession();
  const { data } = useQuery({ ...settingsQuery, enabled: mayUse('settings:read') });
  const { search } = useLocation();
  const at = usePrintedAt();
  const filter = Object.entries(search as Record<string, string>)
    .filter(([name]) => !titled.includes(name))
    .map(([name, value]) => {
      const shown = t(`status.${value}`, { defaultValue: value });
      return `${t(`filter.${name}`, { defaultValue: name })} ${shown}`;
    })
    .join(', ');
  const time = shownTime(at);
  return (
    <div className="paper-head">
      <Text fw={700}>{data?.name ?? session?.workspace}</Text>
      {filter !== '' && <Text size="xs">{t('paper.filter', { filter })}</Text>}
      <Text size="xs">{t('paper.printed', { time, name: session?.user.name ?? '' })}</Text>
    </div>
  );
}

function usePrintedAt(): string {
  const [at, setAt] = useState(now);
  useEffect(() => {
    const before = () => setAt(now());
    window.addEventListener('beforeprint', before);
    return () => window.removeEventListener('beforeprint', before);
  }, []);
  return at;
}

/** Dark colours would be pale on paper. */
export function lightOnPaper(): void {
  const { dataset } = document.documentElement;
  let shown: string | undefined;
  window.addEventListener('beforeprint', () => {
    shown = dataset.mantineColorScheme;
    dataset.mantineColorScheme = 'light';
  });
  window.addEventListener('afterprint', () => {
    if (shown !== undefined) dataset.mantineColorScheme = shown;
  });
}
