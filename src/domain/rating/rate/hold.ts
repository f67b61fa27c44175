// The hold rules of a context: which bills an operator should review before they are posted.
import { checkFormula } from '../../../base/formula/check.ts';
import { compileBoolean } from '../../../base/formula/compile.ts';
import { LookupError, type Of } from '../../../base/formula/function-kinds.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { ArithmeticError, type Exact, one, zero } from '../../../base/numbers/exact.ts';
import type { Bill } from '../bill.ts';
import { makeBinder } from '../compile/bind-names.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { Frame } from '../compile/formula-frame.ts';
import { makeScope } from '../compile/name-scope.ts';
import type { HoldRule } from '../definitions/definitions.ts';
import type { FrozenInputs } from '../frozen-inputs.ts';
import { accountNumbers, historyOf } from './prepared-inputs.ts';

export type HoldReason = { readonly name: string; readonly reason: string };

/**
 * Judges a draft; `averageAmount` is the mean of the last bills in major units, if there are any.
 */
export type HoldJudge = (
  bill: Bill,
  frozen: FrozenInputs,
  averageAmount: Exact | null,
) => HoldReason[];

/** The hold rules of a context, compiled. Rules with mistakes were refused when they were saved. */
export function compileHoldRules(context: CompiledContext): HoldJudge {
  const scope = makeScope(context.names, 'Hold');
  const { slots, categories } = context;
  const binding = { slots, categories, inherited: null, traced: null, withSlabs: false };
  const rules: { rule: HoldRule; when: Of<Frame, boolean> }[] = [];
  for (const rule of holdRulesOf(context)) {
    const { node, problems } = checkFormula(rule.when, scope, 'boolean');
    if (node === null || problems.length > 0) continue;
    rules.push({ rule, when: compileBoolean(node, makeBinder(binding)) });
  }
  return (bill, frozen, averageAmount) => {
    const frame = holdFrame(context, bill, frozen, averageAmount);
    return rules
      .filter(({ when }) => isTrue(when, frame))
      .map(({ rule }) => ({ name: rule.name, reason: rule.reason ?? rule.name }));
  };
}

/** Those of the context, or the usual ones where it says nothing. */
export function holdRulesOf(context: CompiledContext): readonly HoldRule[] {
  return context.definition.holdRules ?? defaultRules(context);
}

/** A rule that cannot be computed holds nothing. */
function isTrue(when: Of<Frame, boolean>, frame: Frame): boolean {
  try {
    return when(frame);
  } catch (error) {
    if (error instanceof ArithmeticError || error instanceof LookupError) return false;
    throw error;
  }
}

/** Far above the usual amount, or no use where there always was some. */
function defaultRules(context: CompiledContext): HoldRule[] {
  const unusual = 'AND(history.averageAmount > 0, bill.current > 3 * history.averageAmount)';
  const metered = context.definition.meteredInputs ?? [];
  return [
    { name: 'unusualAmount', when: unusual, reason: 'more than 3 times the average bill' },
    ...metered.map(({ name }) => {
      const used = [1, 2, 3].map((term) => `HIST("${name}", ${term}) > 0`).join(', ');
      const reason = `no ${name} used, unlike the last 3 terms`;
      return { name: `noUse.${name}`, when: `AND(usage.${name} = 0, ${used})`, reason };
    }),
  ];
}

function holdFrame(
  context: CompiledContext,
  bill: Bill,
  frozen: FrozenInputs,
  averageAmount: Exact | null,
): Frame {
  const usage: (Exact | undefined)[] = [];
  for (const item of bill.usage) {
    const slot = context.slots.inputs.get(item.input);
    if (slot !== undefined) usage[slot] = exactFrom(item.quantity);
  }
  return {
    shared: {
      inputs: [],
      history: historyOf(frozen, context),
      account: accountNumbers(frozen),
      isFirstBill: frozen.connection?.isFirstBill === true,
      currencyPower: context.currencyPower,
      averageAmount: averageAmount ?? zero,
      spent: { steps: 0 },
      bill: {
        current: bill.currentCharges,
        net: bill.currentCharges - bill.taxAmount,
        tax: bill.taxAmount,
        arrears: bill.arrears,
        payable: bill.payableWithinDueDate,
      },
    },
    items: [],
    results: null,
    usage,
    quantities: [],
    amounts: [],
    days: bill.days,
    factor: one,
    months: one,
    quantity: one,
    termDays: bill.days,
    termMonths: one,
    day: 0,
    historySkip: 0,
    slabs: null,
    trace: null,
  };
}
