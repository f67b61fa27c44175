// How the amount of a line comes about where its formula is one product: a percentage of an amount,
// or a quantity at a rate. Documents print it. Whether it is the whole amount is checked when the
// line is made.
import type { Of } from '../../../base/formula/function-kinds.ts';
import type { BinaryNode, FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import { decimalText } from '../../../base/numbers/decimal-text.ts';
import {
  absolute,
  compare,
  type Exact,
  fraction,
  isZero,
  multiply,
  one,
} from '../../../base/numbers/exact.ts';
import type { LineBasis } from '../line-basis.ts';
import type { CompiledContext } from './compiled-context.ts';
import type { Frame } from './formula-frame.ts';

export type CompiledBasis = {
  readonly base: Of<Frame, Exact>;
  readonly factor: Of<Frame, Exact>;
  /** The base is an amount, and the factor a part of it. */
  readonly isPercentage: boolean;
  readonly unit: string | null;
};

export function compileBasis(
  node: FormulaNode,
  context: CompiledContext,
  compiled: (node: FormulaNode) => Of<Frame, Exact>,
): CompiledBasis | null {
  const product = productOf(node);
  if (product === null) return null;
  const { left, right } = product;
  for (const [base, factor] of [
    [left, right],
    [right, left],
  ] as const) {
    if (!isFactor(factor)) continue;
    const isPercentage = isAmount(base);
    if (!isPercentage && !isQuantity(base)) continue;
    return {
      base: compiled(base),
      factor: compiled(factor),
      isPercentage,
      unit: isPercentage ? null : unitOf(base, context),
    };
  }
  return null;
}

/** Of a formula that is a product, or is one under a condition: IF(…, a * b, 0). */
function productOf(node: FormulaNode): BinaryNode | null {
  if (node.kind === 'binary') return node.operator === '*' ? node : null;
  const [, then, otherwise] = node.kind === 'call' && node.name === 'IF' ? node.args : [];
  const isNothing = otherwise?.kind === 'number' && isZero(otherwise.value);
  return then !== undefined && isNothing ? productOf(then) : null;
}

function isFactor(node: FormulaNode): boolean {
  return node.kind === 'number' || (node.kind === 'name' && node.space === null);
}

const amountSpaces = new Set(['comp', 'bill']);

/** Made of amounts of the bill alone. */
function isAmount(node: FormulaNode): boolean {
  let hasAmount = false;
  let hasOther = false;
  walk(node, (part) => {
    if (part.kind === 'name') {
      if (part.space !== null && amountSpaces.has(part.space)) hasAmount = true;
      else hasOther = true;
    } else if (part.kind === 'call') {
      if (part.name === 'SUMCAT') hasAmount = true;
      else if (part.name !== 'MAX' && part.name !== 'MIN') hasOther = true;
    }
  });
  return hasAmount && !hasOther;
}

const quantitySpaces = new Set(['usage', 'qty', 'input']);

function isQuantity(node: FormulaNode): boolean {
  if (node.kind === 'call') return node.name === 'HIST';
  return node.kind === 'name' && node.space !== null && quantitySpaces.has(node.space);
}

function unitOf(node: FormulaNode, { slots, metered, unmetered }: CompiledContext): string | null {
  const [first] = node.kind === 'call' ? node.args : [];
  const input = node.kind === 'name' && node.space !== 'input' ? node.id : textOf(first);
  if (input === null) return node.type.unit ?? null;
  const slot = slots.inputs.get(input) ?? -1;
  return metered[slot]?.unit ?? unmetered[slot]?.unit ?? null;
}

function textOf(node: FormulaNode | undefined): string | null {
  return node?.kind === 'text' ? node.value : null;
}

const hundred = fraction(100, 1);

/** Undefined if the product, for its share of the term, is not the amount. */
export function lineBasis(
  { base, factor, isPercentage, unit }: CompiledBasis,
  frame: Frame,
  amount: { exact: Exact; share: Exact },
): LineBasis | undefined {
  // Of a formula under a condition that does not hold, nothing may be read.
  if (isZero(amount.exact)) return undefined;
  const of = base(frame);
  const rate = factor(frame);
  const product = multiply(multiply(of, rate), amount.share);
  if (compare(product, amount.exact) !== 0) return undefined;
  if (!isPercentage) return { quantity: decimalText(of), unit, rate: decimalText(rate) };
  if (compare(absolute(rate), one) > 0) return undefined;
  return { percent: decimalText(multiply(rate, hundred)), of: decimalText(of) };
}
