// The words printed on documents, by language. A locale takes those of its language, otherwise
// English.
import { arabicLabels } from './labels-ar.ts';
import { englishLabels } from './labels-en.ts';
import { hindiLabels } from './labels-hi.ts';
import { urduLabels } from './labels-ur.ts';
import { isolated } from './plain-text.ts';

export type Labels = Readonly<Record<keyof typeof englishLabels, string>>;

const byLanguage = new Map<string, Labels>([
  ['ar', arabicLabels],
  ['en', englishLabels],
  ['hi', hindiLabels],
  ['ur', urduLabels],
]);

/** Languages written from right to left; of others without words of their own, too. */
const rightToLeft = new Set(['ar', 'ur', 'fa', 'ps', 'sd', 'ug', 'ckb', 'he', 'yi', 'dv']);

export function labelsOf(locale: string): { labels: Labels; direction: 'ltr' | 'rtl' } {
  const language = locale.split('-')[0]?.toLowerCase() ?? 'en';
  const labels = byLanguage.get(language) ?? englishLabels;
  // English words run from left to right, whatever the locale.
  const isReversed = rightToLeft.has(language) && labels !== englishLabels;
  return { labels, direction: isReversed ? 'rtl' : 'ltr' };
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
