// The head of a screen: where the reader is, and what can be done.
import { Anchor, Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { PaperHead } from './paper.tsx';

/** The title of the browser's tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Billwright`;
  }, [title]);
}

export type Crumb = { label: string; to: string; search?: Record<string, string> };

export function Page({
  title,
  hint,
  crumbs = [],
  actions,
  children,
}: {
  title: string;
  hint?: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  children: ReactNode;
}) {
  usePageTitle(title);
  return (
    <Stack gap="md">
      <PaperHead />
      {crumbs.length > 0 && (
        <Breadcrumbs className="no-print">
          {crumbs.map(({ label, to, search = {} }) => (
            <Anchor key={to} component={Link} to={to} search={search as never} size="sm">
              {label}
            </Anchor>
          ))}
        </Breadcrumbs>
      )}
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} miw={0} maw="100%">
          <Title order={1} size="h2" className="breaks">
            {title}
          </Title>
          {hint !== undefined && (
            <Text c="dimmed" size="sm" component="div">
              {hint}
            </Text>
          )}
        </Stack>
        <Group gap="xs" className="no-print">
          {actions}
        </Group>
      </Group>
      {children}
    </Stack>
  );
}
