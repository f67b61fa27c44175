// IF, IFS, SWITCH, AND, OR, NOT. All evaluate only what decides the result.
import { type Exact, equals } from '../numbers/exact.ts';
import type { Checker, Compiler, FormulaFunction, Of, Scalar } from './function-kinds.ts';
import {
  booleanType,
  type CallNode,
  type FormulaNode,
  type FormulaType,
  unknownType,
} from './syntax.ts';

const argsMax = 255;

export const logicFunctions: readonly (readonly [string, FormulaFunction])[] = [
  [
    'IF',
    {
      arity: { min: 3, max: 3 },
      usage: 'IF(condition, then, else)',
      check: checkConditions,
      compile: compileConditions,
    },
  ],
  [
    'IFS',
    {
      arity: { min: 3, max: argsMax, step: 2 },
      usage: 'IFS(condition, result, ..., else)',
      check: checkConditions,
      compile: compileConditions,
    },
  ],
  [
    'SWITCH',
    {
      arity: { min: 4, max: argsMax, step: 2 },
      usage: 'SWITCH(x, key, result, ..., else)',
      check: checkSwitch,
      compile: compileSwitch,
    },
  ],
  ['AND', { ...connective('AND', false) }],
  ['OR', { ...connective('OR', true) }],
  [
    'NOT',
    {
      arity: { min: 1, max: 1 },
      usage: 'NOT(condition)',
      check(call, checker) {
        checker.want(call.args[0] as FormulaNode, 'boolean', 'the argument of NOT');
        return booleanType;
      },
      compile(call, compiler) {
        const inner = compiler.boolean(call.args[0] as FormulaNode);
        return (frame) => !inner(frame);
      },
    },
  ],
];

function checkConditions(call: CallNode, checker: Checker): FormulaType {
  const results: FormulaNode[] = [];
  const last = call.args.length - 1;
  for (const [index, arg] of call.args.entries()) {
    if (index % 2 === 0 && index !== last) {
      checker.want(arg, 'boolean', `condition ${index / 2 + 1} of ${call.name}`);
    } else results.push(arg);
  }
  return commonType(call, results, checker);
}

function compileConditions<F>(call: CallNode, compiler: Compiler<F>): Of<F, Scalar> {
  const last = call.args.length - 1;
  let rest = compiler.scalar(call.args[last] as FormulaNode);
  for (let index = last - 2; index >= 0; index -= 2) {
    const condition = compiler.boolean(call.args[index] as FormulaNode);
    const then = compiler.scalar(call.args[index + 1] as FormulaNode);
    const otherwise = rest;
    rest = (frame) => (condition(frame) ? then(frame) : otherwise(frame));
  }
  return rest;
}

function checkSwitch(call: CallNode, checker: Checker): FormulaType {
  const subject = checker.typeOf(call.args[0] as FormulaNode);
  if (subject.kind === 'table') {
    checker.report('FORMULA_TYPE', call.args[0] as FormulaNode, 'SWITCH cannot compare tables');
  }
  const results: FormulaNode[] = [];
  const last = call.args.length - 1;
  for (const [index, arg] of call.args.entries()) {
    if (index === 0) continue;
    if (index % 2 === 1 && index !== last) {
      if (subject.kind === 'unknown' || subject.kind === 'table') checker.typeOf(arg);
      else checker.want(arg, subject.kind, 'a key of SWITCH');
    } else results.push(arg);
  }
  return commonType(call, results, checker);
}

function compileSwitch<F>(call: CallNode, compiler: Compiler<F>): Of<F, Scalar> {
  const subject = compiler.scalar(call.args[0] as FormulaNode);
  const last = call.args.length - 1;
  const keys: Of<F, Scalar>[] = [];
  const results: Of<F, Scalar>[] = [];
  for (let index = 1; index < last; index += 2) {
    keys.push(compiler.scalar(call.args[index] as FormulaNode));
    results.push(compiler.scalar(call.args[index + 1] as FormulaNode));
  }
  const otherwise = compiler.scalar(call.args[last] as FormulaNode);
  return (frame) => {
    const wanted = subject(frame);
    for (let index = 0; index < keys.length; index++) {
      const key = (keys[index] as Of<F, Scalar>)(frame);
      if (sameScalar(wanted, key)) return (results[index] as Of<F, Scalar>)(frame);
    }
    return otherwise(frame);
  };
}

/** Equality of two numbers, two texts or two booleans. */
export function sameScalar(a: Scalar, b: Scalar): boolean {
  return typeof a === 'object' ? equals(a as Exact, b as Exact) : a === b;
}

function connective(name: string, decisive: boolean): FormulaFunction {
  return {
    arity: { min: 1, max: argsMax },
    usage: `${name}(condition, ...)`,
    check(call, checker) {
      for (const arg of call.args) checker.want(arg, 'boolean', `an argument of ${name}`);
      return booleanType;
    },
    compile(call, compiler) {
      const parts = call.args.map((arg) => compiler.boolean(arg));
      return (frame) => {
        for (const part of parts) if (part(frame) === decisive) return decisive;
        return !decisive;
      };
    },
  };
}

/** The type all results share; tables keep the columns that all of them have. */
function commonType(
  call: CallNode,
  results: readonly FormulaNode[],
  checker: Checker,
): FormulaType {
  let common: FormulaType = unknownType;
  for (const node of results) {
    const type = checker.typeOf(node);
    if (type.kind === 'unknown') continue;
    if (common.kind === 'unknown') common = type;
    else if (common.kind !== type.kind) {
      const message = `results of ${call.name} must agree: ${common.kind} and ${type.kind} do not`;
      checker.report('FORMULA_TYPE', node, message);
    } else if (common.columns !== undefined && type.columns !== undefined) {
      const shared = type.columns;
      common = { kind: 'table', columns: common.columns.filter((name) => shared.includes(name)) };
    }
  }
  return common;
}
