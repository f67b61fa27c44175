// Step 5: values that are given by hand, for components that say so.

import type { Tx } from '../base/db/pool.ts';
import { eventsOf, insertEvents } from '../domain/events/events-store.ts';
import type { ComponentDefinition } from '../domain/rating/definitions/definitions.ts';
import { findRowSubscriptions, type RowSubscription } from '../domain/terms/eligible-store.ts';
import { type ManualValue, saveManualValues } from '../domain/terms/inputs-store.ts';
import { getTerm, noteInputs, type Term } from '../domain/terms/store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import {
  numbersIn,
  type RefusedRow,
  readEach,
  refusedRow,
  subscriptionOf,
  type UploadRow,
} from './upload-rows.ts';
import { rowsOf, uploadResult, uploadStep } from './upload-step.ts';

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
  const events = eventsOf('term.components_posted', 'termID', [termId]);
  await insertEvents(tx, tenantId, events, job.now);
  const given = values.filter((one) => one.value !== null).length;
  return uploadResult('value', given, saved);
}

/** The checked rows to be stored; throws if any row is rejected. */
async function readRows(tx: Tx, request: StepRequest): Promise<ManualValue[]> {
  const { tenantId } = request.tenant;
  const rows = rowsOf<UploadRow>(request);
  const term = await getTerm(tx, tenantId, request.termId ?? 0);
  const { pricing } = await termRules(tx, tenantId, term);
  const known: ValueLookups = {
    term,
    subscriptions: await findRowSubscriptions(tx, tenantId, term, numbersIn(rows)),
    components: componentsOf(pricing.components ?? []),
  };
  const read = (row: UploadRow) => readRow(row, known);
  return readEach('compsData', rows, read, (value) => value.component);
}

/** What the rows may name. */
type ValueLookups = {
  term: Term;
  subscriptions: ReadonlyMap<string, RowSubscription>;
  components: ReadonlyMap<string, readonly ComponentDefinition[]>;
};

/** By name, and by label, which several may have, where no other component has it as its name. */
function componentsOf(components: readonly ComponentDefinition[]): ValueLookups['components'] {
  const byLabel = Map.groupBy(components, (one) => one.label ?? one.name);
  return new Map([...byLabel, ...Map.groupBy(components, (one) => one.name)]);
}

const decimal = /^[+-]?\d{1,15}(\.\d{1,15})?$/;

/** Subscription, component, value. */
function readRow(row: UploadRow, known: ValueLookups): ManualValue | RefusedRow {
  const [number = '', name = '', text = ''] = row.map((item) => item.trim());
  const subscription = subscriptionOf(number, known);
  if ('code' in subscription) return subscription;
  const { subscription_id: subscriptionId } = subscription;
  const component = componentOf(name, known);
  if ('code' in component) return component;
  if (text === '') return { subscriptionId, component: component.name, value: null };
  if (!decimal.test(text))
    return refusedRow(2, 'INVALID_NUMBER', `'${text}' is not a number`, text);
  const mayBeNegative = component.type === 'Discount' || component.type === 'Subsidy';
  if (/^-.*[1-9]/.test(text) && !mayBeNegative) {
    const message = `${component.name} is a ${component.type} and cannot be below zero`;
    return refusedRow(2, 'INVALID_NUMBER', message, text);
  }
  return { subscriptionId, component: component.name, value: text };
}

function componentOf(
  name: string,
  { term, components }: ValueLookups,
): ComponentDefinition | RefusedRow {
  const [component, ...others] = components.get(name) ?? [];
  if (!component) {
    const message = `Service ${term.context_code} has no component ${name}`;
    return refusedRow(1, 'COMPONENT_NOT_FOUND', message, name);
  }
  if (others.length > 0) {
    const names = [component, ...others].map((one) => one.name).join(', ');
    const message = `${name} is the label of ${names}: write the name of one of them`;
    return refusedRow(1, 'COMPONENT_NOT_FOUND', message, name);
  }
  const isTaken = component.manual === 'Optional' || component.manual === 'Required';
  if (isTaken && component.type !== 'LateSurcharge') return component;
  const message = `${component.name} does not take uploaded values`;
  return refusedRow(1, 'COMPONENT_NOT_MANUAL', message, name);
}
