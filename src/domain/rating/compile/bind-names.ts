// Binds the names and host functions of checked formulas to slots of a frame.
import type { Binder, Of, Scalar } from '../../../base/formula/function-kinds.ts';
import { wholeNumber } from '../../../base/formula/number-functions.ts';
import type { CallNode, NameNode } from '../../../base/formula/syntax.ts';
import type { Table } from '../../../base/formula/table.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { add, divide, type Exact, fraction, maximum, zero } from '../../../base/numbers/exact.ts';
import { charge, chargeExplained } from '../rate/budget.ts';
import { RatingError } from '../rating-error.ts';
import type { AccountNumbers, BillNumbers, Frame } from './formula-frame.ts';
import type { Slots } from './slots.ts';

/** No bill looks further back than this. */
const historyTermsMax = 1200;

export type Binding = {
  readonly slots: Slots;
  readonly categories: ReadonlyMap<string, readonly number[]>;
  /** The amount the inherited rule would give, for SUPER(). */
  readonly inherited: Of<Frame, Exact> | null;
  /** The formula's text, where its steps are to be recorded. */
  readonly traced: string | null;
  readonly withSlabs: boolean;
};

export function makeBinder(binding: Binding): Binder<Frame> {
  const binder: Binder<Frame> = {
    name: (node) => bindName(node, binding.slots),
    host: (call, args) => bindHost(call, args, binding),
  };
  if (binding.withSlabs) {
    binder.slab = (frame, use) => {
      if (frame.slabs === null) frame.slabs = [use];
      else frame.slabs.push(use);
    };
  }
  const text = binding.traced;
  if (text !== null) {
    binder.step = (frame, node, value) => {
      if (frame.trace === null) return;
      chargeExplained(frame.trace.shown);
      frame.trace.steps.push({ node, text: shortened(text, node), value });
    };
  }
  return binder;
}

/** Longest part of a formula that is shown in full; so explanations grow with formulas alone. */
const shownMax = 400;

function shortened(text: string, { from, to }: { from: number; to: number }): string {
  return to - from <= shownMax ? text.slice(from, to) : `${text.slice(from, from + shownMax - 1)}…`;
}

function slotOf(slots: ReadonlyMap<string, number>, name: string): number {
  return slots.get(name) ?? -1;
}

function bindName(node: NameNode, slots: Slots): Of<Frame, Scalar> {
  const { space, id } = node;
  switch (space) {
    case null: {
      const slot = slotOf(slots.values, id);
      if (node.type.kind === 'table') return (frame) => tableValue(frame, slot, id);
      return (frame) => frame.items[slot]?.constant ?? computedValue(frame, slot, id);
    }
    case 'usage': {
      const slot = slotOf(slots.inputs, id);
      return (frame) => frame.usage[slot] ?? zero;
    }
    case 'qty': {
      const slot = slotOf(slots.inputs, id);
      return (frame) => frame.quantities[slot] ?? zero;
    }
    case 'input': {
      const slot = slotOf(slots.connectionInputs, id);
      return (frame) => frame.shared.inputs[slot] ?? missingInput(id);
    }
    case 'comp': {
      const slot = slotOf(slots.components, id);
      return (frame) => fraction(frame.amounts[slot] as number, frame.shared.currencyPower);
    }
    case 'segment':
      return bindSegment(id);
    case 'term':
      return id === 'days' ? (frame) => fraction(frame.termDays, 1) : (frame) => frame.termMonths;
    case 'connection':
      return (frame) => frame.shared.isFirstBill;
    case 'account': {
      const key = id as keyof AccountNumbers;
      return (frame) => frame.shared.account[key];
    }
    case 'history':
      return (frame) => frame.shared.averageAmount;
    default: {
      const key = id as keyof BillNumbers;
      return (frame) => fraction(frame.shared.bill[key], frame.shared.currencyPower);
    }
  }
}

function bindSegment(id: string): Of<Frame, Exact> {
  if (id === 'days') return (frame) => fraction(frame.days, 1);
  if (id === 'factor') return (frame) => frame.factor;
  return id === 'months' ? (frame) => frame.months : (frame) => frame.quantity;
}

function tableValue(frame: Frame, slot: number, name: string): Scalar {
  const table = (frame.items[slot]?.constant ?? computedValue(frame, slot, name)) as Table;
  charge(frame.shared.spent, table.keys.length);
  return table;
}

/** A value given by a formula: evaluated once a frame. */
function computedValue(frame: Frame, slot: number, name: string): Scalar {
  frame.results ??= [];
  const known = frame.results[slot];
  if (known !== undefined) return known;
  const item = frame.items[slot];
  const formula = item?.formula;
  if (formula === null || formula === undefined) {
    throw new RatingError('VALUE_UNDEFINED', `value \`${name}\` has no price on the billed days`);
  }
  charge(frame.shared.spent, item?.steps ?? 0);
  const result = formula(frame);
  frame.results[slot] = result;
  return result;
}

function missingInput(name: string): never {
  throw new RatingError('INPUT_MISSING', `the custom field \`${name}\` has no value`);
}

function bindHost(
  call: CallNode,
  args: readonly Of<Frame, Exact>[],
  binding: Binding,
): Of<Frame, Exact> {
  const literal = call.args.find((arg) => arg.kind === 'text')?.value ?? '';
  if (call.name === 'SUMCAT') {
    const members = binding.categories.get(literal) ?? [];
    return (frame) => categorySum(frame, members);
  }
  if (call.name === 'SUPER') return binding.inherited ?? (() => zero);
  const slot = slotOf(binding.slots.inputs, literal);
  return bindHistory(call.name, slot, args[0] as Of<Frame, Exact>);
}

function categorySum(frame: Frame, members: readonly number[]): Exact {
  const amounts = frame.amounts;
  let sum = 0;
  for (const slot of members) sum += amounts[slot] as number;
  if (!Number.isSafeInteger(sum)) {
    throw new RatingError('AMOUNT_OUT_OF_RANGE', 'a category adds up to more than a bill can hold');
  }
  return fraction(sum, frame.shared.currencyPower);
}

function bindHistory(name: string, slot: number, terms: Of<Frame, Exact>): Of<Frame, Exact> {
  return (frame) => {
    const count = wholeNumber(terms(frame), historyTermsMax, `the terms of ${name}`);
    const known = frame.shared.history[slot];
    if (known === undefined || count < 1) return zero;
    const skip = frame.historySkip;
    if (name === 'HIST') return pastQuantity(known[skip + count - 1]);
    const last = Math.min(skip + count, known.length);
    if (last <= skip) return zero;
    let result = pastQuantity(known[skip]);
    for (let index = skip + 1; index < last; index++) {
      const quantity = pastQuantity(known[index]);
      result = name === 'HISTMAX' ? maximum(result, quantity) : add(result, quantity);
    }
    return name === 'HISTAVG' ? divide(result, fraction(last - skip, 1)) : result;
  };
}

function pastQuantity(term: { readonly quantity: string } | undefined): Exact {
  if (term === undefined) return zero;
  const quantity = exactFrom(term.quantity);
  if (quantity === undefined) {
    throw new RatingError('INVALID_NUMBER', `a past quantity is not a number: ${term.quantity}`);
  }
  return quantity;
}
