// The frozen inputs of a bill by slot, read once: variants, custom fields, quantities, account.

import { firstDay, lastDay } from '../../../base/days.ts';
import type { Scalar } from '../../../base/formula/function-kinds.ts';
import { compileTable } from '../../../base/formula/table.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { compare, type Exact, zero } from '../../../base/numbers/exact.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { AccountNumbers, Shared, Source, ValueItem } from '../compile/formula-frame.ts';
import type { ConnectionInputDefinition, ValueDefinition } from '../definitions/definitions.ts';
import type { FrozenConnection, FrozenInputs, FrozenVariant } from '../frozen-inputs.ts';
import { appended, optionalDay } from '../periods/billable-days.ts';
import { overlay, type Piece } from '../periods/value-history.ts';
import { RatingError } from '../rating-error.ts';

/** A subscription's quantity from a day on. */
export type QuantityStep = { readonly from: number; readonly quantity: Exact };
/** By input slot, rising. */
export type QuantitySteps = readonly (readonly QuantityStep[] | undefined)[];

/** A customer's own history of one value. */
export type Variant = { readonly slot: number; readonly pieces: readonly Piece[] };
/** null where the subscription has none. */
export type Variants = readonly Variant[] | null;

export function variantsOf(connection: FrozenConnection, context: CompiledContext): Variants {
  const given = connection.variants ?? null;
  if (given === null || given.length === 0) return null;
  let variants: { slot: number; pieces: Piece[] }[] | null = null;
  for (const variant of given) {
    const slot = context.slots.values.get(variant.name);
    const definition = slot === undefined ? undefined : context.values[slot];
    if (slot === undefined || definition === undefined) continue;
    if (definition.overridable !== 1) {
      const message = `\`${variant.name}\` is not overridable for one subscription`;
      throw new RatingError('VARIANT_NOT_OVERRIDABLE', message);
    }
    const piece = {
      from: optionalDay(variant.fromDate, firstDay, 'variants.fromDate'),
      to: optionalDay(variant.toDate, lastDay, 'variants.toDate'),
      item: variantItem(variant, definition),
    };
    const known = variantOf(variants, slot);
    if (known === undefined) variants = appended(variants, { slot, pieces: [piece] });
    else known.pieces.push(piece);
  }
  for (const variant of variants ?? []) {
    // Where two overlap, the one that began later holds.
    if (variant.pieces.length > 1) variant.pieces = overlay(latestFirst(variant.pieces));
  }
  return variants;
}

export function variantOf<Of extends Variant>(
  variants: readonly Of[] | null,
  slot: number,
): Of | undefined {
  if (variants === null) return undefined;
  for (const variant of variants) if (variant.slot === slot) return variant;
  return undefined;
}

function latestFirst(pieces: readonly Piece[]): Piece[][] {
  const sorted = [...pieces].sort(
    (a, b) => b.from - a.from || a.to - b.to || (a.item.text < b.item.text ? -1 : 1),
  );
  return sorted.map((piece) => [piece]);
}

function variantItem(variant: FrozenVariant, definition: ValueDefinition): ValueItem {
  const constant = variantConstant(variant, definition);
  if (constant === undefined) {
    const message = `the variant of \`${variant.name}\` is no ${definition.type}`;
    throw new RatingError('INVALID_NUMBER', message);
  }
  const date = variant.fromDate;
  const source: Source = typeof date === 'string' ? { kind: 'Variant', date } : { kind: 'Variant' };
  return { constant, formula: null, steps: 0, text: String(variant.value), source };
}

function variantConstant(variant: FrozenVariant, definition: ValueDefinition): Scalar | undefined {
  switch (definition.type) {
    case 'Number':
    case 'Percent':
      return exactFrom(variant.value);
    case 'Text':
      return typeof variant.value === 'string' ? variant.value : undefined;
    case 'Boolean':
      return booleanFrom(variant.value);
    case 'Table': {
      const rows = Array.isArray(variant.value) ? variant.value : [];
      return compileTable(definition.columns ?? [], rows).table ?? undefined;
    }
  }
}

