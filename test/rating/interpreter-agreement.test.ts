// The compiled evaluator and the plain interpreter give the same result or the same error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkFormula, type Scope } from '../../src/base/formula/check.ts';
import { compileFormula } from '../../src/base/formula/compile.ts';
import type { Scalar } from '../../src/base/formula/function-kinds.ts';
import { LookupError } from '../../src/base/formula/function-kinds.ts';
import type { FormulaNode, FormulaType, NameNode } from '../../src/base/formula/syntax.ts';
import { compileTable, type Table } from '../../src/base/formula/table.ts';
import { parseDecimal } from '../../src/base/numbers/decimal-text.ts';
import {
  ArithmeticError,
  denominatorOf,
  Exact,
  numeratorOf,
  zero,
} from '../../src/base/numbers/exact.ts';
import type { Rows } from '../../src/domain/rating/definitions/definitions.ts';
import { interpret, type PlainTable, type PlainValue } from './plain-interpreter.ts';
import { fractionText, type Plain, PlainError, parsePlain, plainOf } from './plain-number.ts';
import { flagFormulas, numberFormulas, type RandomWorld, worlds } from './random-formulas.ts';
import { runs } from './random-runs.ts';

function fullName(node: NameNode): string {
  return node.space === null ? node.id : `${node.space}.${node.id}`;
}

function scopeOf(world: RandomWorld): Scope {
  const columns = (rows: Rows) => Object.keys(rows[0] ?? {});
  const types = new Map<string, FormulaType>([
    ...Object.keys(world.numbers).map((name) => [name, { kind: 'number' }] as const),
    ...Object.keys(world.texts).map((name) => [name, { kind: 'text' }] as const),
    ...Object.keys(world.booleans).map((name) => [name, { kind: 'boolean' }] as const),
    ['slabs', { kind: 'table', columns: columns(world.slabs) }],
    ['keyed', { kind: 'table', columns: columns(world.keyed) }],
  ]);
  return {
    resolve: (space, id) =>
      types.get(space === null ? id : `${space}.${id}`) ?? {
        code: 'FORMULA_UNKNOWN_NAME',
        message: id,
      },
    functions: new Map(),
  };
}

function compiledResult(node: FormulaNode, world: RandomWorld): string {
  const tableOf = (rows: Rows) => compileTable(Object.keys(rows[0] ?? {}), rows).table as Table;
  const values = new Map<string, Scalar>([
    ...Object.entries(world.numbers).map(
      ([name, text]) => [name, parseDecimal(text) as Exact] as const,
    ),
    ...Object.entries(world.texts),
    ...Object.entries(world.booleans),
    ['slabs', tableOf(world.slabs)],
    ['keyed', tableOf(world.keyed)],
  ]);
  const closure = compileFormula<null>(node, {
    name: (name) => {
      const value = values.get(fullName(name)) as Scalar;
      return () => value;
    },
    host: () => () => zero,
  });
  try {
    const result = closure(null);
    if (!(result instanceof Exact)) return String(result);
    return fractionText(plainOf(numeratorOf(result), denominatorOf(result)));
  } catch (error) {
    if (error instanceof ArithmeticError || error instanceof LookupError) return error.code;
    throw error;
  }
}

function interpretedResult(node: FormulaNode, world: RandomWorld): string {
  const tableOf = (rows: Rows): PlainTable => ({
    rows: rows.map((row) => {
      const [key, ...cells] = Object.entries(row);
      return {
        key: key?.[1] ?? null,
        cells: Object.fromEntries(cells.map(([name, text]) => [name, parsePlain(text ?? '0')])),
      };
    }),
  });
  const values = new Map<string, PlainValue>([
    ...Object.entries(world.numbers).map(([name, text]) => [name, parsePlain(text)] as const),
    ...Object.entries(world.texts),
    ...Object.entries(world.booleans),
    ['slabs', tableOf(world.slabs)],
    ['keyed', tableOf(world.keyed)],
  ]);
  try {
    const result = interpret(node, {
      name: (name) => values.get(name) as PlainValue,
      call: (name) => {
        throw new Error(name);
      },
    });
    return typeof result === 'object' ? fractionText(result as Plain) : String(result);
  } catch (error) {
    if (error instanceof PlainError) return error.code;
    throw error;
  }
}

function agrees(formula: string, world: RandomWorld, kind: 'number' | 'boolean'): void {
  const checked = checkFormula(formula, scopeOf(world), kind);
  // Generated formulas can only be too deep or too long.
  if (checked.node === null) return;
  assert.deepEqual(checked.problems, [], formula);
  assert.equal(
    compiledResult(checked.node, world),
    interpretedResult(checked.node, world),
    formula,
  );
}

test('compiled and interpreted numbers agree, errors included', () => {
  fc.assert(
    fc.property(numberFormulas, worlds, (formula, world) => agrees(formula, world, 'number')),
    runs,
  );
});

test('compiled and interpreted conditions agree, errors included', () => {
  fc.assert(
    fc.property(flagFormulas, worlds, (formula, world) => agrees(formula, world, 'boolean')),
    runs,
  );
});

test('repeated multiplication goes out of range in both at the same step', () => {
  const world: RandomWorld = {
    numbers: { a: '1234567.891' },
    texts: {},
    booleans: {},
    slabs: [{ upTo: null, rate: '1' }],
    keyed: [{ key: '*', amount: '1' }],
  };
  let outOfRange = 0;
  for (let count = 1; count < 40; count++) {
    const formula = Array.from({ length: count }, () => 'a').join(' * ');
    const node = checkFormula(formula, scopeOf(world), 'number').node as FormulaNode;
    const ours = compiledResult(node, world);
    assert.equal(ours, interpretedResult(node, world));
    if (ours === 'AMOUNT_OUT_OF_RANGE') outOfRange += 1;
  }
  assert.ok(outOfRange > 5);
});
