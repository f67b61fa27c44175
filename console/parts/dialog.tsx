// A dialog, and the button that opens it. What was typed into it is not lost without a question.
import { Button, type ButtonProps, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile, useWatched } from './steady.tsx';
import { Unsaved } from './unsaved.ts';

export function Dialog({
  title,
  isOpen,
  onClose,
  size = 'md',
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  size?: string;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const unsaved = useRef(false);
  const leave = () => {
    if (unsaved.current && !window.confirm(t('leaveForm'))) return;
    unsaved.current = false;
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={leave}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <ChangedMeanwhile />
      <Unsaved value={unsaved}>{children}</Unsaved>
    </Modal>
  );
}

/** A button that opens a dialog. `children` get the function that closes it. */
export function DialogButton({
  label,
  title = label,
  size,
  children,
  ...look
}: Omit<ButtonProps, 'children' | 'size'> & {
  label: string;
  title?: string;
  size?: string;
  children: (close: () => void) => ReactNode;
}) {
  const watched = useWatched();
  const [isOpen, { open, close }] = useDisclosure(false, {
    onOpen: () => watched?.whenOpened(),
    onClose: () => watched?.whenClosed(),
  });
  return (
    <>
      <Button {...look} onClick={open}>
        {label}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={close} {...(size ? { size } : {})}>
        {children(close)}
      </Dialog>
    </>
  );
}
