// Some figures side by side, each under its name.
import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { inOrder } from '../language/isolated.ts';

export function Figures({ items }: { items: readonly { label: string; value: ReactNode }[] }) {
  // Five or six are one row, or two that are filled; more are two rows.
  const count = items.length;
  const whole = count <= 6 ? Math.max(count, 4) : Math.min(Math.ceil(count / 2), 6);
  const half = count === 5 || count === 6 ? 3 : 4;
  return (
    <SimpleGrid
      type="container"
      spacing="xs"
      cols={{ base: 1, '260px': 2, '600px': 3, '860px': half, '1100px': whole }}
      component="dl"
      m={0}
      className="figures"
    >
      {items.map(({ label, value }) => (
        <Card key={label} withBorder padding="xs">
          <Text component="dt" size="sm" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} size="md" fw={600} className="breaks">
            {typeof value === 'string' ? inOrder(value) : value}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}
