// Types of every expression, found from the declared types of names. Collects all problems of a
// formula instead of stopping at the first, and leaves each node's type on the node for the
// compiler.
import type { Checker } from './function-kinds.ts';
import { formulaFunctions } from './functions.ts';
import { parseFormula } from './parse.ts';
import { didYouMean } from './suggest.ts';
import {
  type BinaryNode,
  booleanType,
  type CallNode,
  type FormulaCode,
  type FormulaNode,
  type FormulaProblem,
  type FormulaType,
  numberType,
  textType,
  unknownType,
} from './syntax.ts';

export type ScopeProblem = { readonly code: FormulaCode; readonly message: string };

/** A function the caller provides; literal arguments are texts known when the formula is saved. */
export type HostFunction = {
  readonly parameters: readonly ('literal' | 'number')[];
  readonly usage: string;
  check(literal: string | null, call: CallNode): ScopeProblem | null;
};

/** What a formula may refer to. */
export type Scope = {
  resolve(space: string | null, id: string): FormulaType | ScopeProblem;
  readonly functions: ReadonlyMap<string, HostFunction>;
};

export type CheckedFormula = {
  readonly text: string;
  readonly node: FormulaNode | null;
  readonly problems: readonly FormulaProblem[];
  /** Two plain names of different units are added or compared. */
  readonly unitWarnings: readonly { position: number; message: string }[];
};

export function checkFormula(
  text: string,
  scope: Scope,
  wanted: FormulaType['kind'],
): CheckedFormula {
  const parsed = parseFormula(text);
  if (parsed.node === null) return { text, ...parsed, unitWarnings: [] };
  const problems: FormulaProblem[] = [];
  const unitWarnings: { position: number; message: string }[] = [];
  const checker = makeChecker(scope, problems, unitWarnings);
  checker.want(parsed.node, wanted, 'the formula');
  return { text, node: parsed.node, problems, unitWarnings };
}

function makeChecker(
  scope: Scope,
  problems: FormulaProblem[],
  unitWarnings: { position: number; message: string }[],
): Checker {
  const seen = new Set<FormulaNode>();
  const checker: Checker = {
    typeOf(node) {
      // A chain of operators leans to the left and may be as long as a formula: from its far end.
      const chain: FormulaNode[] = [];
      for (let next: FormulaNode | null = node; next !== null && !seen.has(next); ) {
        chain.push(next);
        next = next.kind === 'binary' ? next.left : null;
      }
      for (let part = chain.pop(); part !== undefined; part = chain.pop()) {
        seen.add(part);
        part.type = typeOf(part, scope, checker, unitWarnings);
      }
      return node.type;
    },
    want(node, kind, role) {
      const found = checker.typeOf(node).kind;
      if (found === kind || found === 'unknown' || kind === 'unknown') return;
      checker.report(
        'FORMULA_TYPE',
        node,
        `${role} must be ${article(kind)}, not ${article(found)}`,
      );
    },
    report(code, node, message) {
      problems.push({ code, position: node.from, message });
    },
  };
  return checker;
}

function typeOf(
  node: FormulaNode,
  scope: Scope,
  checker: Checker,
  unitWarnings: { position: number; message: string }[],
): FormulaType {
  switch (node.kind) {
    case 'number':
      return numberType;
    case 'text':
      return textType;
    case 'boolean':
      return booleanType;
    case 'name': {
      const found = scope.resolve(node.space, node.id);
      if ('kind' in found) return found;
      checker.report(found.code, node, found.message);
      return unknownType;
    }
    case 'negate': {
      checker.want(node.operand, 'number', 'the operand of a minus sign');
      return numberType;
    }
    case 'binary':
      return binaryType(node, checker, unitWarnings);
    case 'call':
      return callType(node, scope, checker);
  }
}

function binaryType(
  node: BinaryNode,
  checker: Checker,
  unitWarnings: { position: number; message: string }[],
): FormulaType {
  const { operator, left, right } = node;
  if (operator === '=' || operator === '<>') {
    checkSameType(node, checker);
    return booleanType;
  }
  checker.want(left, 'number', `the left side of \`${operator}\``);
  checker.want(right, 'number', `the right side of \`${operator}\``);
  if (operator === '*' || operator === '/') return numberType;
  const units = [checker.typeOf(left).unit, checker.typeOf(right).unit];
  if (units[0] && units[1] && units[0] !== units[1]) {
    const message = `\`${operator}\` joins ${units[0]} and ${units[1]}`;
    unitWarnings.push({ position: right.from, message });
  }
  if (operator !== '+' && operator !== '-') return booleanType;
  return units[0] && units[0] === units[1] ? { kind: 'number', unit: units[0] } : numberType;
}

function checkSameType(node: BinaryNode, checker: Checker): void {
  const left = checker.typeOf(node.left).kind;
  const right = checker.typeOf(node.right).kind;
  if (left === 'table' || right === 'table') {
    checker.report('FORMULA_TYPE', node, 'tables cannot be compared');
  } else if (left !== right && left !== 'unknown' && right !== 'unknown') {
    const message = `\`${node.operator}\` compares ${article(left)} with ${article(right)}`;
    checker.report('FORMULA_TYPE', node.right, message);
  }
}

function callType(call: CallNode, scope: Scope, checker: Checker): FormulaType {
  const host = scope.functions.get(call.name);
  if (host !== undefined) return hostType(call, host, checker);
  const known = formulaFunctions.get(call.name);
  if (known === undefined) {
    for (const arg of call.args) checker.typeOf(arg);
    const names = [...formulaFunctions.keys(), ...scope.functions.keys()];
    const message = `there is no function ${call.name}${didYouMean(call.name, names)}`;
    checker.report('FORMULA_UNKNOWN_FUNCTION', call, message);
    return unknownType;
  }
  const { min, max, step } = known.arity;
  const count = call.args.length;
  if (count < min || count > max || (step !== undefined && (count - min) % step !== 0)) {
    for (const arg of call.args) checker.typeOf(arg);
    reportArity(call, known.usage, checker);
    return unknownType;
  }
  return known.check(call, checker);
}

function hostType(call: CallNode, host: HostFunction, checker: Checker): FormulaType {
  if (call.args.length !== host.parameters.length) {
    reportArity(call, host.usage, checker);
    return numberType;
  }
  let literal: string | null = null;
  for (const [index, parameter] of host.parameters.entries()) {
    const arg = call.args[index] as FormulaNode;
    if (parameter === 'number')
      checker.want(arg, 'number', `argument ${index + 1} of ${call.name}`);
    else if (arg.kind === 'text') literal = arg.value;
    else {
      const message = `${call.name} takes a text in quotes: ${host.usage}`;
      checker.report('FORMULA_TYPE', arg, message);
      return numberType;
    }
  }
  const problem = host.check(literal, call);
  if (problem !== null) checker.report(problem.code, call, problem.message);
  return numberType;
}

function reportArity(call: CallNode, usage: string, checker: Checker): void {
  const count = call.args.length;
  const message = `${call.name} cannot take ${count} argument${count === 1 ? '' : 's'}: ${usage}`;
  checker.report('FORMULA_ARITY', call, message);
}

function article(kind: FormulaType['kind']): string {
  return kind === 'unknown' ? 'of unknown type' : `a ${kind}`;
}
