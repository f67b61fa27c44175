// Whether a form holds what was typed and not yet sent.
import { useBlocker } from '@tanstack/react-router';
import { createContext, type RefObject, useContext, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';

/** The dialog around a form asks this before it closes. */
export const Unsaved = createContext<RefObject<boolean> | null>(null);

/** Of every form in view. */
const inView = new Set<RefObject<boolean>>();

export function hasUnsaved(): boolean {
  return [...inView].some(({ current }) => current);
}

/**
 * Before the page is left, or its dialog closed, the person is asked. The returned function says
 * that the form was sent: what comes next asks no more, unless `values` change after that.
 */
export function useUnsaved(isUnsaved: boolean, values?: unknown): () => void {
  const { t } = useTranslation();
  const own = useRef(false);
  const unsaved = useContext(Unsaved) ?? own;
  // biome-ignore lint/correctness/useExhaustiveDependencies: typing after it was sent counts again.
  useEffect(() => {
    unsaved.current = isUnsaved;
    inView.add(unsaved);
    return () => {
      unsaved.current = false;
      inView.delete(unsaved);
    };
  }, [unsaved, isUnsaved, values]);
  useBlocker({
    shouldBlockFn: () => unsaved.current && !window.confirm(t('leaveForm')),
    enableBeforeUnload: () => unsaved.current,
  });
  return () => {
    unsaved.current = false;
  };
}
