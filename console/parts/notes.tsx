// What a screen shows while it loads, when it has nothing, and when a call was refused.
import { Alert, Button, Center, Code, Loader, Stack, Text, Title } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isMissing, Missing, problemOf } from '../api/problem.ts';
import { NoAnswer } from '../api/reach.ts';
import { inOrder } from '../language/isolated.ts';

export function Loading() {
  const { t } = useTranslation();
  return (
    <Center p="xl">
      <Loader role="progressbar" aria-label={t('loading')} />
    </Center>
  );
}

/** Says what to do first. */
export function Empty({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Stack align="center" gap="xs" p="xl">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" ta="center">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** A link to something that was deleted, or that was mistyped. */
function NothingHere() {
  const { t } = useTranslation();
  return (
    <Alert color="gray" variant="light" icon={<IconAlertCircle />} role="alert">
      <Text fw={600}>{t('missing.title')}</Text>
      <Text size="sm">{t('missing.hint')}</Text>
    </Alert>
  );
}

export function Refusal({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTranslation();
  if (error instanceof Missing || (onRetry && isMissing(error))) return <NothingHere />;
  const { message, requestID } = problemOf(error);
  return (
    <Alert color="red" variant="light" icon={<IconAlertCircle />} role="alert" title={t('refused')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error instanceof NoAnswer ? t('noAnswer') : inOrder(message)}</Text>
        {requestID !== null && (
          <Text size="sm">
            {t('requestID')} <Code>{requestID}</Code>
          </Text>
        )}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t('tryAgain')}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
