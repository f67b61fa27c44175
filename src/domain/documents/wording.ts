// In which words, numbers and direction a document is written.
import type { Formats } from './formats.ts';
import { filled, type Labels } from './labels.ts';
import { hasRightToLeft, isolated } from './plain-text.ts';

export type Wording = {
  readonly locale: string;
  /** Of the currency. */
  readonly decimals: number;
  readonly direction: 'ltr' | 'rtl';
  readonly labels: Labels;
  readonly formats: Formats;
};

/** A label with its values. */
export function worded(
  { labels, direction }: Wording,
  label: keyof Labels,
  values: Readonly<Record<string, string>>,
): string {
  return filled(labels[label], values, direction);
}

/** Those that are there, on one line. */
export function joined(
  { direction }: Wording,
  sign: string,
  parts: readonly (string | null | undefined)[],
): string {
  const there = parts.filter((part) => part);
  if (there.length === 1) return there[0] as string;
  // Urdu and Arabic have a comma of their own, which is not put between Latin words.
  const isRightToLeft = direction === 'rtl' && there.some((part) => hasRightToLeft(part ?? ''));
  const separator = isRightToLeft && sign === ', ' ? '، ' : sign;
  return there.map((part) => isolated(part as string, direction)).join(separator);
}
