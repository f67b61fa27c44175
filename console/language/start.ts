// Every visible text, by language. The page's direction follows the language.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import english from './en.json' with { type: 'json' };

export const languages = { en: 'English', ur: 'اردو' } as const;
export type Language = keyof typeof languages;

const chosenKey = 'billwright-language';

export async function startLanguage(): Promise<void> {
  const chosen = window.localStorage.getItem(chosenKey) === 'ur' ? 'ur' : 'en';
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: english } },
    interpolation: { escapeValue: false },
  });
  if (chosen === 'ur') await chooseLanguage('ur');
}

export async function chooseLanguage(language: Language): Promise<void> {
  if (language === 'ur' && !i18next.hasResourceBundle('ur', 'translation')) {
    const { default: urdu } = await import('./ur.json', { with: { type: 'json' } });
    i18next.addResourceBundle('ur', 'translation', urdu);
  }
  await i18next.changeLanguage(language);
  window.localStorage.setItem(chosenKey, language);
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ur' ? 'rtl' : 'ltr';
}
