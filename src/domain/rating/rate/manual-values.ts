// Values uploaded by hand: they replace what a component computes on this bill, or on its first
// days.
import { lastDay } from '../../../base/days.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { signOf } from '../../../base/numbers/exact.ts';
import { roundToMinorUnits } from '../../../base/numbers/rounding.ts';
import type { BillError } from '../bill.ts';
import type { CompiledComponent, CompiledContext } from '../compile/compiled-context.ts';
import type { CompiledPlan } from '../compile/compiled-plan.ts';
import type { FrozenInputs } from '../frozen-inputs.ts';
import { optionalDay } from '../periods/billable-days.ts';

/** In minor units, with the last day on which it replaces what rules compute. */
export type ManualAmount = { readonly amount: number; readonly until: number };

/** By component slot; null where nothing was uploaded. */
export type ManualAmounts = ReadonlyMap<number, ManualAmount> | null;

/** True if a manual value replaces what Segment rules compute up to a day. */
export function isByHand(amounts: ManualAmounts, slot: number, day: number): boolean {
  return amounts !== null && day <= (amounts.get(slot)?.until ?? Number.NEGATIVE_INFINITY);
}

/** Days of skipped bills with manual values of their own, and what is charged for them. */
export type CatchUp = { readonly until: number; readonly charged: number[] };

/** Begins with the values themselves; null if all values apply to the whole bill. */
export function catchUpOf(amounts: ManualAmounts, context: CompiledContext): CatchUp | null {
  if (amounts === null) return null;
  let catchUp: CatchUp | null = null;
  for (const [slot, { amount, until }] of amounts) {
    if (until === lastDay) continue;
    catchUp ??= { until, charged: context.noAmounts.slice() };
    catchUp.charged[slot] = amount;
  }
  return catchUp;
}

export function manualAmounts(
  frozen: FrozenInputs,
  context: CompiledContext,
  tracks: readonly { readonly compiledPlan: CompiledPlan }[],
  errors: BillError[],
): ManualAmounts {
  const isEmpty = (frozen.manual?.length ?? 0) === 0;
  const amounts = isEmpty ? null : readRows(frozen, context, errors);
  for (const { compiledPlan } of tracks) checkRequired(compiledPlan, amounts, errors);
  return amounts;
}

function readRows(
  frozen: FrozenInputs,
  context: CompiledContext,
  errors: BillError[],
): ReadonlyMap<number, ManualAmount> {
  const amounts = new Map<number, ManualAmount>();
  const number = frozen.connection?.connectionNumber;
  for (const [connection, name, text, day] of frozen.manual ?? []) {
    if (number !== undefined && connection !== number) continue;
    const component = findComponent(context, name);
    if (component === undefined) {
      const message = `there is no component \`${name}\``;
      errors.push({ code: 'COMPONENT_NOT_FOUND', message, component: name });
      continue;
    }
    // An empty text takes an earlier upload back.
    if (text === '') amounts.delete(component.slot);
    else {
      const amount = amountOf(component, text, context, errors);
      const until = optionalDay(day, lastDay, 'manual');
      if (amount !== null) amounts.set(component.slot, { amount, until });
    }
  }
  return amounts;
}

function amountOf(
  component: CompiledComponent,
  text: string,
  context: CompiledContext,
  errors: BillError[],
): number | null {
  const { name, type, manual } = component.definition;
  const isTaken = manual === 'Optional' || manual === 'Required';
  // A late surcharge is not part of the bill's own amount, so it takes no manual value.
  if (!isTaken || component.isLate) {
    const message = `\`${name}\` does not take uploaded values`;
    errors.push({ code: 'COMPONENT_NOT_MANUAL', message, component: name });
    return null;
  }
  const value = exactFrom(text);
  const mayBeNegative = type === 'Discount' || type === 'Subsidy';
  if (value === undefined || (signOf(value) < 0 && !mayBeNegative)) {
    const message = `the uploaded value of \`${name}\` is not an amount for a ${type}: ${text}`;
    errors.push({ code: 'INVALID_NUMBER', message, component: name });
    return null;
  }
  return roundToMinorUnits(value, component.rounding, context.currencyScale);
}

/** By name first, then by label. */
function findComponent(context: CompiledContext, name: string): CompiledComponent | undefined {
  const slot = context.slots.components.get(name);
  const byName = slot === undefined ? undefined : context.components[slot];
  return byName ?? context.components.find((component) => component?.label === name);
}

function checkRequired(
  compiledPlan: CompiledPlan,
  amounts: ManualAmounts,
  errors: BillError[],
): void {
  for (const slot of compiledPlan.requiredManual) {
    if (isByHand(amounts, slot, lastDay)) continue;
    const component = compiledPlan.context.components[slot]?.definition.name ?? '';
    if (errors.some((error) => error.component === component)) continue;
    const message = `the value of \`${component}\` has not been uploaded`;
    errors.push({ code: 'MANUAL_COMPONENT_MISSING', message, component });
  }
}
