// What the server finds wrong with the plan under work, by its place in the form.
import { BillingError } from '../../../sdk/client.ts';
import type { FormulaProblem } from '../../parts/formula-language.ts';

export type Problem = FormulaProblem & { path: string };

export type Problems = {
  all: readonly Problem[];
  /** Of one field, such as `componentRules.0.formula`. */
  at: (path: string) => FormulaProblem[];
  /** Of an item with all its fields, such as `componentRules.0`. */
  within: (path: string) => Problem[];
};

const ownPlace = /^(?:tariffs\[0\]|tariff)\./;

export function problemsIn(error: unknown): Problems {
  const all = error instanceof BillingError ? listed(error) : [];
  return {
    all,
    at: (path) => all.filter((one) => one.path === path),
    within: (path) => all.filter((one) => one.path === path || one.path.startsWith(`${path}.`)),
  };
}

function listed({ error }: BillingError): Problem[] {
  const details = error.details.length > 0 ? error.details : [{ ...error, position: null }];
  return details.map(({ field, message, position }) => ({
    path: pathOf(field ?? ''),
    message,
    position: position ?? null,
  }));
}

/** `tariffs[0].componentRules[2].formula` is `componentRules.2.formula` of the form. */
function pathOf(field: string): string {
  return field.replace(ownPlace, '').replaceAll(/\[(\d+)\]/g, '.$1');
}
