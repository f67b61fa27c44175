// What currencies and their minor units are called where amounts are written in words.
import type { Counted } from './numbers-ar.ts';

/** Of one, and of any other number. */
export type Names = readonly [one: string, other: string];
type Pair<Name> = { readonly major: Name; readonly minor: Name };
export type PlainNames = Readonly<Record<string, Pair<Names>>>;

const same = (name: string): Names => [name, name];

const enRupee = { major: ['rupee', 'rupees'], minor: ['paisa', 'paisas'] } as const;
const cents = ['cent', 'cents'] as const;
const fils = same('fils');

export const englishCurrencies: PlainNames = {
  PKR: enRupee,
  INR: { major: enRupee.major, minor: ['paisa', 'paise'] },
  USD: { major: ['dollar', 'dollars'], minor: cents },
  EUR: { major: ['euro', 'euros'], minor: cents },
  GBP: { major: ['pound', 'pounds'], minor: ['penny', 'pence'] },
  SAR: { major: ['riyal', 'riyals'], minor: ['halala', 'halalas'] },
  AED: { major: ['dirham', 'dirhams'], minor: fils },
  EGP: { major: ['pound', 'pounds'], minor: ['piastre', 'piastres'] },
  KWD: { major: ['dinar', 'dinars'], minor: fils },
  BHD: { major: ['dinar', 'dinars'], minor: fils },
  JOD: { major: ['dinar', 'dinars'], minor: fils },
  OMR: { major: ['rial', 'rials'], minor: ['baisa', 'baisas'] },
};

const urRupee = { major: ['روپیہ', 'روپے'], minor: ['پیسہ', 'پیسے'] } as const;
const urDinar = { major: same('دینار'), minor: same('فلس') };

export const urduCurrencies: PlainNames = {
  PKR: urRupee,
  INR: urRupee,
  USD: { major: same('ڈالر'), minor: same('سینٹ') },
  EUR: { major: same('یورو'), minor: same('سینٹ') },
  GBP: { major: same('پاؤنڈ'), minor: same('پینس') },
  SAR: { major: same('ریال'), minor: same('ہللہ') },
  AED: { major: same('درہم'), minor: same('فلس') },
  EGP: { major: same('مصری پاؤنڈ'), minor: same('قرش') },
  KWD: urDinar,
  BHD: urDinar,
  JOD: urDinar,
  OMR: { major: same('ریال'), minor: same('بیسہ') },
};

const hiRupee = { major: ['रुपया', 'रुपये'], minor: ['पैसा', 'पैसे'] } as const;
const hiDinar = { major: same('दीनार'), minor: same('फ़िल्स') };

export const hindiCurrencies: PlainNames = {
  PKR: hiRupee,
  INR: hiRupee,
  USD: { major: same('डॉलर'), minor: same('सेंट') },
  EUR: { major: same('यूरो'), minor: same('सेंट') },
  GBP: { major: same('पाउंड'), minor: same('पेंस') },
  SAR: { major: same('रियाल'), minor: same('हलाला') },
  AED: { major: same('दिरहम'), minor: same('फ़िल्स') },
  EGP: { major: same('मिस्री पाउंड'), minor: same('क़ुरुश') },
  KWD: hiDinar,
  BHD: hiDinar,
  JOD: hiDinar,
  OMR: { major: same('रियाल'), minor: same('बैसा') },
};

const pound: Counted = { one: 'جنيه', two: 'جنيهان', few: 'جنيهات', many: 'جنيهًا' };
const riyal: Counted = { one: 'ريال', two: 'ريالان', few: 'ريالات', many: 'ريالًا' };
const dinar: Counted = { one: 'دينار', two: 'ديناران', few: 'دنانير', many: 'دينارًا' };
const filsAr: Counted = { one: 'فلس', two: 'فلسان', few: 'فلوس', many: 'فلسًا' };
const cent: Counted = { one: 'سنت', two: 'سنتان', few: 'سنتات', many: 'سنتًا' };
const baisa: Counted = {
  one: 'بيسة',
  two: 'بيستان',
  few: 'بيسات',
  many: 'بيسةً',
  isFeminine: true,
};
const rupeeAr: Counted = {
  one: 'روبية',
  two: 'روبيتان',
  few: 'روبيات',
  many: 'روبيةً',
  isFeminine: true,
};

export const arabicCurrencies: Readonly<Record<string, Pair<Counted>>> = {
  PKR: { major: rupeeAr, minor: baisa },
  INR: { major: rupeeAr, minor: baisa },
  USD: {
    major: { one: 'دولار', two: 'دولاران', few: 'دولارات', many: 'دولارًا' },
    minor: cent,
  },
  EUR: { major: { one: 'يورو', two: 'يوروان', few: 'يورو', many: 'يورو' }, minor: cent },
  GBP: {
    major: pound,
    minor: { one: 'بنس', two: 'بنسان', few: 'بنسات', many: 'بنسًا' },
  },
  SAR: {
    major: riyal,
    minor: { one: 'هللة', two: 'هللتان', few: 'هللات', many: 'هللةً', isFeminine: true },
  },
  AED: {
    major: { one: 'درهم', two: 'درهمان', few: 'دراهم', many: 'درهمًا' },
    minor: filsAr,
  },
  EGP: {
    major: pound,
    minor: { one: 'قرش', two: 'قرشان', few: 'قروش', many: 'قرشًا' },
  },
  KWD: { major: dinar, minor: filsAr },
  BHD: { major: dinar, minor: filsAr },
  JOD: { major: dinar, minor: filsAr },
  OMR: { major: riyal, minor: baisa },
};
