// A version of a pricing context, ready for compiling plans against it.
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import type { Exact } from '../../../base/numbers/exact.ts';
import type { Rounding } from '../../../base/numbers/rounding.ts';
import { powerOfTen } from '../../../base/numbers/rounding.ts';
import type {
  ComponentDefinition,
  ConnectionInputDefinition,
  ContextDefinition,
  MeteredInputDefinition,
  UnmeteredInputDefinition,
  ValueDefinition,
  Version,
} from '../definitions/definitions.ts';
import { type ContextNames, contextNames } from './name-scope.ts';
import type { Slots } from './slots.ts';

export type CompiledContext = {
  readonly definition: ContextDefinition;
  readonly version: number;
  readonly slots: Slots;
  readonly names: ContextNames;
  readonly currencyScale: number;
  readonly currencyPower: number;
  /** By slot; undefined where this version lacks the name. */
  readonly values: readonly (ValueDefinition | undefined)[];
  readonly components: readonly (CompiledComponent | undefined)[];
  readonly metered: readonly (MeteredInputDefinition | undefined)[];
  readonly unmetered: readonly (UnmeteredInputDefinition | undefined)[];
  /** A zero for each component, to be copied. */
  readonly noAmounts: readonly number[];
  /** As long as there are inputs, and as long as there are custom fields, to be copied too. */
  readonly noInputs: readonly undefined[];
  readonly noFields: readonly undefined[];
  readonly fields: readonly (ConnectionInputDefinition | undefined)[];
  readonly fieldsWithDefault: readonly ConnectionInputDefinition[];
  /** Unmetered quantities of the subscription itself. */
  readonly agreedInputs: readonly AgreedInput[];
  /** Members by category; late surcharges are in none. */
  readonly categories: ReadonlyMap<string, readonly number[]>;
};

export type AgreedInput = {
  readonly slot: number;
  readonly changeInTerm: 'Split' | 'End' | 'Weighted';
  readonly fallback: Exact | undefined;
};

export type CompiledComponent = {
  readonly slot: number;
  readonly definition: ComponentDefinition;
  readonly label: string;
  readonly rounding: Rounding;
  readonly sequence: number;
  readonly isLate: boolean;
};

export const currencyScaleDefault = 2;

export function compileContext(version: Version<ContextDefinition>, slots: Slots): CompiledContext {
  const { definition } = version;
  const currencyScale = definition.currencyScale ?? currencyScaleDefault;
  const components = bySlot(definition.components, slots.components).map((item, slot) =>
    item === undefined ? undefined : compileComponent(item, slot, currencyScale),
  );
  const categories = new Map<string, number[]>();
  for (const component of components) {
    if (component === undefined || component.isLate) continue;
    for (const category of component.definition.categories ?? []) {
      const members = categories.get(category) ?? [];
      if (!members.includes(component.slot)) members.push(component.slot);
      categories.set(category, members);
    }
  }
  return {
    definition,
    version: version.version,
    slots,
    names: contextNames(definition),
    currencyScale,
    currencyPower: powerOfTen(currencyScale),
    values: bySlot(definition.values, slots.values),
    components,
    metered: bySlot(definition.meteredInputs, slots.inputs),
    unmetered: bySlot(definition.unmeteredInputs, slots.inputs),
    noAmounts: components.map(() => 0),
    noInputs: Array.from({ length: slots.inputs.size }, () => undefined),
    noFields: Array.from({ length: slots.connectionInputs.size }, () => undefined),
    fields: bySlot(definition.connectionInputs, slots.connectionInputs),
    fieldsWithDefault: (definition.connectionInputs ?? []).filter((item) => item.defaultValue),
    agreedInputs: agreedInputs(definition, slots),
    categories,
  };
}

function agreedInputs(definition: ContextDefinition, slots: Slots): AgreedInput[] {
  const agreed = (definition.unmeteredInputs ?? []).filter((item) => item.source !== 'Uploaded');
  return agreed.map((item) => ({
    slot: slots.inputs.get(item.name) as number,
    changeInTerm: item.changeInTerm ?? 'Split',
    fallback: exactFrom(item.defaultValue),
  }));
}

function compileComponent(
  definition: ComponentDefinition,
  slot: number,
  currencyScale: number,
): CompiledComponent {
  return {
    slot,
    definition,
    label: definition.label ?? definition.name,
    rounding: definition.rounding ?? { scale: currencyScale, mode: 'HalfUp' },
    sequence: definition.sequence ?? 0,
    isLate: definition.type === 'LateSurcharge',
  };
}

function bySlot<Item extends { name: string }>(
  items: readonly Item[] | undefined,
  slots: ReadonlyMap<string, number>,
): (Item | undefined)[] {
  const result: (Item | undefined)[] = Array.from({ length: slots.size });
  for (const item of items ?? []) {
    const slot = slots.get(item.name);
    if (slot !== undefined) result[slot] = item;
  }
  return result;
}
