// What a function of the language is made of: how it is checked and how it is compiled. The
// families (logic, numbers, rounding, tables) each list theirs; functions.ts collects them.
import type { Exact } from '../numbers/exact.ts';
import type { SlabUse } from './slab.ts';
import type { CallNode, FormulaCode, FormulaNode, FormulaType, NameNode } from './syntax.ts';
import type { Table } from './table.ts';

export type Scalar = Exact | string | boolean | Table;
/** A compiled expression: reads everything from the frame it is given. */
export type Of<Frame, Result> = (frame: Frame) => Result;

export type Checker = {
  typeOf(node: FormulaNode): FormulaType;
  /** Reports unless the node has the wanted type. */
  want(node: FormulaNode, kind: FormulaType['kind'], role: string): void;
  report(code: FormulaCode, node: FormulaNode, message: string): void;
};

export type Compiler<Frame> = {
  number(node: FormulaNode): Of<Frame, Exact>;
  boolean(node: FormulaNode): Of<Frame, boolean>;
  table(node: FormulaNode): Of<Frame, Table>;
  scalar(node: FormulaNode): Of<Frame, Scalar>;
  readonly binder: Binder<Frame>;
};

/** What the language does not know itself: where names and a few functions get their values. */
export type Binder<Frame> = {
  name(node: NameNode): Of<Frame, Scalar>;
  host(call: CallNode, args: readonly Of<Frame, Exact>[]): Of<Frame, Exact>;
  /** Called with each slab calculation, if a breakdown is wanted. */
  slab?(frame: Frame, use: SlabUse): void;
  /** Called with each result, if an explanation is wanted. */
  step?(frame: Frame, node: FormulaNode, value: Scalar): void;
};

export type FormulaFunction = {
  /** Number of arguments: at least, at most, and with `step` only each so many more. */
  readonly arity: { readonly min: number; readonly max: number; readonly step?: number };
  readonly usage: string;
  check(call: CallNode, checker: Checker): FormulaType;
  compile<Frame>(call: CallNode, compiler: Compiler<Frame>): Of<Frame, Scalar>;
};

/** Thrown while evaluating where a table has no row for a key. */
export class LookupError extends Error {
  readonly code = 'LOOKUP_NO_ROW';
}
