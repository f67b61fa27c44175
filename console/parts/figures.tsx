// Some figures side by side, each under its name.
import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Figures({ items }: { items: readonly { label: string; value: ReactNode }[] }) {
  return (
    <SimpleGrid
      cols={{ base: 1, xs: 2, sm: 3, lg: Math.min(items.length, 4), xl: Math.min(items.length, 6) }}
      component="dl"
      m={0}
    >
      {items.map(({ label, value }) => (
        <Card key={label} withBorder padding="sm">
          <Text component="dt" size="sm" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} size="md" fw={600}>
            {value}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}
