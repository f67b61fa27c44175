// A plain interpreter of formulas: walks the tree, looks names up by their text, and computes with
// BigInt fractions. Written from the description of the language, not from the compiler.
import type { CallNode, FormulaNode } from '../../src/base/formula/syntax.ts';
import { denominatorOf, numeratorOf } from '../../src/base/numbers/exact.ts';
import {
  checked,
  floorOf,
  less,
  minus,
  nought,
  over,
  type Plain,
  PlainError,
  plainOf,
  plus,
  roundPlain,
  same,
  times,
  unit,
  wholeOf,
} from './plain-number.ts';

export type PlainRow = { key: string | null; cells: Record<string, Plain> };
export type PlainTable = { rows: PlainRow[] };
export type PlainValue = Plain | string | boolean | PlainTable;

export type World = {
  /** Value of a name as written: `rate`, `usage.energy`. */
  name(text: string): PlainValue;
  /** SUMCAT, HIST and SUPER, with evaluated arguments. */
  call(name: string, args: PlainValue[]): PlainValue;
};

export function interpret(node: FormulaNode, world: World): PlainValue {
  switch (node.kind) {
    case 'number':
      return plainOf(numeratorOf(node.value), denominatorOf(node.value));
    case 'text':
    case 'boolean':
      return node.value;
    case 'name':
      return world.name(node.space === null ? node.id : `${node.space}.${node.id}`);
    case 'negate':
      return minus(nought, number(interpret(node.operand, world)));
    case 'binary':
      return binary(node.operator, interpret(node.left, world), interpret(node.right, world));
    case 'call':
      return call(node, world);
  }
}

function number(value: PlainValue): Plain {
  if (typeof value === 'object' && 'n' in value) return value;
  throw new Error('not a number');
}

function isNumber(value: PlainValue): value is Plain {
  return typeof value === 'object' && 'n' in value;
}

function equal(a: PlainValue, b: PlainValue): boolean {
  return isNumber(a) && isNumber(b) ? same(a, b) : a === b;
}

function binary(operator: string, left: PlainValue, right: PlainValue): PlainValue {
  if (operator === '=') return equal(left, right);
  if (operator === '<>') return !equal(left, right);
  const a = number(left);
  const b = number(right);
  switch (operator) {
    case '+':
      return checked(plus(a, b));
    case '-':
      return checked(minus(a, b));
    case '*':
      return checked(times(a, b));
    case '/':
      return checked(over(a, b));
    case '<':
      return less(a, b);
    case '<=':
      return !less(b, a);
    case '>':
      return less(b, a);
    default:
      return !less(a, b);
  }
}

function call(node: CallNode, world: World): PlainValue {
  const lazy = (index: number) => interpret(node.args[index] as FormulaNode, world);
  const last = node.args.length - 1;
  switch (node.name) {
    case 'IF':
    case 'IFS':
      for (let index = 0; index < last; index += 2) if (lazy(index)) return lazy(index + 1);
      return lazy(last);
    case 'SWITCH': {
      const subject = lazy(0);
      for (let index = 1; index < last; index += 2) {
        if (equal(subject, lazy(index))) return lazy(index + 1);
      }
      return lazy(last);
    }
    case 'AND':
      return node.args.every((_, index) => lazy(index) === true);
    case 'OR':
      return node.args.some((_, index) => lazy(index) === true);
    default:
      return strict(
        node.name,
        node.args.map((_, index) => lazy(index)),
        world,
      );
  }
}

function strict(name: string, args: PlainValue[], world: World): PlainValue {
  const x = (index: number) => number(args[index] as PlainValue);
  switch (name) {
    case 'NOT':
      return !args[0];
    case 'MIN':
      return args.map(number).reduce((a, b) => (less(b, a) ? b : a));
    case 'MAX':
      return args.map(number).reduce((a, b) => (less(a, b) ? b : a));
    case 'SUM':
      return args.map(number).reduce((a, b) => checked(plus(a, b)));
    case 'ABS':
      return x(0).n < 0n ? minus(nought, x(0)) : x(0);
    case 'INT':
      return wholeOf(floorOf(x(0)));
    case 'ROUND':
      return checked(roundPlain(x(0), places(x(1)), 'HalfUp'));
    case 'ROUNDUP':
      return checked(roundPlain(x(0), places(x(1)), 'Up'));
    case 'ROUNDDOWN':
      return checked(roundPlain(x(0), places(x(1)), 'Down'));
    case 'CEILING':
      return checked(times(roundPlain(checked(over(x(0), x(1))), 0, 'Ceiling'), x(1)));
    case 'FLOOR':
      return checked(times(roundPlain(checked(over(x(0), x(1))), 0, 'Floor'), x(1)));
    case 'PACKAGE': {
      const units = x(0).n < 0n ? nought : x(0);
      return checked(times(roundPlain(checked(over(units, x(1))), 0, 'Ceiling'), x(2)));
    }
    case 'LOOKUP':
      return lookUp(args[0] as PlainTable, args[1] as PlainValue, args[2] as string);
    default:
      return name.startsWith('SLAB') ? slab(name, args) : world.call(name, args);
  }
}

function places(x: Plain): number {
  if (x.d !== 1n || x.n > 30n || x.n < -30n) throw new PlainError('AMOUNT_OUT_OF_RANGE');
  return Number(x.n);
}

function lookUp(table: PlainTable, key: PlainValue, column: string): Plain {
  const matches = (row: PlainRow) => {
    if (typeof key === 'string') return row.key === key;
    const text = /^[+-]?\d+(\.\d+)?$/.test(row.key ?? '') ? (row.key as string) : null;
    return text !== null && same(decimal(text), number(key));
  };
  const row = table.rows.find(matches) ?? table.rows.find((other) => other.key === '*');
  const cell = row?.cells[column];
  if (cell === undefined) throw new PlainError('LOOKUP_NO_ROW');
  return cell;
}

function decimal(text: string): Plain {
  const [whole = '0', decimals = ''] = text.split('.');
  return plainOf(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
}

/** Slab by slab, as a clerk would do it. */
function slab(name: string, args: PlainValue[]): Plain {
  const quantity = number(args[0] as PlainValue);
  const { rows } = args[1] as PlainTable;
  const factor = args[2] === undefined ? unit : number(args[2]);
  if (factor.n < 0n) throw new PlainError('AMOUNT_OUT_OF_RANGE');
  const limits = rows.map((row) => (row.key === null ? null : times(decimal(row.key), factor)));
  const reached = limits.findIndex((limit) => limit === null || !less(limit, quantity));
  const rate = (index: number) => rows[index]?.cells.rate ?? nought;
  const flat = (index: number) => rows[index]?.cells.flat ?? nought;
  const floor = (index: number) => (index === 0 ? nought : (limits[index - 1] as Plain));
  if (name === 'SLABRATE') return rate(reached);
  if (name === 'SLABVOLUME') {
    return checked(plus(times(quantity, rate(reached)), flat(reached)));
  }
  const top = times(minus(quantity, floor(reached)), rate(reached));
  if (name === 'SLABPREVIOUS') {
    const lower = reached === 0 ? nought : times(floor(reached), rate(reached - 1));
    return checked(plus(plus(lower, top), flat(reached)));
  }
  let sum = plus(top, flat(reached));
  for (let index = 0; index < reached; index++) {
    const width = minus(limits[index] as Plain, floor(index));
    sum = plus(sum, plus(times(width, rate(index)), flat(index)));
  }
  return checked(sum);
}
