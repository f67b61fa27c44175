import i18next from 'i18next';

/**
 * A value inside a text: between Urdu words a number, a date or a mail address keeps its place and
 * its own direction.
 */
export function isolated(value: string): string {
  return i18next.dir() === 'rtl' ? `\u2068${value}\u2069` : value;
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A text without Urdu words, such as a message of the server, keeps its order as a whole. */
export function inOrder(text: string): string {
  return rightToLeft.test(text) ? text : isolated(text);
}
