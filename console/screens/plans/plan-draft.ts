// A plan as the form holds it, and as the API takes it.
import type { Plan } from '../../api/queries/plans.ts';
import { toField, toWire } from '../../parts/days.ts';

export type Row = Record<string, string | null>;
type Item = Record<string, unknown>;

export type ValueDraft = {
  key: string;
  name: string;
  formula: string;
  rows: Row[] | null;
  fromDate: string;
  toDate: string;
};

export type RuleDraft = {
  key: string;
  component: string;
  formula: string;
  when: string;
  quantity: string;
  rate: string;
  scope: string;
  prorate: string;
  window: string;
  exclude: boolean;
  fromDate: string;
  toDate: string;
  description: string;
};

export type InputDraft = {
  key: string;
  input: string;
  source: string;
  required: boolean;
  estimate: string;
  /** Fields that the form does not show; they are sent back unchanged. */
  rest: Item;
};

export type PlanDraft = {
  name: string;
  uniqueLabel: string;
  description: string;
  parentTariffCode: string;
  visibility: string;
  archived: boolean;
  valueFormulas: ValueDraft[];
  componentRules: RuleDraft[];
  usageData: InputDraft[];
};

let made = 0;

/** Names an item of the form for as long as it is shown. */
export function newKey(): string {
  made += 1;
  return `item${made}`;
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const day = (value: unknown) => toField(text(value));

export function draftOf(plan: Plan): PlanDraft {
  return {
    name: plan.name ?? plan.label,
    uniqueLabel: plan.uniqueLabel,
    description: plan.description ?? '',
    parentTariffCode: plan.parentTariffCode ?? '',
    visibility: plan.visibility ?? 'Public',
    archived: plan.archiveStatus === 1,
    valueFormulas: (plan.valueFormulas ?? []).map(valueDraftOf),
    componentRules: (plan.componentRules ?? []).map(ruleDraftOf),
    usageData: (plan.usageData ?? []).map(inputDraftOf),
  };
}

export function valueDraftOf(value: Item): ValueDraft {
  return {
    key: newKey(),
    name: text(value.name),
    formula: text(value.formula),
    rows: (value.rows as Row[] | null | undefined) ?? null,
    fromDate: day(value.fromDate),
    toDate: day(value.toDate),
  };
}

export function ruleDraftOf(rule: Item): RuleDraft {
  return {
    key: newKey(),
    component: text(rule.component),
    formula: text(rule.formula),
    when: text(rule.when),
    quantity: text(rule.quantity),
    rate: text(rule.rate),
    scope: text(rule.scope) || 'Segment',
    prorate: text(rule.prorate) || 'None',
    window: text(rule.window) || 'Current',
    exclude: rule.exclude === 1,
    fromDate: day(rule.fromDate),
    toDate: day(rule.toDate),
    description: text(rule.description),
  };
}

export function inputDraftOf(item: Item): InputDraft {
  const { input, source, required, estimate, ...rest } = item;
  return {
    key: newKey(),
    input: text(input),
    source: text(source),
    required: required === 1,
    estimate: text(estimate),
    rest,
  };
}

/** Without what is empty or usual, so that two equal plans have equal forms. */
function given(item: Item, usual: Item = {}): Item {
  return Object.fromEntries(
    Object.entries(item).filter(
      ([name, value]) =>
        value !== '' && value !== null && value !== undefined && value !== usual[name],
    ),
  );
}

const dated = (item: { fromDate: string; toDate: string }) => ({
  fromDate: toWire(item.fromDate),
  toDate: toWire(item.toDate),
});

const usualRule = { scope: 'Segment', prorate: 'None', window: 'Current', exclude: 0 };

/** The arrays of the plan as calls send them. */
export function pricingOf(draft: PlanDraft) {
  return {
    valueFormulas: draft.valueFormulas.map(({ key: _, ...value }) =>
      given({ ...value, ...dated(value) }),
    ),
    componentRules: draft.componentRules.map(({ key: _, ...rule }) =>
      given({ ...rule, exclude: rule.exclude ? 1 : 0, ...dated(rule) }, usualRule),
    ),
    usageData: draft.usageData.map(({ key: _, rest, ...item }) => ({
      ...rest,
      ...given({ ...item, required: item.required ? 1 : 0 }, { required: 0 }),
    })),
  } as unknown as Required<Pick<Plan, 'valueFormulas' | 'componentRules' | 'usageData'>>;
}

export function headOf(draft: PlanDraft) {
  return {
    name: draft.name,
    uniqueLabel: draft.uniqueLabel,
    description: draft.description,
    parentTariffCode: draft.parentTariffCode,
    visibility: draft.visibility as 'Public',
    archiveStatus: draft.archived ? (1 as const) : (0 as const),
  };
}

/** The whole plan, to be compared with another. */
export function contentOf(draft: PlanDraft) {
  return { ...headOf(draft), ...pricingOf(draft) };
}
