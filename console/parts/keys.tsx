// Keys of a work list. They can be switched off, since a voice or a cat may press single letters.
import { ActionIcon, Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { useDisclosure, useHotkeys, useLocalStorage } from '@mantine/hooks';
import { IconKeyboard } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

export type KeyAction = { key: string; label: string; run: () => void };

/** Binds the keys and shows a button with their list, which `?` opens as well. */
export function Keys({ actions }: { actions: readonly KeyAction[] }) {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure();
  const [isOn, setOn] = useLocalStorage({ key: 'billwright-keys', defaultValue: true });
  useHotkeys([
    ...(isOn && !isOpen ? actions.map(({ key, run }): [string, () => void] => [key, run]) : []),
    ['shift+?', open],
    ['?', open],
  ]);
  return (
    <>
      <ActionIcon variant="default" size="lg" aria-label={t('keys.title')} onClick={open}>
        <IconKeyboard size={18} />
      </ActionIcon>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('keys.title')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Table aria-label={t('keys.title')}>
            <Table.Tbody>
              {[...actions, { key: '?', label: t('keys.list') }].map(({ key, label }) => (
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
    </>
  );
}
