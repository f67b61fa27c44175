// The worked tariffs, whose rates are invented, and small cases of formulas, rounding, usage and
// checks of plans. Each figure was calculated twice, in exact arithmetic.
import { readFileSync } from 'node:fs';
import type {
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';

export type ExpectedBill = {
  usage: Record<string, string>;
  segments?: { fromDate: string; toDate: string; days: number }[];
  amounts: Record<string, string>;
  adjustmentLines?: Record<string, string>;
  currentCharges: string;
  taxAmount: string;
  arrears: string;
  roundingAdjustment: string;
  payableWithinDueDate: string;
  latePaymentSurcharge: string;
  payableAfterDueDate: string;
};

export type Scenario = FrozenInputs & { id: string; title: string; expected: ExpectedBill };

export type TariffCase = {
  id: string;
  title: string;
  service: ContextDefinition;
  tariffs: PlanDefinition[];
  scenarios: Scenario[];
};

export type PlanCheck = {
  id: string;
  title: string;
  components: NonNullable<ContextDefinition['components']>;
  tariffs: PlanDefinition[];
  error?: string;
  amounts?: Record<string, string>;
};

export type UsageVector = {
  id: string;
  title: string;
  meters?: { mf: number; digits: number; previous: string; current: string }[];
  estimate?: {
    previous: string;
    mf: number;
    days: number;
    sameTermLastYear?: { quantity: string; days: number };
    previousTerm?: { quantity: string; days: number };
  };
  trueUp?: { readings: string[]; mf: number };
  expect?: string;
  expectReading?: string;
  expectBilled?: string[];
  expectCarried?: string[];
  error?: string;
};

type Vectors = {
  /** The table that the formulas call slab. */
  slabs: { upTo: string | null; rate: string }[];
  formulas: { formula: string; expect?: string; error?: string }[];
  roundings: { value: string; scale: number; mode: string; expect: string }[];
  usages: UsageVector[];
  planChecks: PlanCheck[];
};

const tariffFiles = ['electricity', 'water', 'gas', 'internet', 'housing-society', 'software'];

export const tariffCases: TariffCase[] = tariffFiles.map((name) => readCase(`tariffs/${name}`));

export const vectors: Vectors = readCase('vectors');

function readCase(name: string) {
  return JSON.parse(readFileSync(new URL(`../cases/${name}.json`, import.meta.url), 'utf8'));
}
