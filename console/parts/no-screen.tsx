// Where an address has no screen, or the login may not open it.
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Empty, Refusal } from './notes.tsx';

/** The login's roles do not open this screen. */
export class NotAllowed extends Error {}

export function NotFound({ error }: { error?: unknown }) {
  const { t } = useTranslation();
  if (error !== undefined && !(error instanceof NotAllowed)) return <Refusal error={error} />;
  const key = error === undefined ? 'notFound' : 'notAllowed';
  return (
    <Empty title={t(`${key}.title`)}>
      {t(`${key}.hint`)}{' '}
      <Anchor component={Link} to="/">
        {t('toStart')}
      </Anchor>
    </Empty>
  );
}
