// In which words, numbers and direction a document is written.
import type { Formats } from './formats.ts';
import { filled, type Labels } from './labels.ts';
import { hasRightToLeft, isolated } from './plain-text.ts';
import { halvesOf, inBoth } from './two-languages.ts';

export type Wording = {
  readonly locale: string;
  /** Of the currency. */
  readonly decimals: number;
  readonly direction: 'ltr' | 'rtl';
  readonly labels: Labels;
  readonly formats: Formats;
  /** Where labels are in a second language too. */
  readonly second?: {
    readonly locale: string;
    readonly direction: 'ltr' | 'rtl';
    readonly formats: Formats;
  };
};

/** A label with its values. */
export function worded(
  { labels, direction, second: other }: Wording,
  label: keyof Labels,
  values: Readonly<Record<string, string>>,
): string {
  const [first, second] = halvesOf(labels[label]);
  if (second === undefined) return filled(first, values, direction);
  return inBoth(
    filled(first, values, direction),
    filled(second, values, other?.direction ?? 'ltr'),
  );
}

/** A label with its date, in each language in the form of that language. */
export function wordedDate(wording: Wording, label: keyof Labels, day: string): string {
  const { labels, formats, direction, second: other } = wording;
  const [first, second] = halvesOf(labels[label]);
  const own = filled(first, { date: formats.date(day) }, direction);
  if (second === undefined || !other) return own;
  return inBoth(own, filled(second, { date: other.formats.date(day) }, other.direction));
}

/** Those that are there, on one line. */
export function joined(
  wording: Wording,
  sign: string,
  parts: readonly (string | null | undefined)[],
): string {
  const halves = parts.map((part) => halvesOf(part ?? ''));
  const first = joinedIn(
    wording.direction,
    sign,
    halves.map(([half]) => half),
  );
  if (halves.every(([, second]) => second === undefined)) return first;
  const second = joinedIn(
    wording.second?.direction ?? wording.direction,
    sign,
    halves.map(([half, other]) => other ?? half),
  );
  return inBoth(first, second);
}

function joinedIn(direction: 'ltr' | 'rtl', sign: string, parts: readonly string[]): string {
  const there = parts.filter((part) => part !== '');
  if (there.length <= 1) return there[0] ?? '';
  // Urdu and Arabic have a comma of their own, which is not put between Latin words.
  const isRightToLeft = direction === 'rtl' && there.some(hasRightToLeft);
  const separator = isRightToLeft && sign === ', ' ? '، ' : sign;
  return there.map((part) => isolated(part, direction)).join(separator);
}
