// Labels in two languages: both in one text, with a sign between them that no other text has.
import type { Labels } from './labels.ts';

/** Control characters are taken out of every text that is not ours. */
const between = '\u001f';

/** Parts of sentences, and what is printed in small: in the first language only. */
const single: ReadonlySet<keyof Labels> = new Set<keyof Labels>([
  ...(['days', 'oneDay', 'partDays', 'percentOf', 'adjustment', 'usage'] as const),
  ...(['carriedOn', 'leftOver', 'carriedIn', 'leftBefore', 'continued', 'page'] as const),
  ...(['phone', 'taxNumber', 'complaints', 'officeHours', 'scan'] as const),
  ...(['accountNumber', 'collectionCode', 'branch', 'rollover'] as const),
  ...(['Actual', 'Customer', 'Estimated', 'Installation'] as const),
  ...(['Removal', 'Final', 'Check', 'Automatic'] as const),
]);

export function labelsInBoth(first: Labels, second: Labels): Labels {
  const both = Object.entries(first).map(([name, label]) => {
    const key = name as keyof Labels;
    return [name, single.has(key) ? label : inBoth(label, second[key])];
  });
  return Object.fromEntries(both) as Labels;
}

export function inBoth(first: string, second: string): string {
  return second === '' || second === first ? first : `${first}${between}${second}`;
}

/** A text in one language is the only half. */
export function halvesOf(text: string): [first: string, second?: string] {
  const at = text.indexOf(between);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** In a row, where they cannot be side by side. */
export function inOneRow(text: string): string {
  return text.replaceAll(between, ' · ');
}
