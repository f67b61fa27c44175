// Keys of the console, listed by `?`. Those of a screen can be switched off, since a voice or a cat
// may press single letters.
import { ActionIcon, Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { useHotkeys, useLocalStorage } from '@mantine/hooks';
import { IconKeyboard } from '@tabler/icons-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';

export type KeyAction = { key: string; label: string; run: () => void };
type Shown = { actions: readonly KeyAction[]; isOpen: boolean };

/** What the screen in view has, and whether the list is open. */
let shown: Shown = { actions: [], isOpen: false };
const listeners = new Set<() => void>();

function show(part: Partial<Shown>): void {
  shown = { ...shown, ...part };
  for (const listener of listeners) listener();
}

function useShown(): Shown {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** The keys of a work list, with a button that shows them. */
export function Keys({ actions }: { actions: readonly KeyAction[] }) {
  const { t } = useTranslation();
  useEffect(() => {
    show({ actions });
    return () => show({ actions: [] });
  }, [actions]);
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={t('keys.title')}
      onClick={() => show({ isOpen: true })}
    >
      <IconKeyboard size={18} />
    </ActionIcon>
  );
}

/** Part of the frame: binds the keys of the screen in view, and lists all of them. */
export function KeyList() {
  const { t } = useTranslation();
  const { actions, isOpen } = useShown();
  const [isOn, setOn] = useLocalStorage({ key: 'billwright-keys', defaultValue: true });
  const open = () => show({ isOpen: true });
  useHotkeys([
    ...(isOn && !isOpen ? actions.map(({ key, run }): [string, () => void] => [key, run]) : []),
    ['shift+?', open],
    ['?', open],
  ]);
  const everywhere = [
    { key: 'Ctrl + K', label: t('search.title') },
    { key: '/', label: t('search.title') },
    { key: '?', label: t('keys.list') },
  ];
  return (
    <Modal
      opened={isOpen}
      onClose={() => show({ isOpen: false })}
      title={t('keys.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack>
        <Table aria-label={t('keys.title')}>
          <Table.Tbody>
            {[...actions, ...everywhere].map(({ key, label }) => (
              <Table.Tr key={key}>
                <Table.Td>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{label}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          checked={isOn}
          onChange={(event) => setOn(event.currentTarget.checked)}
          label={t('keys.on')}
        />
      </Stack>
    </Modal>
  );
}
