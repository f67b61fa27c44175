// The words printed on documents, by language. A locale takes those of its language, otherwise
// English.
import { arabicLabels, arabicOwed } from './labels-ar.ts';
import { englishLabels, englishOwed } from './labels-en.ts';
import { hindiLabels, hindiOwed } from './labels-hi.ts';
import { urduLabels, urduOwed } from './labels-ur.ts';
import { isolated } from './plain-text.ts';

export type Labels = Readonly<Record<keyof typeof englishLabels, string>>;

type Words = { labels: Labels; owed: Labels };

/** The words, and those that are others where the workspace pays. */
const wordsOf = (labels: Labels, owed: typeof englishOwed): Words => ({
  labels,
  owed: { ...labels, ...owed },
});

const english = wordsOf(englishLabels, englishOwed);
const byLanguage = new Map<string, Words>([
  ['ar', wordsOf(arabicLabels, arabicOwed)],
  ['en', english],
  ['hi', wordsOf(hindiLabels, hindiOwed)],
  ['ur', wordsOf(urduLabels, urduOwed)],
]);

/** Languages written from right to left; of others without words of their own, too. */
const rightToLeft = new Set(['ar', 'ur', 'fa', 'ps', 'sd', 'ug', 'ckb', 'he', 'yi', 'dv']);

export function labelsOf(
  locale: string,
  isOwedByWorkspace: boolean,
): { labels: Labels; direction: 'ltr' | 'rtl' } {
  const language = locale.split('-')[0]?.toLowerCase() ?? 'en';
  const words = byLanguage.get(language) ?? english;
  // English words run from left to right, whatever the locale.
  const isReversed = rightToLeft.has(language) && words !== english;
  return {
    labels: isOwedByWorkspace ? words.owed : words.labels,
    direction: isReversed ? 'rtl' : 'ltr',
  };
}

/** `Page {page} of {pages}` with its figures. */
export function filled(
  label: string,
  values: Readonly<Record<string, string>>,
  direction: 'ltr' | 'rtl',
): string {
  return label.replace(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] === undefined ? whole : isolated(values[name], direction),
  );
}
