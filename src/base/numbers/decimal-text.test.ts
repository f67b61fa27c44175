import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimalText, exactFrom, exactText, minorUnitsText, parseDecimal } from './decimal-text.ts';
import { fraction } from './exact.ts';

const refused = [
  '',
  '-',
  '.5',
  '1.',
  '1e400',
  '1,000',
  '٣',
  'NaN',
  'Infinity',
  '1 000',
  '--1',
  '0x10',
];

for (const text of refused) {
  test(`parseDecimal refuses "${text}"`, () => {
    assert.equal(parseDecimal(text), undefined);
  });
}

test('parseDecimal refuses a number of more than 60 digits', () => {
  assert.notEqual(parseDecimal('9'.repeat(60)), undefined);
  assert.equal(parseDecimal('9'.repeat(61)), undefined);
});

const shown: [string, string][] = [
  ['1.50', '1.5'],
  ['-0.00', '0'],
  ['+7', '7'],
  ['007.100', '7.1'],
  ['1000000000000000', '1000000000000000'],
  ['-123456789012345678.25', '-123456789012345678.25'],
];

for (const [text, plain] of shown) {
  test(`${text} prints as ${plain}`, () => {
    const number = parseDecimal(text);
    assert.ok(number);
    assert.equal(decimalText(number), plain);
  });
}

test('a number without an end is rounded to 12 decimals and says so', () => {
  assert.equal(decimalText(fraction(500, 31)), '16.129032258065');
  assert.equal(exactText(fraction(500, 31)), '16.129032258065…');
  assert.equal(exactText(fraction(-1, 3)), '-0.333333333333…');
  assert.equal(exactText(fraction(1, 8)), '0.125');
});

test('minor units print with all decimals of the currency', () => {
  assert.equal(minorUnitsText(1_359_200, 2), '13592.00');
  assert.equal(minorUnitsText(-7, 2), '-0.07');
  assert.equal(minorUnitsText(-7, 0), '-7');
  assert.equal(minorUnitsText(1005, 3), '1.005');
});

test('a JSON number is read as the decimal it prints as', () => {
  assert.equal(decimalText(exactFrom(0.1) ?? fraction(0, 1)), '0.1');
  assert.equal(exactFrom(Number.POSITIVE_INFINITY), undefined);
  assert.equal(exactFrom(1e-9), undefined);
  assert.equal(exactFrom(null), undefined);
});
