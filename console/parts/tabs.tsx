// Tabs of a screen. The open one is in the address, so that a link or the back button finds it again.
import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function AddressTabs({ usual, children }: { usual: string; children: ReactNode }) {
  const { tab = usual } = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const choose = (next: string | null) =>
    navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({
        ...before,
        tab: next === usual || next === null ? undefined : next,
      }),
    } as never);
  return (
    <Tabs value={tab} onChange={choose} keepMounted={false}>
      {children}
    </Tabs>
  );
}
