// One line of text for a bill: the sum with its numbers, as a person would write it.
import type { Scalar } from '../../../base/formula/function-kinds.ts';
import { type SlabUse, slabBreakdown } from '../../../base/formula/slab.ts';
import type { BinaryNode, CallNode, FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import {
  decimalText,
  exactText,
  minorUnitsText,
  parseDecimal,
} from '../../../base/numbers/decimal-text.ts';
import { Exact, equals, fraction, multiply } from '../../../base/numbers/exact.ts';
import { round } from '../../../base/numbers/rounding.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import type { Frame, TraceStep } from '../compile/formula-frame.ts';

/** A bill has no room for more; longer sums are left to the full explanation. */
const textMax = 160;
/** A longer formula has no short text. */
const formulaMax = 400;
const decimalsShown = 6;
const hundred = fraction(100, 1);
const slabNames = new Set(['SLAB', 'SLABVOLUME', 'SLABPREVIOUS']);

type TextRequest = {
  readonly rule: CompiledRule;
  readonly frame: Frame;
  readonly steps: readonly TraceStep[];
  readonly exact: Exact;
  readonly amount: number;
  readonly currencyScale: number;
};

export function lineText(request: TextRequest): string {
  const { rule, frame, steps, amount, currencyScale } = request;
  const result = minorUnitsText(amount, currencyScale);
  const root = rule.nodes[0];
  if (root === undefined || rule.text.length > formulaMax) return result;
  const values = new Map<FormulaNode, Scalar>();
  for (const step of steps) values.set(step.node, step.value);
  // With several slab calculations it would be a guess which call each belongs to.
  const slabs = frame.slabs?.length === 1 && slabCalls(root) === 1 ? [...frame.slabs] : [];
  const sum = rendered(root, values, slabs);
  const share = `${frame.days}/${frame.termDays} days`;
  const isPart = rule.isProrated && frame.days !== frame.termDays;
  const whole = isPart ? `${isSum(sum) ? `(${sum})` : sum} x ${share}` : sum;
  if (whole === result || whole.length > textMax) return result;
  const exact = short(request.exact);
  const isRounded = exact !== result && `${exact}` !== stripped(result);
  if (whole === exact) return isRounded ? `${exact}, rounded ${result}` : result;
  return isRounded ? `${whole} = ${exact}, rounded ${result}` : `${whole} = ${result}`;
}

function slabCalls(root: FormulaNode): number {
  let count = 0;
  walk(root, (node) => {
    if (node.kind === 'call' && slabNames.has(node.name)) count += 1;
  });
  return count;
}

function isSum(text: string): boolean {
  return text.includes(' + ') || text.includes(' - ');
}

/**
 * Names by their values, calls by their results, slabs by their parts, choices by what was chosen.
 */
function rendered(
  node: FormulaNode,
  values: ReadonlyMap<FormulaNode, Scalar>,
  slabs: SlabUse[],
): string {
  if (node.kind === 'binary') {
    const left = operand(node, node.left, values, slabs);
    const right = operand(node, node.right, values, slabs);
    return `${left} ${node.operator === '*' ? 'x' : node.operator} ${right}`;
  }
  if (node.kind === 'call') {
    const use = slabNames.has(node.name) ? slabs.shift() : undefined;
    if (use !== undefined) return slabText(use);
    const chosen = chosenArgument(node, values);
    if (chosen !== undefined) return rendered(chosen, values, slabs);
  }
  const value = values.get(node);
  if (!(value instanceof Exact)) return value === undefined ? '?' : String(value);
  if (node.type.isPercent === true) return `${short(multiply(value, hundred))}%`;
  return short(value);
}

/** The branch an IF took, or the argument that was the smallest or largest. */
function chosenArgument(
  call: CallNode,
  values: ReadonlyMap<FormulaNode, Scalar>,
): FormulaNode | undefined {
  if (call.name === 'IF') return call.args.slice(1).find((arg) => values.has(arg));
  if (call.name !== 'MIN' && call.name !== 'MAX') return undefined;
  const result = values.get(call) as Exact;
  return call.args.find((arg) => equals(values.get(arg) as Exact, result));
}

/** In brackets where it would be read as another sum without. */
function operand(
  parent: BinaryNode,
  node: FormulaNode,
  values: ReadonlyMap<FormulaNode, Scalar>,
  slabs: SlabUse[],
): string {
  const text = rendered(node, values, slabs);
  const { operator } = parent;
  const isTakenAway = node === parent.right && (operator === '-' || operator === '/');
  if (isSum(text)) return isTakenAway || operator === '*' || operator === '/' ? `(${text})` : text;
  const isProduct = text.includes(' x ') || text.includes(' / ');
  return isProduct && isTakenAway && operator === '/' ? `(${text})` : text;
}

function slabText(use: SlabUse): string {
  const parts = slabBreakdown(use);
  const texts = parts.map(({ quantity, rate, flat }) => {
    const rated = `${shortText(quantity)} x ${rate}`;
    return flat === undefined ? rated : `${rated} + ${flat}`;
  });
  return texts.join(' + ');
}

/** At most six decimals: enough to follow a sum, short enough to print. */
function short(value: Exact): string {
  return shortText(exactText(value));
}

function shortText(text: string): string {
  const value = parseDecimal(text.replace('…', ''));
  const point = text.indexOf('.');
  if (value === undefined || point < 0 || text.length - point - 1 <= decimalsShown) return text;
  return `${decimalText(round(value, decimalsShown, 'HalfUp'))}…`;
}

function stripped(amount: string): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
}
