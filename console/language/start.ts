// Every visible text, by language: one file per area of screens. The page's direction follows the
// language.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { isolated } from './isolated.ts';

export const languages = { en: 'English', ur: 'اردو' } as const;
export type Language = keyof typeof languages;
type Texts = Record<string, unknown>;

const chosenKey = 'billwright-language';
const english = import.meta.glob<Texts>('./en/*.json', { eager: true, import: 'default' });

function together(files: Record<string, Texts>): Texts {
  return Object.assign({}, ...Object.values(files));
}

export async function startLanguage(): Promise<void> {
  const chosen = window.localStorage.getItem(chosenKey) === 'ur' ? 'ur' : 'en';
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: together(english) } },
    // React escapes what it shows; here a value only gets a place of its own in the line.
    interpolation: { escapeValue: true, escape: isolated },
  });
  if (chosen === 'ur') await chooseLanguage('ur');
}

export async function chooseLanguage(language: Language): Promise<void> {
  if (language === 'ur' && !i18next.hasResourceBundle('ur', 'translation')) {
    const { urdu } = await import('./urdu.ts');
    i18next.addResourceBundle('ur', 'translation', together(urdu));
  }
  await i18next.changeLanguage(language);
  window.localStorage.setItem(chosenKey, language);
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ur' ? 'rtl' : 'ltr';
}
