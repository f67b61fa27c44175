// MIN, MAX, SUM, ABS, INT, the rounding functions and PACKAGE.
import {
  ArithmeticError,
  absolute,
  add,
  divide,
  type Exact,
  maximum,
  minimum,
  multiply,
  zero,
} from '../numbers/exact.ts';
import { ceiling, floor, type RoundingMode, round, scaleLimit } from '../numbers/rounding.ts';
import type { Checker, FormulaFunction, Of } from './function-kinds.ts';
import { type CallNode, type FormulaNode, type FormulaType, numberType } from './syntax.ts';

const argsMax = 255;

export const numberFunctions: readonly (readonly [string, FormulaFunction])[] = [
  ['MIN', folding('MIN', minimum)],
  ['MAX', folding('MAX', maximum)],
  ['SUM', folding('SUM', add)],
  ['ABS', unary('ABS', absolute)],
  ['INT', unary('INT', floor)],
  ['ROUND', rounding('ROUND', 'HalfUp')],
  ['ROUNDUP', rounding('ROUNDUP', 'Up')],
  ['ROUNDDOWN', rounding('ROUNDDOWN', 'Down')],
  ['CEILING', stepping('CEILING', ceiling)],
  ['FLOOR', stepping('FLOOR', floor)],
  [
    'PACKAGE',
    {
      arity: { min: 3, max: 3 },
      usage: 'PACKAGE(quantity, size, price)',
      check: allNumbers,
      compile(call, compiler) {
        const quantity = compiler.number(call.args[0] as FormulaNode);
        const size = compiler.number(call.args[1] as FormulaNode);
        const price = compiler.number(call.args[2] as FormulaNode);
        return (frame) => {
          // All arguments first: whichever fails first from the left gives the error.
          const units = maximum(quantity(frame), zero);
          const each = size(frame);
          const perPack = price(frame);
          return multiply(ceiling(divide(units, each)), perPack);
        };
      },
    },
  ],
];

function allNumbers(call: CallNode, checker: Checker): FormulaType {
  for (const [index, arg] of call.args.entries()) {
    checker.want(arg, 'number', `argument ${index + 1} of ${call.name}`);
  }
  return numberType;
}

function folding(name: string, combine: (a: Exact, b: Exact) => Exact): FormulaFunction {
  return {
    arity: { min: 1, max: argsMax },
    usage: `${name}(x, ...)`,
    check: allNumbers,
    compile<F>(call: CallNode, compiler: { number(node: FormulaNode): Of<F, Exact> }) {
      const parts = call.args.map((arg) => compiler.number(arg));
      const first = parts[0] as Of<F, Exact>;
      const second = parts[1];
      if (parts.length === 2 && second !== undefined) {
        return (frame: F) => combine(first(frame), second(frame));
      }
      return (frame: F) => {
        let result = first(frame);
        for (let index = 1; index < parts.length; index++) {
          result = combine(result, (parts[index] as Of<F, Exact>)(frame));
        }
        return result;
      };
    },
  };
}

function unary(name: string, apply: (x: Exact) => Exact): FormulaFunction {
  return {
    arity: { min: 1, max: 1 },
    usage: `${name}(x)`,
    check: allNumbers,
    compile(call, compiler) {
      const inner = compiler.number(call.args[0] as FormulaNode);
      return (frame) => apply(inner(frame));
    },
  };
}

function rounding(name: string, mode: RoundingMode): FormulaFunction {
  return {
    arity: { min: 2, max: 2 },
    usage: `${name}(x, decimals)`,
    check: allNumbers,
    compile(call, compiler) {
      const x = compiler.number(call.args[0] as FormulaNode);
      const decimals = compiler.number(call.args[1] as FormulaNode);
      return (frame) => {
        const value = x(frame);
        return round(value, wholeNumber(decimals(frame), scaleLimit, `decimals of ${name}`), mode);
      };
    },
  };
}

function stepping(name: string, whole: (x: Exact) => Exact): FormulaFunction {
  return {
    arity: { min: 2, max: 2 },
    usage: `${name}(x, step)`,
    check: allNumbers,
    compile(call, compiler) {
      const x = compiler.number(call.args[0] as FormulaNode);
      const step = compiler.number(call.args[1] as FormulaNode);
      return (frame) => {
        const value = x(frame);
        const size = step(frame);
        return multiply(whole(divide(value, size)), size);
      };
    },
  };
}

/** An argument that counts something: whole and within plus or minus the limit. */
export function wholeNumber(x: Exact, limit: number, role: string): number {
  // A value that is not small is beyond any limit, or no whole number.
  const whole = x.big === null ? x.n / x.d : Number.NaN;
  if (whole === Math.floor(whole) && Math.abs(whole) <= limit) return whole;
  const message = `${role} must be a whole number between -${limit} and ${limit}`;
  throw new ArithmeticError('AMOUNT_OUT_OF_RANGE', message);
}
