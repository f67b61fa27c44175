// Security deposit lines of a plan: amounts, or formulas over custom fields and values.
import { checkFormula } from '../../../base/formula/check.ts';
import { compileNumber } from '../../../base/formula/compile.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { type Exact, one, zero } from '../../../base/numbers/exact.ts';
import { roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import { formulaProblems, type PlanProblem } from '../check/plan-problem.ts';
import { makeBinder } from '../compile/bind-names.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { Frame } from '../compile/formula-frame.ts';
import { makeScope } from '../compile/name-scope.ts';
import { type PriceBook, pricingPlanOn } from '../compile/price-book.ts';
import type { PlanDefinition, SecurityAttribute } from '../definitions/definitions.ts';
import { securityAttributesOf } from '../definitions/inheritance.ts';
import type { FrozenConnection, FrozenInputs } from '../frozen-inputs.ts';
import { requiredDay } from '../periods/billable-days.ts';
import { itemsFor, makeWindow } from '../periods/segments.ts';
import { quantitiesOn } from './evaluation.ts';
import { accountNumbers, customFieldsOf, quantityStepsOf, variantsOf } from './prepared-inputs.ts';

export function checkSecurityAttributes(
  plan: PlanDefinition,
  context: CompiledContext,
): PlanProblem[] {
  const scope = makeScope(context.names, 'Security');
  return (plan.securityAttributes ?? []).flatMap((item, index) => {
    const place = { tariffCode: plan.code, field: `securityAttributes[${index}].formula` };
    if (typeof item.formula === 'string') {
      return formulaProblems(place, checkFormula(item.formula, scope, 'number').problems);
    }
    if (item.amount === null || item.amount === undefined) return [];
    if (exactFrom(item.amount) !== undefined) return [];
    const field = `securityAttributes[${index}].amount`;
    const message = `the amount of \`${item.name}\` is not a number`;
    return [{ code: 'INVALID_NUMBER', ...place, field, position: null, message }];
  });
}

export type SecurityLine = {
  readonly name: string;
  /** Minor units. */
  readonly amount: number;
  readonly attribute: SecurityAttribute;
};

/** What a new subscriber of a plan deposits, by the prices of a day; throws as formulas do. */
export function securityLines(
  book: PriceBook,
  tariffCode: string,
  date: string,
  connection: FrozenConnection,
): SecurityLine[] {
  return linesOn(book, tariffCode, date, connection, () => true);
}

/** What falls due with the first bill, by the prices of the last day of its term. */
export function firstBillDeposits(
  book: PriceBook,
  tariffCode: string,
  { term, connection }: Pick<FrozenInputs, 'term' | 'connection'>,
): SecurityLine[] {
  const isDue = ({ dueAt }: SecurityAttribute) => dueAt === 'FirstBill';
  const lines = linesOn(book, tariffCode, term.endDate, connection ?? {}, isDue);
  return lines.filter(({ amount }) => amount > 0);
}

function linesOn(
  book: PriceBook,
  tariffCode: string,
  date: string,
  connection: FrozenConnection,
  isMeant: (attribute: SecurityAttribute) => boolean,
): SecurityLine[] {
  const day = requiredDay(date, 'date');
  const compiledPlan = pricingPlanOn(book, tariffCode, day);
  const attributes = securityAttributesOf(compiledPlan.chain).filter(isMeant);
  if (attributes.length === 0) return [];
  const { currencyScale } = compiledPlan.context;
  const rounding = { scale: currencyScale, mode: 'HalfUp' } as const;
  const frame = signUpFrame(compiledPlan, day, connection);
  return attributes.map((attribute) => {
    const exact = attributeAmount(attribute, compiledPlan, frame);
    const amount = roundToMinorUnits(exact, rounding, currencyScale);
    return { name: attribute.name, amount, attribute };
  });
}

function attributeAmount(
  attribute: SecurityAttribute,
  compiledPlan: CompiledPlan,
  frame: Frame,
): Exact {
  if (typeof attribute.formula !== 'string') return exactFrom(attribute.amount) ?? zero;
  const { context } = compiledPlan;
  const scope = makeScope(context.names, 'Security');
  const { node } = checkFormula(attribute.formula, scope, 'number');
  if (node === null) return zero;
  const { slots, categories } = context;
  const binding = { slots, categories, inherited: null, traced: null, withSlabs: false };
  return compileNumber(node, makeBinder(binding))(frame);
}

/** A term of the one day: nothing has been used or billed yet. */
function signUpFrame(compiledPlan: CompiledPlan, day: number, connection: FrozenConnection): Frame {
  const { context } = compiledPlan;
  const window = makeWindow(day, day, one, [{ from: day, to: day }]);
  const steps = quantityStepsOf(connection, context);
  return {
    shared: {
      inputs: customFieldsOf(connection, context),
      history: [],
      account: accountNumbers({}),
      isFirstBill: true,
      currencyPower: context.currencyPower,
      averageAmount: zero,
      spent: { steps: 0 },
      bill: { current: 0, net: 0, tax: 0, arrears: 0, payable: 0 },
    },
    items: itemsFor(compiledPlan, window, day, variantsOf(connection, context)),
    results: null,
    usage: [],
    quantities: quantitiesOn(context, steps, window, day),
    amounts: [],
    days: 1,
    factor: one,
    months: one,
    quantity: one,
    termDays: 1,
    termMonths: one,
    day,
    historySkip: 0,
    slabs: null,
    trace: null,
  };
}
