// Amounts in words are read back by readers of their own, so that no figure can be lost or swapped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { documentView } from '../../src/domain/documents/credit-note-view.ts';
import { amountInWords } from '../../src/domain/documents/words/amount-in-words.ts';
import { arabicCount } from '../../src/domain/documents/words/numbers-ar.ts';
import { englishNumber } from '../../src/domain/documents/words/numbers-en.ts';
import { hindiNames, hindiNumber } from '../../src/domain/documents/words/numbers-hi.ts';
import { urduNames, urduNumber } from '../../src/domain/documents/words/numbers-ur.ts';
import type { SouthAsianNames } from '../../src/domain/documents/words/south-asian.ts';
import { ordinary, ordinaryBill } from './ordinary-bill.ts';

const whole = fc.bigInt({ min: 0n, max: 10n ** 13n - 1n });
/** Many zeros, and numbers around the names of scales. */
const round = fc
  .tuple(fc.nat(999), fc.nat(12), fc.constantFrom(-1n, 0n, 1n, 2n))
  .map(([count, power, more]) => BigInt(count) * 10n ** BigInt(power) + more)
  .filter((value) => value >= 0n && value < 10n ** 13n);
const any = fc.oneof(whole, round);

/** Adds up small numbers, multiplies by what comes after them: as people read. */
function readWords(
  words: readonly string[],
  small: ReadonlyMap<string, bigint>,
  scales: ReadonlyMap<string, bigint>,
): bigint {
  let sum = 0n;
  let open = 0n;
  for (const word of words) {
    const value = small.get(word);
    const scale = scales.get(word);
    if (value !== undefined) open += value;
    else if (scale === undefined) assert.fail(word);
    else if (scale === 100n) open *= 100n;
    else {
      // Crores of a number that has lakhs itself.
      const whole = scale === 10n ** 7n ? sum + open : open;
      if (scale === 10n ** 7n) sum = 0n;
      sum += whole * scale;
      open = 0n;
    }
  }
  return sum + open;
}

const englishSmall = new Map(
  Array.from({ length: 100 }, (_, value) => [englishNumber(BigInt(value), false), BigInt(value)]),
);

test('English words read back as the number, in millions and in crores', () => {
  const scales = new Map([
    ['hundred', 100n],
    ['thousand', 10n ** 3n],
    ['lakh', 10n ** 5n],
    ['million', 10n ** 6n],
    ['crore', 10n ** 7n],
    ['billion', 10n ** 9n],
    ['trillion', 10n ** 12n],
  ]);
  assert.equal(englishSmall.size, 100);
  fc.assert(
    fc.property(any, fc.boolean(), (value, isSouthAsian) => {
      const words = englishNumber(value, isSouthAsian).split(' ');
      assert.equal(readWords(words, englishSmall, scales), value);
    }),
    { numRuns: 2_000 },
  );
});

const southAsian: [string, SouthAsianNames, (value: bigint) => string][] = [
  ['Urdu', urduNames, urduNumber],
  ['Hindi', hindiNames, hindiNumber],
];
for (const [language, names, number] of southAsian) {
  test(`${language} words read back as the number, in lakhs and crores`, () => {
    const small = new Map(names.below100.map((name, value) => [name, BigInt(value)]));
    assert.equal(small.size, 100, 'every number below a hundred has a name of its own');
    const sizes = [3n, 5n, 7n, 9n, 11n].map((power) => 10n ** power);
    const scales = new Map([
      [names.hundred, 100n],
      ...names.scales.map((name, index) => [name, sizes[index] ?? 0n] as const),
    ]);
    const read = (text: string) => {
      let sum = 0n;
      let open = 0n;
      for (const word of text.split(' ')) {
        const scale = scales.get(word);
        if (scale === undefined) open += small.get(word) ?? assert.fail(word);
        else if (scale === 100n) open *= 100n;
        else {
          sum += open * scale;
          open = 0n;
        }
      }
      return sum + open;
    };
    fc.assert(
      fc.property(any, (value) => assert.equal(read(number(value)), value)),
      { numRuns: 2_000 },
    );
  });
}

/** A dirham is masculine and a rupee feminine. */
const counted = {
  masculine: { one: 'X', two: 'XX', few: 'X', many: 'X' },
  feminine: { one: 'X', two: 'XX', few: 'X', many: 'X', isFeminine: true },
} as const;

