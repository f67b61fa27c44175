// What documents other than bills are made with: the workspace's letterhead and language.
import type { PaperSetting } from '../documents/paper.ts';
import type { SettingsRow } from '../tenants/store.ts';

export function paperSetting(settings: SettingsRow): PaperSetting {
  const { name, country, letterhead, locale, currency, currency_decimals: decimals } = settings;
  return {
    organisation: { name, country, letterhead },
    locale,
    currency,
    currencyDecimals: decimals,
  };
}
