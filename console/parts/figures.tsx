// Some figures side by side, each under its name.
import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { inOrder } from '../language/isolated.ts';

export function Figures({ items }: { items: readonly { label: string; value: ReactNode }[] }) {
  return (
    <SimpleGrid
      type="container"
      cols={{ base: 1, '260px': 2, '600px': 3, '860px': 4, '1240px': 6 }}
      component="dl"
      m={0}
      className="figures"
    >
      {items.map(({ label, value }) => (
        <Card key={label} withBorder padding="sm">
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