const arabicUnits = [
  ['واحد', 1],
  ['واحدة', 1],
  ['إحدى', 1],
  ['أحد', 1],
  ['اثنان', 2],
  ['اثنتان', 2],
  ['اثنا', 2],
  ['اثنتا', 2],
  ...['ثلاث', 'أربع', 'خمس', 'ست', 'سبع', 'ثمان', 'تسع'].flatMap((name, at): [string, number][] => [
    [name, at + 3],
    [name === 'ثمان' ? 'ثمانية' : `${name}ة`, at + 3],
    [`${name}مائة`, (at + 3) * 100],
  ]),
  ['ثماني', 8],
  ['عشر', 10],
  ['عشرة', 10],
  ...['عشرون', 'ثلاثون', 'أربعون', 'خمسون', 'ستون', 'سبعون', 'ثمانون', 'تسعون'].map(
    (name, at): [string, number] => [name, (at + 2) * 10],
  ),
  ['مائة', 100],
  ['مائتان', 200],
  ['مائتا', 200],
] as const;
const arabicSmall = new Map(arabicUnits.map(([name, value]) => [name, BigInt(value)]));
const arabicScales = new Map<string, { size: bigint; own: bigint }>(
  [
    ['ألف', 'ألفا', 'ألفان', 'آلاف', 'ألفًا'],
    ['مليون', 'مليونا', 'مليونان', 'ملايين', 'مليونًا'],
    ['مليار', 'مليارا', 'ملياران', 'مليارات', 'مليارًا'],
    ['تريليون', 'تريليونا', 'تريليونان', 'تريليونات', 'تريليونًا'],
  ].flatMap(([one = '', twoOf = '', two = '', few = '', many = ''], index) => {
    const size = 10n ** BigInt(3 * (index + 1));
    return [
      [one, { size, own: 1n }],
      [few, { size, own: 1n }],
      [many, { size, own: 1n }],
      [two, { size, own: 2n }],
      [twoOf, { size, own: 2n }],
    ] as const;
  }),
);

function readArabic(text: string): bigint {
  let sum = 0n;
  let open = 0n;
  for (const raw of text.split(' ')) {
    const known = arabicSmall.has(raw) || arabicScales.has(raw) || raw.startsWith('X');
    const word = known ? raw : raw.replace(/^و/, '');
    const scale = arabicScales.get(word);
    if (word === 'X') continue;
    if (word === 'XX') return 2n;
    if (word === 'صفر') return 0n;
    if (scale === undefined) open += arabicSmall.get(word) ?? assert.fail(`${word} of ${text}`);
    else {
      sum += (open === 0n ? scale.own : open) * scale.size;
      open = 0n;
    }
  }
  return sum + open;
}

test('Arabic words read back as the number, of things of either gender', () => {
  fc.assert(
    fc.property(any, fc.constantFrom('masculine', 'feminine'), (value, gender) => {
      assert.equal(readArabic(arabicCount(value, counted[gender])), value);
    }),
    { numRuns: 2_000 },
  );
});

test('what is counted takes the form that its number asks for in Arabic', () => {
  const inRiyals = (major: bigint) =>
    amountInWords({ minor: major * 100n, decimals: 2, currency: 'SAR', language: 'ar' });
  assert.equal(inRiyals(1n), 'فقط ريال واحد لا غير');
  assert.equal(inRiyals(2n), 'فقط ريالان لا غير');
  assert.equal(inRiyals(3n), 'فقط ثلاثة ريالات لا غير');
  assert.equal(inRiyals(11n), 'فقط أحد عشر ريالًا لا غير');
  assert.equal(inRiyals(200n), 'فقط مائتا ريال لا غير');
  assert.equal(inRiyals(2_000n), 'فقط ألفا ريال لا غير');
  assert.equal(inRiyals(3_103n), 'فقط ثلاثة آلاف ومائة وثلاثة ريالات لا غير');
});

test('minor units are exact to the last one, with two decimals, with three and with none', () => {
  const words = (minor: bigint, decimals: number, currency: string, language = 'en') =>
    amountInWords({ minor, decimals, currency, language });
  assert.equal(words(101n, 2, 'PKR'), 'One rupee and one paisa only');
  assert.equal(words(99n, 2, 'PKR'), 'Ninety-nine paisas only');
  assert.equal(words(1_005n, 3, 'KWD'), 'One dinar and five fils only');
  assert.equal(words(7n, 0, 'JPY'), 'Seven JPY only');
  assert.equal(words(1_250n, 2, 'CHF'), 'Twelve CHF and 50/100 only');
  assert.equal(words(-500n, 2, 'USD'), 'Minus five dollars only');
  assert.equal(words(12_345_678_00n, 2, 'USD')?.includes('million'), true);
  assert.equal(words(12_345_678_00n, 2, 'INR')?.startsWith('One crore twenty-three lakh'), true);
  assert.equal(words(10n ** 15n, 2, 'USD'), null, 'too large for names');
  assert.equal(words(100n, 2, 'USD', 'fr'), null, 'no words of this language');
});

test('a bill whose template asks for it has the amount in words of its language', () => {
  const bill = { ...ordinaryBill, payableWithinDueDate: 14842.5 };
  const inWords = (locale: string, over: object = {}) =>
    documentView({ ...ordinary, bill: { ...bill, ...over }, locale, amountInWords: true }).inWords
      ?.value;
  assert.equal(
    inWords('en-PK'),
    'Fourteen thousand eight hundred forty-two rupees and fifty paisas only',
  );
  assert.equal(inWords('ur-PK'), 'چودہ ہزار آٹھ سو بیالیس روپے اور پچاس پیسے صرف');
  assert.equal(inWords('hi-IN'), 'चौदह हज़ार आठ सौ बयालीस रुपये और पचास पैसे मात्र');
  assert.equal(inWords('en-PK', { payableWithinDueDate: 0 }), undefined);
  assert.equal(inWords('en-PK', { status: 'Cancelled' }), undefined);
  assert.equal(documentView({ ...ordinary, bill }).inWords, null, 'unless it is asked for');
});
