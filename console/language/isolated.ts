import i18next from 'i18next';

/**
 * A value inside a text: between Urdu words a number, a date or a mail address keeps its place and
 * its own direction.
 */
export function isolated(value: string): string {
  return i18next.dir() === 'rtl' ? `\u2068${value}\u2069` : value;
}