function booleanFrom(value: unknown): boolean | undefined {
  const text = String(value).toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** Custom fields by slot; undefined where there is no value, which only matters if one is read. */
export function customFieldsOf(
  connection: FrozenConnection,
  context: CompiledContext,
): (Scalar | undefined)[] {
  const fields: (Scalar | undefined)[] = context.noFields.slice();
  for (const definition of context.fieldsWithDefault) {
    const slot = context.slots.connectionInputs.get(definition.name) as number;
    fields[slot] = customField(definition, definition.defaultValue);
  }
  const given = connection.connectionInputs ?? null;
  if (given === null) return fields;
  for (const { name, value } of given) {
    const slot = context.slots.connectionInputs.get(name);
    const definition = slot === undefined ? undefined : context.fields[slot];
    if (slot === undefined || definition === undefined) continue;
    if (value !== null && value !== undefined && value !== '') {
      fields[slot] = customField(definition, value);
    }
  }
  return fields;
}

function customField(definition: ConnectionInputDefinition, value: unknown): Scalar {
  if (definition.type !== 'Number' && definition.type !== 'Boolean') return String(value);
  const read = definition.type === 'Number' ? exactFrom(value) : booleanFrom(value);
  if (read === undefined) {
    const message = `the custom field \`${definition.name}\` is no ${definition.type}: ${value}`;
    throw new RatingError('INVALID_NUMBER', message);
  }
  return read;
}

/** Quantities over time. */
export function quantityStepsOf(
  connection: FrozenConnection,
  context: CompiledContext,
): QuantitySteps {
  const given = connection.unmeteredInputs ?? null;
  if (given === null || given.length === 0) return noSteps;
  const steps: (QuantityStep[] | undefined)[] = context.noInputs.slice();
  for (const entry of given) {
    const slot = context.slots.inputs.get(entry.name);
    if (slot === undefined) continue;
    const quantity = exactFrom(entry.value);
    if (quantity === undefined) {
      throw new RatingError('INVALID_NUMBER', `the quantity \`${entry.name}\` is not a number`);
    }
    const from = optionalDay(entry.fromDate, firstDay, 'unmeteredInputs.fromDate');
    const own = steps[slot];
    if (own === undefined) steps[slot] = [{ from, quantity }];
    else own.push({ from, quantity });
  }
  for (const own of steps) {
    if (own !== undefined && own.length > 1) own.sort((a, b) => a.from - b.from);
  }
  return steps;
}

const noSteps: QuantitySteps = [];

/** Some steps before a day, and others from it on. */
export function joinedSteps(
  before: readonly QuantityStep[] | undefined,
  after: readonly QuantityStep[] | undefined,
  day: number,
): readonly QuantityStep[] | undefined {
  if (after === undefined) return before;
  const kept = before?.filter((step) => step.from < day) ?? [];
  const held = after.findLast((step) => step.from <= day);
  const last = kept.at(-1);
  const isOther = held && (last === undefined || compare(last.quantity, held.quantity) !== 0);
  const first = isOther ? [{ from: day, quantity: held.quantity }] : [];
  return [...kept, ...first, ...after.filter((step) => step.from > day)];
}

export function accountNumbers(frozen: Pick<FrozenInputs, 'account'>): AccountNumbers {
  const account = frozen.account ?? null;
  if (account === null) return emptyAccount;
  return {
    arrears: amountFrom(account.arrears),
    overdue: amountFrom(account.overdue),
    overdueAmountDays: amountFrom(account.overdueAmountDays),
    wallet: amountFrom(account.wallet),
    deposit: amountFrom(account.deposit),
  };
}

const emptyAccount: AccountNumbers = {
  arrears: zero,
  overdue: zero,
  overdueAmountDays: zero,
  wallet: zero,
  deposit: zero,
};

export function amountFrom(given: string | number | null | undefined): Exact {
  if (given === undefined || given === null) return zero;
  const amount = exactFrom(given);
  if (amount === undefined) throw new RatingError('INVALID_NUMBER', `not an amount: ${given}`);
  return amount;
}

/** Billed quantities of earlier terms by input slot, newest first, as text until one is read. */
export function historyOf(frozen: FrozenInputs, context: CompiledContext): Shared['history'] {
  const given = frozen.usageHistory ?? null;
  if (given === null) return noHistory;
  const history: (readonly { readonly quantity: string }[] | undefined)[] =
    context.noInputs.slice();
  for (const name in given) {
    const slot = context.slots.inputs.get(name);
    if (slot !== undefined) history[slot] = given[name] ?? noTerms;
  }
  return history;
}

const noTerms: readonly { readonly quantity: string }[] = [];
const noHistory: Shared['history'] = [];
