// Keys of the console, listed by `?`. Single letters and signs can be switched off, because speech
// software may press them by accident.
import { ActionIcon, Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { useHotkeys, useLocalStorage } from '@mantine/hooks';
import { IconKeyboard } from '@tabler/icons-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';

export type KeyAction = { key: string; label: string; run: () => void };
type Shown = { actions: readonly KeyAction[]; isOpen: boolean };

/** The keys of the screen in view, and whether the list of keys is open. */
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

/** Whether single letters and signs are keys on this machine. */
export function useSingleKeys() {
  return useLocalStorage({ key: 'billwright-keys', defaultValue: true });
}

/** The keys of a work list. */
export function Keys({ actions }: { actions: readonly KeyAction[] }) {
  useEffect(() => {
    show({ actions });
    return () => show({ actions: [] });
  }, [actions]);
  return null;
}

/** Opens the list of keys by mouse too, because `?` may be switched off. */
export function ShowKeys() {
  const { t } = useTranslation();
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      visibleFrom="sm"
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
  const [isOn, setOn] = useSingleKeys();
  const lines = [
    { key: 'j', label: t('keys.next'), run: () => moveInList(1) },
    { key: 'k', label: t('keys.before'), run: () => moveInList(-1) },
  ];
  const ofScreen = [...lines.filter(({ key }) => !has(actions, key)), ...actions];
  const listed = { key: '?', label: t('keys.list'), run: () => show({ isOpen: true }) };
  const bound = isOn ? [...ofScreen, listed, { ...listed, key: 'shift+?' }] : [];
  useHotkeys(
    bound.map(({ key, run }) => [key, unlessTyping(run), { preventDefault: false }]),
    [],
  );
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
            {[...ofScreen, ...everywhere].map(({ key, label }) => (
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

function has(actions: readonly KeyAction[], key: string): boolean {
  return actions.some((action) => action.key === key);
}

const typed = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]';

/** Ignores the key in a field that takes text, and behind a dialog. */
function unlessTyping(run: () => void) {
  return (event: KeyboardEvent) => {
    const isTyping = event.target instanceof Element && event.target.matches(typed);
    if (isTyping || document.querySelector('[aria-modal=true]') !== null) return;
    event.preventDefault();
    run();
  };
}

const controls = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled)';

/** Moves the focus to the first link, button or field of the next or previous line of a list. */
function moveInList(by: 1 | -1): void {
  const rows = [...document.querySelectorAll('main tbody tr')].filter(
    (row) => row.checkVisibility() && row.querySelector(controls) !== null,
  );
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
  row?.querySelector<HTMLElement>(controls)?.focus();
}
