// Values of the wrong kind, or at the edge of what a field accepts.
import { isWhole } from './probes.ts';
import { isOfType, type Json, type Leaf, nameOf } from './requests.ts';

const nastyTexts = [
  'a\0b',
  'half \ud800 a pair',
  'x'.repeat(20_000),
  '',
  "'; drop table a; --%_\\",
  '\u202e\u0301\ufeff',
];
const nastyTimes = [
  '31/02/2027',
  '31/12/9999',
  '01/01/0000',
  '01/01/0001',
  '9999-12-31T23:59:59',
  '0000-01-01T00:00:00',
  '0001-01-01T00:00:00',
];
const nastyNumbers = [-1, 0, 1.5, 1e300];
/**
 * The largest that a field accepts is too large for every column that a smaller one is too large
 * for.
 */
const largeNumbers = [Number.MAX_SAFE_INTEGER, 2 ** 31, 2 ** 15];
const nastyKinds = [true, null, [[null]], { a: 1 }];

/** All that might pass the first look at the field, and a few that must not. */
export function nastyFor({ node, path }: Leaf): unknown[] {
  if (isOfType(node, 'object')) return nastyTexts.map(inFreeForm);
  if (!isOfType(node, 'string')) {
    const accepted = largeNumbers.filter((number) => number <= (node.maximum ?? Infinity));
    const large = isWhole ? largeNumbers : accepted.slice(0, 1);
    return [...nastyNumbers, ...large, ...nastyKinds, 'text', '7'];
  }
  // Where something is named, a date is a text like any other.
  const isMoment = isWhole || node.format !== undefined || /value|date|time/i.test(nameOf(path));
  return [...nastyTexts, ...nastyTimes.slice(isMoment ? 0 : -1), ...nastyKinds, 7];
}

function inFreeForm(value: string): Json {
  return { a: value, b: [{ c: value }], [value]: 1 };
}
