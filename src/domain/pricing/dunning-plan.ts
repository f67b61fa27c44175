// The dunning plan of a pricing context: what is done so many days after a debt was due.

import type { Tx } from '../../base/db/pool.ts';
import { type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { listTemplateKinds } from '../tenants/templates-store.ts';

export const dunningActions = ['Remind', 'Fee', 'List', 'Disconnect'] as const;
export type DunningAction = (typeof dunningActions)[number];

export type DunningStep = {
  readonly daysAfterDue: number;
  readonly action: DunningAction;
  /** Of the mail that reminds. */
  readonly templateID?: number | null;
  /** Of the fee, with its amount in major units. */
  readonly component?: string | null;
  readonly amount?: string | number | null;
};

export type DunningPlan = {
  readonly steps: readonly DunningStep[];
  /** 1: who was disconnected for a debt is connected again when it is paid. */
  readonly reconnect?: number;
};

/** How the balances of prepaid subscriptions are watched. */
export type PrepaidRules = {
  /** In major units: below it the customer is warned, once until topped up. */
  readonly lowBalance: string | number;
  readonly templateID: number;
  /** 1: who has nothing left is disconnected after the days of grace. */
  readonly disconnect?: number;
  readonly graceDays?: number;
};

type Pricing = {
  readonly dunning?: DunningPlan | null;
  readonly prepaid?: PrepaidRules | null;
  readonly components?: readonly { readonly name: string }[] | null;
};

export async function assertDunning(
  tx: Tx,
  tenantId: number,
  { dunning, prepaid, components }: Pricing,
): Promise<void> {
  if (prepaid) {
    const known = await listTemplateKinds(tx, tenantId, [prepaid.templateID]);
    const problems = reminderProblems(prepaid, 'service.prepaid', known);
    if (problems.length > 0) throw errorFromDetails(problems);
  }
  if (!dunning) return;
  const ids = dunning.steps.flatMap((step) => step.templateID ?? []);
  const kinds = await listTemplateKinds(tx, tenantId, ids);
  const names = new Set((components ?? []).map((component) => component.name));
  const problems = dunning.steps.flatMap((step, index) => {
    const field = `service.dunning.steps[${index}]`;
    const before = dunning.steps[index - 1];
    return [
      ...(before && before.daysAfterDue > step.daysAfterDue
        ? [wrong(`${field}.daysAfterDue`, 'Steps are in the order of daysAfterDue')]
        : []),
      ...(step.action === 'Remind' ? reminderProblems(step, field, kinds) : []),
      ...(step.action === 'Fee' ? feeProblems(step, field, names) : []),
    ];
  });
  if (problems.length > 0) throw errorFromDetails(problems);
}

function wrong(field: string, message: string): ErrorDetail {
  return { field, code: 'DEFINITION_INVALID', message };
}

function reminderProblems(
  { templateID }: Pick<DunningStep, 'templateID'>,
  field: string,
  kinds: ReadonlyMap<number, string>,
): ErrorDetail[] {
  if (templateID && kinds.get(templateID) === 'Email') return [];
  const message = templateID
    ? `No template of type Email has the id ${templateID}`
    : 'A step Remind needs the templateID of an e-mail';
  return [{ field: `${field}.templateID`, code: 'TEMPLATE_NOT_FOUND', message }];
}

function feeProblems(
  { component, amount }: DunningStep,
  field: string,
  names: ReadonlySet<string>,
): ErrorDetail[] {
  const message = component
    ? `The pricing context has no component ${component}`
    : 'A step Fee needs a component';
  return [
    ...(names.has(component ?? '') ? [] : [wrong(`${field}.component`, message)]),
    ...(Number(amount ?? 0) > 0
      ? []
      : [wrong(`${field}.amount`, 'A step Fee needs an amount above zero')]),
  ];
}
