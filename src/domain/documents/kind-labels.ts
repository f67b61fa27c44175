// Words of documents other than bills, by language.
import { kindLabelsAr } from './kind-labels-ar.ts';
import { type KindLabels, kindLabelsEn } from './kind-labels-en.ts';
import { kindLabelsHi } from './kind-labels-hi.ts';
import { kindLabelsUr } from './kind-labels-ur.ts';

const byLanguage = new Map<string, KindLabels>([
  ['ar', kindLabelsAr],
  ['en', kindLabelsEn],
  ['hi', kindLabelsHi],
  ['ur', kindLabelsUr],
]);

/** English for a language without words of its own. */
export function kindLabelsOf(locale: string): KindLabels {
  const language = locale.split('-')[0]?.toLowerCase() ?? 'en';
  return byLanguage.get(language) ?? kindLabelsEn;
}
