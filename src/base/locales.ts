// Language tags, as the platform understands them.

const lengthMax = 35;

/** Whether numbers and dates can be written in the forms of this locale: BCP 47, such as en-PK. */
export function isLocale(text: string): boolean {
  try {
    return text.length <= lengthMax && Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
