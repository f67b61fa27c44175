// An amount of money in words, as on a cheque: exact, from whole minor units.
import {
  arabicCurrencies,
  englishCurrencies,
  hindiCurrencies,
  type Names,
  type PlainNames,
  urduCurrencies,
} from './currency-names.ts';
import { arabicCount, type Counted } from './numbers-ar.ts';
import { englishNumber } from './numbers-en.ts';
import { hindiNumber } from './numbers-hi.ts';
import { urduNumber } from './numbers-ur.ts';

export type MoneyInWords = {
  /** Whole minor units. */
  readonly minor: bigint;
  readonly decimals: number;
  readonly currency: string;
  readonly language: string;
};

/** Larger amounts have no names that people know: they are printed in figures only. */
const majorMax = 10n ** 13n;
/** Currencies that are counted in lakhs and crores in English too. */
const southAsian = new Set(['PKR', 'INR', 'BDT', 'NPR', 'LKR']);

type Language = {
  readonly and: string;
  readonly minus: string;
  count(value: bigint, unit: 'major' | 'minor', currency: string): string | undefined;
  whole(text: string): string;
};

const plain = (
  names: PlainNames,
  number: (value: bigint, currency: string) => string,
): Language['count'] => {
  return (value, unit, currency) => {
    const found: Names | undefined = names[currency]?.[unit];
    if (found !== undefined) return `${number(value, currency)} ${found[value === 1n ? 0 : 1]}`;
    return unit === 'major' ? `${number(value, currency)} ${currency}` : undefined;
  };
};

const languages: Readonly<Record<string, Language>> = {
  en: {
    and: ' and ',
    minus: 'minus ',
    count: plain(englishCurrencies, (value, currency) =>
      englishNumber(value, southAsian.has(currency)),
    ),
    whole: (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)} only`,
  },
  ur: {
    and: ' اور ',
    minus: 'منفی ',
    count: plain(urduCurrencies, urduNumber),
    whole: (text) => `${text} صرف`,
  },
  hi: {
    and: ' और ',
    minus: 'माइनस ',
    count: plain(hindiCurrencies, hindiNumber),
    whole: (text) => `${text} मात्र`,
  },
  ar: {
    and: ' و',
    minus: 'سالب ',
    count(value, unit, currency) {
      const code: Counted = {
        one: currency,
        two: `اثنان ${currency}`,
        few: currency,
        many: currency,
      };
      const counted = arabicCurrencies[currency]?.[unit] ?? (unit === 'major' ? code : undefined);
      return counted && arabicCount(value, counted);
    },
    whole: (text) => `فقط ${text} لا غير`,
  },
};

/** Null where the language has no such words, or the amount is too large for them. */
export function amountInWords(money: MoneyInWords): string | null {
  const { minor, decimals, currency } = money;
  const language = languages[money.language];
  const size = minor < 0n ? -minor : minor;
  const power = 10n ** BigInt(decimals);
  const major = size / power;
  const rest = size % power;
  if (language === undefined || major >= majorMax) return null;
  const parts: string[] = [];
  if (major > 0n || rest === 0n) parts.push(language.count(major, 'major', currency) ?? '');
  if (rest > 0n) {
    const named = language.count(rest, 'minor', currency);
    // A minor unit without a name is a fraction of the major one: 50/100.
    parts.push(named ?? `${rest}/${power}${major > 0n ? '' : ` ${currency}`}`);
  }
  return language.whole(`${minor < 0n ? language.minus : ''}${parts.join(language.and)}`);
}
