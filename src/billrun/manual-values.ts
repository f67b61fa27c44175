// Step 5: values that are given by hand, for components that say so.
import type { Tx } from '../base/db/pool.ts';
import { type ErrorCode, type ErrorDetail, errorFromUpload } from '../base/errors.ts';
import type { ComponentDefinition } from '../domain/rating/definitions.ts';
import { findRowSubscriptions, type RowSubscription } from '../domain/terms/eligible-store.ts';
import { type ManualValue, saveManualValues } from '../domain/terms/inputs-store.ts';
import { getTerm, noteInputs } from '../domain/terms/store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import type { Finish, StepJob, StepRequest } from './step.ts';
import { rowsOf, storedOf, uploadStep } from './upload-step.ts';

/** Subscription, component, value. */
export type ManualRow = readonly [string, string, string];

export const postManualValuesStep = uploadStep({
  operation: 'post-manual-component-values',
  read: readRows,
  store,
});

async function store(tx: Tx, job: StepJob, values: ManualValue[]): Promise<Finish> {
  const { tenantId } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const termId = job.termId ?? 0;
  const saved = await saveManualValues(tx, tenantId, termId, values, stamp);
  const step = {
    stage: 'ComponentsPosted' as const,
    hasChanged: saved.changed + saved.removed > 0,
  };
  await noteInputs(tx, tenantId, termId, step, stamp);
  const given = values.filter((one) => one.value !== null).length;
  return storedOf('value', given, saved);
}

/** What is to be stored of the rows, if nothing stands against any of them. */
async function readRows(tx: Tx, request: StepRequest): Promise<ManualValue[]> {
  const { tenantId } = request.tenant;
  const rows = rowsOf<ManualRow>(request);
  const term = await getTerm(tx, tenantId, request.termId ?? 0);
  const { pricing } = await termRules(tx, tenantId, term);
  const numbers = [...new Set(rows.map(([number]) => number.trim()))];
  const known = {
    subscriptions: await findRowSubscriptions(tx, tenantId, term, numbers),
    components: componentsOf(pricing.components ?? []),
    context: term.context_code,
    term: term.label,
  };
  const problems: ErrorDetail[] = [];
  const values: ManualValue[] = [];
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    const read = readRow(row, known);
    const twice = 'subscriptionId' in read && `${read.subscriptionId} ${read.component}`;
    if (!('subscriptionId' in read)) problems.push(detail(index, read));
    else if (twice && seen.has(twice)) problems.push(detail(index, repeated(row)));
    else {
      if (twice) seen.add(twice);
      values.push(read);
    }
  });
  if (problems.length > 0) throw errorFromUpload(problems);
  return values;
}

type Refused = { column: 0 | 1 | 2; code: ErrorCode; message: string; rejectedValue: string };

type Known = {
  subscriptions: ReadonlyMap<string, RowSubscription>;
  components: ReadonlyMap<string, readonly ComponentDefinition[]>;
  context: string;
  term: string;
};

function detail(index: number, { column, code, message, rejectedValue }: Refused): ErrorDetail {
  return { field: `compsData[${index}][${column}]`, code, message, rejectedValue };
}

function repeated([number, component]: ManualRow): Refused {
  const message = `${component} of ${number} stands twice in this upload`;
  return { column: 1, code: 'DUPLICATE_ROW', message, rejectedValue: component };
}

/** By name, and by label, which several may have, where no other component has it as its name. */
function componentsOf(components: readonly ComponentDefinition[]): Known['components'] {
  const byLabel = Map.groupBy(components, (one) => one.label ?? one.name);
  return new Map([...byLabel, ...Map.groupBy(components, (one) => one.name)]);
}

const decimal = /^[+-]?\d{1,15}(\.\d{1,15})?$/;

function readRow(row: ManualRow, known: Known): ManualValue | Refused {
  const [number, name, text] = row.map((item) => item.trim()) as [string, string, string];
  const refuse = (
    column: 0 | 1 | 2,
    code: ErrorCode,
    message: string,
    rejectedValue: string,
  ): Refused => ({ column, code, message, rejectedValue });
  const subscription = known.subscriptions.get(number);
  if (!subscription) {
    return refuse(0, 'SUBSCRIPTION_NOT_FOUND', `No subscription has the number ${number}`, number);
  }
  if (!subscription.is_in_term) {
    const message = `Term ${known.term} does not bill ${number}`;
    return refuse(0, 'SUBSCRIPTION_NOT_IN_TERM', message, number);
  }
  const [component, ...others] = known.components.get(name) ?? [];
  if (!component) {
    return refuse(1, 'COMPONENT_NOT_FOUND', `${known.context} has no component ${name}`, name);
  }
  if (others.length > 0) {
    const names = [component, ...others].map((one) => one.name).join(', ');
    const message = `${name} is the label of ${names}: write the name of one of them`;
    return refuse(1, 'COMPONENT_NOT_FOUND', message, name);
  }
  const isTaken = component.manual === 'Optional' || component.manual === 'Required';
  if (!isTaken || component.type === 'LateSurcharge') {
    return refuse(1, 'COMPONENT_NOT_MANUAL', `${component.name} takes no uploaded value`, name);
  }
  const { subscription_id: subscriptionId } = subscription;
  if (text === '') return { subscriptionId, component: component.name, value: null };
  if (!decimal.test(text)) return refuse(2, 'INVALID_NUMBER', `'${text}' is no number`, text);
  const mayBeNegative = component.type === 'Discount' || component.type === 'Subsidy';
  if (/^-.*[1-9]/.test(text) && !mayBeNegative) {
    const message = `${component.name} is a ${component.type} and cannot be below zero`;
    return refuse(2, 'INVALID_NUMBER', message, text);
  }
  return { subscriptionId, component: component.name, value: text };
}
