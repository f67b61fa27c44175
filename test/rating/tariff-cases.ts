// Reads the worked tariffs that every implementation of the rules must reproduce.
import { readFileSync } from 'node:fs';
import type { ContextDefinition, PlanDefinition } from '../../src/domain/rating/definitions.ts';
import type { Facts } from '../../src/domain/rating/facts.ts';

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

export type Scenario = Facts & { id: string; title: string; expected: ExpectedBill };

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

export type TariffCases = {
  slabTableUsedByFormulaVectors: { upTo: string | null; rate: string }[];
  cases: TariffCase[];
  formulaVectors: { formula: string; expect?: string; error?: string; note?: string }[];
  roundingVectors: { value: string; scale: number; mode: string; expect: string }[];
  usageVectors: UsageVector[];
  planChecks: PlanCheck[];
};

export const tariffCases: TariffCases = JSON.parse(
  readFileSync(new URL('../../../shared/cases/tariffs.json', import.meta.url), 'utf8'),
);
