// A part of the form of a service: items of one kind, and the button that adds one.
import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import type { ServiceDraft } from './service-draft.ts';

export type DraftForm = ReturnType<typeof useForm<ServiceDraft>>;

export function Items({
  title,
  hint,
  add,
  onAdd,
  children,
}: {
  title: string;
  hint?: string;
  add: string;
  onAdd: () => void;
  children: ReactNode;
}) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Button size="xs" variant="default" onClick={onAdd}>
          {add}
        </Button>
      </Group>
      {hint !== undefined && (
        <Text size="sm" c="dimmed" mb="xs">
          {hint}
        </Text>
      )}
      <Stack gap="sm">{children}</Stack>
    </Card>
  );
}
