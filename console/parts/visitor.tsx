// The frame around what a visitor sees before the login.
import { Card, Center, Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { LooksChoice } from './choices.tsx';
import { usePageTitle } from './page.tsx';

export function Visitor({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title);
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder w={380} padding="lg">
        <Stack>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Title order={1} size="h3">
              {title}
            </Title>
            <Group gap={4} wrap="nowrap">
              <LooksChoice />
            </Group>
          </Group>
          {children}
        </Stack>
      </Card>
    </Center>
  );
}
