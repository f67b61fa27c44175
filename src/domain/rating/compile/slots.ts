// Slots: each name of a context gets a number, the same in all versions of the context, so that one
// bill can use frames of different versions.
import type { ContextDefinition } from '../definitions/definitions.ts';

export type Slots = {
  readonly values: ReadonlyMap<string, number>;
  readonly components: ReadonlyMap<string, number>;
  /** Metered and unmetered inputs together. */
  readonly inputs: ReadonlyMap<string, number>;
  readonly connectionInputs: ReadonlyMap<string, number>;
};

export function slotsOf(contexts: readonly ContextDefinition[]): Slots {
  const values = new Map<string, number>();
  const components = new Map<string, number>();
  const inputs = new Map<string, number>();
  const connectionInputs = new Map<string, number>();
  for (const context of contexts) {
    number(values, context.values);
    number(components, context.components);
    number(inputs, context.meteredInputs);
    number(inputs, context.unmeteredInputs);
    number(connectionInputs, context.connectionInputs);
  }
  return { values, components, inputs, connectionInputs };
}

function number(slots: Map<string, number>, items: readonly { name: string }[] | undefined): void {
  // By name, so that the order of an array can have no influence on anything.
  for (const name of (items ?? []).map((item) => item.name).sort()) {
    if (!slots.has(name)) slots.set(name, slots.size);
  }
}
