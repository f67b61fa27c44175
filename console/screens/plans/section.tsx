// What the parts of the editor share.
import { Button, Card, Group, Text, Title } from '@mantine/core';
import type { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Service } from '../../api/queries/plans.ts';
import type { FormulaName } from '../../parts/formula-language.ts';
import type { PlanDraft } from './plan-draft.ts';
import type { Problems } from './problems.ts';

export type SectionProps = {
  form: ReturnType<typeof useForm<PlanDraft>>;
  service: Service;
  names: readonly FormulaName[];
  problems: Problems;
  isReadOnly: boolean;
};

export function Section({
  title,
  hint,
  add,
  children,
}: {
  title: string;
  hint: string;
  add?: { label: string; onAdd: () => void } | undefined;
  children: ReactNode;
}) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="xs">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        </div>
        {add && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={add.onAdd}
          >
            {add.label}
          </Button>
        )}
      </Group>
      {children}
    </Card>
  );
}
