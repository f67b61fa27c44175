// The text of a template in the language of a document.
import type { Translation } from '../tenants/templates-store.ts';
import type { RenderSetting } from './document-setting.ts';
import type { InvoiceText } from './settings-store.ts';

type Translated = Omit<Translation, 'subject'> & {
  readonly subject?: string | null;
  readonly translations: readonly Translation[];
};

/** In the language of the locale, if the template has it; otherwise as it was written. */
export function inLanguage<Text extends Translated>(
  text: Text,
  locale: string,
): Pick<Text, 'body'> & { subject: string | null } {
  const wanted = languageOf(locale);
  const found = text.translations.find((one) => languageOf(one.language) === wanted);
  const isWritten = languageOf(text.language) === wanted || found === undefined;
  return isWritten
    ? { subject: text.subject ?? null, body: text.body }
    : { subject: found.subject ?? text.subject ?? null, body: found.body };
}

/** How a bill's template is printed. A second language that is the first one adds nothing. */
export function printedText(
  text: InvoiceText,
  locale: string,
): Pick<RenderSetting, 'body' | 'second' | 'amountInWords'> {
  const { second_language: other, amount_in_words: amountInWords } = text;
  const { body } = inLanguage(text, locale);
  if (other === null || other === languageOf(locale)) return { body, second: null, amountInWords };
  const translated = inLanguage(text, other).body;
  // Notes that have no translation are printed once.
  const second = { locale: other, body: translated === body ? '' : translated };
  return { body, second, amountInWords };
}

function languageOf(locale: string): string {
  return locale.split('-')[0]?.toLowerCase() ?? '';
}
