// Random formulas that pass the checker, over a small world of names.
import fc from 'fast-check';
import type { Rows } from '../../src/domain/rating/definitions/definitions.ts';

export type RandomWorld = {
  readonly numbers: Record<string, string>;
  readonly texts: Record<string, string>;
  readonly booleans: Record<string, boolean>;
  readonly slabs: Rows;
  readonly keyed: Rows;
};

const numberNames = ['a', 'b', 'usage.x', 'usage.y', 'input.load'];
const textNames = ['kind', 'input.size'];
const booleanNames = ['flag', 'connection.isFirstBill'];

const digits = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1000 }).map(String) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 999_999_999 }).map(String) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String) },
);
const decimals = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 9999 }).map((n) => `.${n}`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 999_999 }).map((n) => `.0000${n}`) },
);
const unsigned = fc.tuple(digits, decimals).map(([whole, part]) => whole + part);
const signed = fc
  .tuple(fc.boolean(), unsigned)
  .map(([isNegative, text]) => (isNegative ? `-${text}` : text));
const words = fc.constantFrom('15', '20', '20.0', 'Tenant', '*', 'zz');

const slabRows: fc.Arbitrary<Rows> = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 5 }),
    fc.infiniteStream(unsigned),
    fc.boolean(),
  )
  .map(([limits, amounts, hasFlat]) => {
    const sorted = [...limits].sort((x, y) => x - y);
    const next = () => amounts.next().value as string;
    return [...sorted.map(String), null].map((upTo) =>
      hasFlat ? { upTo, rate: next(), flat: next() } : { upTo, rate: next() },
    );
  });

const keyedRows: fc.Arbitrary<Rows> = fc
  .tuple(fc.uniqueArray(words, { minLength: 1, maxLength: 4 }), fc.infiniteStream(signed))
  .map(([keys, amounts]) => {
    // "20" and "20.0" are one number, and a table has each key once.
    const own = keys.includes('20') ? keys.filter((key) => key !== '20.0') : keys;
    return own.map((key) => ({ key, amount: amounts.next().value as string }));
  });

export const worlds: fc.Arbitrary<RandomWorld> = fc.record({
  numbers: fc
    .tuple(signed, signed, signed, signed, signed)
    .map((values) =>
      Object.fromEntries(numberNames.map((name, index) => [name, values[index] as string])),
    ),
  texts: fc.tuple(words, words).map(([x, y]) => ({ kind: x, 'input.size': y })),
  booleans: fc
    .tuple(fc.boolean(), fc.boolean())
    .map(([x, y]) => ({ flag: x, 'connection.isFirstBill': y })),
  slabs: slabRows,
  keyed: keyedRows,
});

const space = fc.constantFrom('', ' ', '  ', '\n');
const comparison = fc.constantFrom('=', '<>', '<', '<=', '>', '>=');

type Typed = { number: string; text: string; flag: string; table: string };

const list = (item: fc.Arbitrary<string>, min: number, max: number) =>
  fc.array(item, { minLength: min, maxLength: max }).map((items) => items.join(', '));

/** Formulas of each type, by mutual recursion; depth keeps them readable when one fails. */
const grammar = fc.letrec<Typed>((tie) => {
  const call = (names: string[], ...args: fc.Arbitrary<string>[]) =>
    fc
      .tuple(fc.constantFrom(...names), fc.tuple(...args))
      .map(([name, parts]) => `${name}(${parts.join(', ')})`);
  const choice = (result: fc.Arbitrary<string>) =>
    fc.oneof(
      call(['IF', 'if'], tie('flag'), result, result),
      call(['IFS'], tie('flag'), result, tie('flag'), result, result),
      call(['SWITCH'], tie('number'), tie('number'), result, result),
      call(['SWITCH'], tie('text'), tie('text'), result, tie('text'), result, result),
    );
  const decimalsWanted = fc.constantFrom('0', '1', '2', '4', '-1', '31', '0.5');
  const factor = fc.constantFrom('1', '0.5', '12 / 31', '0', '2', '-1', 'a');
  return {
    number: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(
        unsigned,
        unsigned.map((text) => `${text}%`),
        fc.constantFrom(...numberNames),
      ),
      fc
        .tuple(tie('number'), space, fc.constantFrom('+', '-', '*', '/'), space, tie('number'))
        .map((parts) => parts.join('')),
      tie('number').map((inner) => `(${inner})`),
      fc
        .tuple(fc.constantFrom('-', '+'), tie('number'))
        .map(([sign, inner]) => `${sign}(${inner})`),
      fc
        .tuple(fc.constantFrom('MIN', 'MAX', 'SUM', 'sum'), list(tie('number'), 1, 4))
        .map(([name, args]) => `${name}(${args})`),
      call(['ABS', 'INT'], tie('number')),
      call(['ROUND', 'ROUNDUP', 'ROUNDDOWN'], tie('number'), decimalsWanted),
      call(['CEILING', 'FLOOR'], tie('number'), tie('number')),
      call(['PACKAGE'], tie('number'), tie('number'), tie('number')),
      call(['SLAB', 'SLABVOLUME', 'SLABPREVIOUS', 'SLABRATE'], tie('number'), tie('table')),
      call(['SLAB', 'SLABVOLUME', 'SLABPREVIOUS', 'SLABRATE'], tie('number'), tie('table'), factor),
      call(['LOOKUP'], fc.constant('keyed'), tie('text'), fc.constant('"amount"')),
      call(['LOOKUP'], fc.constant('keyed'), tie('number'), fc.constant('"amount"')),
      choice(tie('number')),
    ),
    text: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(
        words.map((word) => `"${word}"`),
        words.map((word) => `'${word}'`),
        fc.constantFrom(...textNames),
      ),
      choice(tie('text')),
    ),
    flag: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.constantFrom('TRUE', 'FALSE', 'true'), fc.constantFrom(...booleanNames)),
      fc.tuple(tie('number'), comparison, tie('number')).map((parts) => `(${parts.join(' ')})`),
      fc
        .tuple(tie('text'), fc.constantFrom('=', '<>'), tie('text'))
        .map((parts) => `(${parts.join(' ')})`),
      fc
        .tuple(fc.constantFrom('AND', 'OR'), list(tie('flag'), 1, 3))
        .map(([name, args]) => `${name}(${args})`),
      call(['NOT'], tie('flag')),
    ),
    table: fc.oneof(
      { depthSize: 'small' },
      fc.constant('slabs'),
      call(['IF'], tie('flag'), fc.constant('slabs'), fc.constant('slabs')),
    ),
  };
});

export const numberFormulas = grammar.number;
export const flagFormulas = grammar.flag;
