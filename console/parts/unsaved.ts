// Whether a form holds what was typed and not yet sent.
import { useBlocker } from '@tanstack/react-router';
import { createContext, type RefObject, useContext, useEffect } from 'react';
import { useTranslation } from 'react-i18next';

/** The dialog around a form asks this before it closes. */
export const Unsaved = createContext<RefObject<boolean> | null>(null);

/** Before the page is left, or its dialog closed, the person is asked. */
export function useUnsaved(isUnsaved: boolean): void {
  const { t } = useTranslation();
  const dialog = useContext(Unsaved);
  useEffect(() => {
    if (!dialog) return;
    dialog.current = isUnsaved;
    return () => {
      dialog.current = false;
    };
  }, [dialog, isUnsaved]);
  useBlocker({
    shouldBlockFn: () => isUnsaved && !window.confirm(t('leaveForm')),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  });
}
