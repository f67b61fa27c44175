// The customer's usage by month against the year before.
import { Stack, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePageTitle } from '../parts/page.tsx';
import { UsageByMonth } from '../parts/usage-by-month.tsx';

export function PortalUsage() {
  const { t } = useTranslation();
  usePageTitle(t('portal.usage'));
  return (
    <Stack>
      <Title order={1} size="h3">
        {t('portal.usage')}
      </Title>
      <UsageByMonth filter={{}} />
    </Stack>
  );
}
