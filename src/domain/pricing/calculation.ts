// What is computed from definitions alone: their mistakes, and what one imagined bill comes to.
import { parseDay } from '../../base/days.ts';
import { LookupError } from '../../base/formula/function-kinds.ts';
import { ArithmeticError } from '../../base/numbers/exact.ts';
import type { Bill } from '../rating/bill.ts';
import type { CheckResult } from '../rating/check/check-plan.ts';
import {
  compilePriceBook,
  contextOn,
  type Definitions,
  type PriceBook,
} from '../rating/compile/price-book.ts';
import type { FrozenInputs } from '../rating/frozen-inputs.ts';
import { compileHoldRules } from '../rating/rate/hold.ts';
import { rateBill } from '../rating/rate/rate-bill.ts';
import { RatingError } from '../rating/rating-error.ts';
import { checkFrom } from './check-definitions.ts';

export type CheckTask = { kind: 'check'; definitions: Definitions; from: string };
export type SimulationTask = {
  kind: 'simulate';
  definitions: Definitions;
  frozen: FrozenInputs;
  explain: boolean;
};
export type CalculationTask = CheckTask | SimulationTask;

export type Simulated = { bill: Bill; isHeld: boolean };

export function calculate(task: CheckTask): CheckResult;
export function calculate(task: SimulationTask): Simulated;
export function calculate(task: CalculationTask): CheckResult | Simulated;
export function calculate(task: CalculationTask): CheckResult | Simulated {
  if (task.kind === 'check') return checkFrom(task.definitions, task.from);
  return simulated(compilePriceBook(task.definitions), task);
}

export function simulated(
  book: PriceBook,
  { frozen, explain }: Pick<SimulationTask, 'frozen' | 'explain'>,
): Simulated {
  const bill = rateBill(book, frozen, { explain });
  return { bill, isHeld: bill.status !== 'Error' && isHeld(book, bill, frozen) };
}

/** Whether a rule of the context would hold the bill; a rule that cannot be computed would not. */
function isHeld(book: PriceBook, bill: Bill, frozen: FrozenInputs): boolean {
  const day = parseDay(frozen.term.endDate);
  if (day === undefined) return false;
  try {
    return compileHoldRules(contextOn(book, day))(bill, frozen, null).length > 0;
  } catch (error) {
    const isRefusal =
      error instanceof ArithmeticError ||
      error instanceof LookupError ||
      error instanceof RatingError;
    if (isRefusal) return false;
    throw error;
  }
}
