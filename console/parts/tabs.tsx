// Tabs of a screen. The open one is in the address, so that a link or the back button finds it again.
import { ScrollArea, Tabs } from '@mantine/core';
import { useViewportSize } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

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

/** One line of tabs. Where they are wider than the screen they scroll, and the open one is in view. */
export function TabLine({
  open,
  label,
  children,
}: {
  open: string | undefined;
  label?: string;
  children: ReactNode;
}) {
  const line = useRef<HTMLDivElement>(null);
  const { width } = useViewportSize();
  useEffect(() => {
    const isDrawn = open !== undefined && width > 0;
    const tab = isDrawn && line.current?.querySelector('[aria-selected=true]');
    if (tab) tab.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [open, width]);
  return (
    <ScrollArea type="auto" scrollbarSize={6} offsetScrollbars="x" className="no-print">
      <Tabs.List ref={line} style={{ flexWrap: 'nowrap' }} aria-label={label}>
        {children}
      </Tabs.List>
    </ScrollArea>
  );
}
