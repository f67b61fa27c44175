// The closed set of node types of a formula, its types, and the problems found in it.
import type { Exact } from '../numbers/exact.ts';

export const formulaLengthMax = 4000;
export const formulaDepthMax = 64;

export type BinaryOperator = '+' | '-' | '*' | '/' | '=' | '<>' | '<' | '<=' | '>' | '>=';

/** `from` and `to` are character offsets in the text, so that steps can be shown as written. */
type TypedSpan = { readonly from: number; readonly to: number; type: FormulaType };

export type NumberNode = TypedSpan & { readonly kind: 'number'; readonly value: Exact };
export type TextNode = TypedSpan & { readonly kind: 'text'; readonly value: string };
export type BooleanNode = TypedSpan & { readonly kind: 'boolean'; readonly value: boolean };
export type NameNode = TypedSpan & {
  readonly kind: 'name';
  readonly space: string | null;
  readonly id: string;
};
export type NegateNode = TypedSpan & { readonly kind: 'negate'; readonly operand: FormulaNode };
export type BinaryNode = TypedSpan & {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: FormulaNode;
  readonly right: FormulaNode;
};
export type CallNode = TypedSpan & {
  readonly kind: 'call';
  /** Upper case. */
  readonly name: string;
  readonly args: readonly FormulaNode[];
};
export type FormulaNode =
  | NumberNode
  | TextNode
  | BooleanNode
  | NameNode
  | NegateNode
  | BinaryNode
  | CallNode;

/**
 * The type of an expression. `unknown` is what an expression has whose type could not be found; it
 * fits everywhere, so that one mistake is reported once. Units travel with plain names only.
 */
export type FormulaType = {
  readonly kind: 'number' | 'text' | 'boolean' | 'table' | 'unknown';
  readonly unit?: string | null;
  /** A number that is printed as a percentage. */
  readonly isPercent?: boolean;
  readonly columns?: readonly string[];
};

export const numberType: FormulaType = { kind: 'number' };
export const textType: FormulaType = { kind: 'text' };
export const booleanType: FormulaType = { kind: 'boolean' };
export const unknownType: FormulaType = { kind: 'unknown' };

export type FormulaCode =
  | 'FORMULA_SYNTAX'
  | 'FORMULA_TYPE'
  | 'FORMULA_UNKNOWN_NAME'
  | 'FORMULA_UNKNOWN_FUNCTION'
  | 'FORMULA_ARITY'
  | 'FORMULA_CYCLE'
  | 'FORMULA_SCOPE'
  | 'FORMULA_TOO_LONG'
  | 'FORMULA_TOO_DEEP';

export type FormulaProblem = {
  readonly code: FormulaCode;
  readonly position: number;
  readonly message: string;
};

/** Thrown inside the parser only; parseFormula turns it into a problem. */
export class FormulaSyntaxError extends Error {
  readonly problem: FormulaProblem;

  constructor(code: FormulaCode, position: number, message: string) {
    super(message);
    this.problem = { code, position, message };
  }
}
