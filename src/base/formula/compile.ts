// A checked formula as a tree of closures. Each closure reads what it needs from the frame; there
// is no generated source text, and names are bound to slots here, once.
import { add, compare, divide, type Exact, multiply, negate, subtract } from '../numbers/exact.ts';
import type { Binder, Compiler, Of, Scalar } from './function-kinds.ts';
import { formulaFunctions } from './functions.ts';
import { sameScalar } from './logic-functions.ts';
import type { BinaryNode, CallNode, FormulaNode } from './syntax.ts';
import type { Table } from './table.ts';

/** Compiles a formula that passed the checker; the result has the type the checker found. */
export function compileFormula<F>(node: FormulaNode, binder: Binder<F>): Of<F, Scalar> {
  return makeCompiler(binder).scalar(node);
}

export function compileNumber<F>(node: FormulaNode, binder: Binder<F>): Of<F, Exact> {
  return makeCompiler(binder).number(node);
}

export function compileBoolean<F>(node: FormulaNode, binder: Binder<F>): Of<F, boolean> {
  return makeCompiler(binder).boolean(node);
}

function makeCompiler<F>(binder: Binder<F>): Compiler<F> {
  const compiler: Compiler<F> = {
    binder,
    scalar: (node) => {
      const plain = compileNode(node, compiler);
      const step = binder.step;
      if (step === undefined) return plain;
      return (frame) => {
        const value = plain(frame);
        step(frame, node, value);
        return value;
      };
    },
    // The checker has established the type, so these narrow without a test at run time.
    number: (node) => compiler.scalar(node) as Of<F, Exact>,
    boolean: (node) => compiler.scalar(node) as Of<F, boolean>,
    table: (node) => compiler.scalar(node) as Of<F, Table>,
  };
  return compiler;
}

function compileNode<F>(node: FormulaNode, compiler: Compiler<F>): Of<F, Scalar> {
  switch (node.kind) {
    case 'number':
    case 'text':
    case 'boolean': {
      const value = node.value;
      return () => value;
    }
    case 'name':
      return compiler.binder.name(node);
    case 'negate': {
      const operand = compiler.number(node.operand);
      return (frame) => negate(operand(frame));
    }
    case 'binary':
      return compileBinary(node, compiler);
    case 'call':
      return compileCall(node, compiler);
  }
}

/** Longer chains of operators are evaluated by a loop, since nested closures use up the stack. */
const nestedChainMax = 32;

function compileBinary<F>(node: BinaryNode, compiler: Compiler<F>): Of<F, Scalar> {
  return chainLength(node) > nestedChainMax
    ? compileChain(node, compiler)
    : compilePair(node, compiler);
}

function chainLength(node: BinaryNode): number {
  let length = 0;
  for (let next: FormulaNode = node; next.kind === 'binary'; next = next.left) length += 1;
  return length;
}

/** a + b - c ... from the left, each step as the nested form would take it. */
function compileChain<F>(node: BinaryNode, compiler: Compiler<F>): Of<F, Scalar> {
  const links: { node: BinaryNode; right: Of<F, Scalar> }[] = [];
  let first: FormulaNode = node;
  for (; first.kind === 'binary'; first = first.left) {
    links.push({ node: first, right: compiler.scalar(first.right) });
  }
  links.reverse();
  const start = compiler.scalar(first);
  // No step for the operators in between: each would repeat all before it.
  return (frame) => {
    let value = start(frame);
    for (const link of links) value = applied(link.node.operator, value, link.right(frame));
    return value;
  };
}

function applied(operator: BinaryNode['operator'], left: Scalar, right: Scalar): Scalar {
  if (operator === '=' || operator === '<>') return sameScalar(left, right) === (operator === '=');
  const a = left as Exact;
  const b = right as Exact;
  switch (operator) {
    case '+':
      return add(a, b);
    case '-':
      return subtract(a, b);
    case '*':
      return multiply(a, b);
    case '/':
      return divide(a, b);
    case '<':
      return compare(a, b) < 0;
    case '<=':
      return compare(a, b) <= 0;
    case '>':
      return compare(a, b) > 0;
    case '>=':
      return compare(a, b) >= 0;
  }
}

function compilePair<F>(node: BinaryNode, compiler: Compiler<F>): Of<F, Scalar> {
  if (node.operator === '=' || node.operator === '<>') {
    const left = compiler.scalar(node.left);
    const right = compiler.scalar(node.right);
    const wanted = node.operator === '=';
    return (frame) => sameScalar(left(frame), right(frame)) === wanted;
  }
  const left = compiler.number(node.left);
  const right = compiler.number(node.right);
  switch (node.operator) {
    case '+':
      return (frame) => add(left(frame), right(frame));
    case '-':
      return (frame) => subtract(left(frame), right(frame));
    case '*':
      return (frame) => multiply(left(frame), right(frame));
    case '/':
      return (frame) => divide(left(frame), right(frame));
    case '<':
      return (frame) => compare(left(frame), right(frame)) < 0;
    case '<=':
      return (frame) => compare(left(frame), right(frame)) <= 0;
    case '>':
      return (frame) => compare(left(frame), right(frame)) > 0;
    case '>=':
      return (frame) => compare(left(frame), right(frame)) >= 0;
  }
}

function compileCall<F>(call: CallNode, compiler: Compiler<F>): Of<F, Scalar> {
  const known = formulaFunctions.get(call.name);
  if (known !== undefined) return known.compile(call, compiler);
  const numbers = call.args.filter((arg) => arg.kind !== 'text');
  return compiler.binder.host(
    call,
    numbers.map((arg) => compiler.number(arg)),
  );
}
