import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimalText } from './decimal-text.ts';
import { fraction } from './exact.ts';
import { round, roundingModes, roundToMinorUnits } from './rounding.ts';

const largest = Number.MAX_SAFE_INTEGER;

test('the largest numbers that are kept small round without an error of their own', () => {
  const third = (n: number) =>
    roundingModes.map((mode) => decimalText(round(fraction(n, 3), 0, mode)));
  // 9007199254740991 / 3 is 3002399751580330 and a third
  const low = '3002399751580330';
  const high = '3002399751580331';
  assert.deepEqual(third(largest), [low, low, high, low, high, low]);
  assert.deepEqual(third(-largest), [
    `-${low}`,
    `-${low}`,
    `-${high}`,
    `-${low}`,
    `-${low}`,
    `-${high}`,
  ]);
});

test('ties of both signs go where the mode says', () => {
  const half = (n: number) =>
    roundingModes.map((mode) => decimalText(round(fraction(n, 2), 0, mode)));
  assert.deepEqual(half(5), ['3', '2', '3', '2', '3', '2']);
  assert.deepEqual(half(-5), ['-3', '-2', '-3', '-2', '-2', '-3']);
  assert.deepEqual(half(largest), [
    '4503599627370496',
    '4503599627370496',
    '4503599627370496',
    '4503599627370495',
    '4503599627370496',
    '4503599627370495',
  ]);
});

test('what rounds to nothing is 0, never -0', () => {
  for (const mode of roundingModes) {
    const minor = roundToMinorUnits(fraction(-1, 1_000_000), { scale: 2, mode }, 2);
    assert.ok(!Object.is(minor, -0), mode);
  }
});
