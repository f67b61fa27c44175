// Foreign text inside documents stays text: it cannot break lines, change the direction of text
// next to it, or hide.

/** Controls, line breaks of all kinds, tabs. */
const breaks = /[\p{Cc}\u2028\u2029]+/gu;
/** Overrides, embeddings and isolates of direction; what is invisible and of no use to a script. */
const hidden = new RegExp(
  `[${[
    '\u00ad\u061c\u180e\u200b\u200e\u200f',
    '\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb',
    '\u{e0000}-\u{e0fff}',
  ].join('')}]`,
  'gu',
);
const lonelySurrogate = /\p{Cs}/gu;

/** Words of printable ASCII with a space between them. */
const alreadyLine = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** One line. */
export function lineText(value: unknown): string {
  if (typeof value === 'string' && alreadyLine.test(value)) return value;
  return toText(value).replace(breaks, ' ').replace(hidden, '').replace(/ {2,}/g, ' ').trim();
}

/** Lines as they were written, without what is hidden; at most one empty line in a row. */
export function linesText(value: unknown): string {
  return toText(value)
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/[^\P{Cc}\n]/gu, '')
    .replace(hidden, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
export function hasRightToLeft(text: string): boolean {
  return rightToLeft.test(text);
}

/** Arabic letters have strong directions; these figures do not, and a unit beside them has. */
const easternFigures = /[\u0660-\u0669\u06f0-\u06f9]/;

const firstStrongIsolate = '\u2068';
const rightToLeftIsolate = '\u2067';
const endOfIsolate = '\u2069';

/**
 * A value inside a sentence, isolated so that neither changes the direction of the other: a
 * telephone number in Urdu would be read from its end, a name in Arabic would pull figures next to
 * it along. A value that consists of such values has the direction of the document.
 */
export function isolated(value: string, direction: 'ltr' | 'rtl'): string {
  if (value === '' || (direction === 'ltr' && !rightToLeft.test(value))) return value;
  const isComposed = value.includes(endOfIsolate) && rightToLeft.test(value);
  const isRightToLeft = direction === 'rtl' && (isComposed || easternFigures.test(value));
  return `${isRightToLeft ? rightToLeftIsolate : firstStrongIsolate}${value}${endOfIsolate}`;
}

/** For where such walls would be seen, as on a terminal. */
export function withoutIsolates(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, '');
}

function toText(value: unknown): string {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : '';
  return value.replace(lonelySurrogate, '\ufffd');
}
