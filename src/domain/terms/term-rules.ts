// What the context of a term says about readings, inputs and manual values on its last day.
import type { Tx } from '../../base/db/pool.ts';
import type { ContextPricing } from '../pricing/context.ts';
import { listContextVersions } from '../pricing/contexts-store.ts';
import type { TermRow } from './store.ts';

const graceDaysDefault = 5;

/** As a context stores them; rating itself does not read these. */
type EstimationRule = {
  readonly allowed?: number | null;
  readonly maxConsecutive?: number | null;
  readonly defaultDaily?: string | number | null;
};

export type Estimation = {
  consecutiveMax: number | undefined;
  defaultDaily: string | number | null;
};

export type TermRules = {
  pricing: ContextPricing;
  /** The last day of readings that the term takes. */
  lastReadingDate: Temporal.PlainDate;
  /** By metered input; undefined where it may not be estimated. */
  estimations: ReadonlyMap<string, Estimation | undefined>;
};

export async function termRules(
  tx: Tx,
  tenantId: number,
  term: Pick<TermRow, 'context_id' | 'end_date'>,
): Promise<TermRules> {
  const versions = await listContextVersions(tx, tenantId, term.context_id);
  const held = versions.findLast(
    ({ effective_date }) => effective_date === null || effective_date <= term.end_date,
  );
  const pricing = (held ?? versions[0])?.definition;
  if (!pricing) throw new Error(`context ${term.context_id} has no version`);
  const days = pricing.readingGraceDays ?? graceDaysDefault;
  return {
    pricing,
    lastReadingDate: Temporal.PlainDate.from(term.end_date).add({ days }),
    estimations: new Map(
      (pricing.meteredInputs ?? []).map((input) => [input.name, estimationOf(input)]),
    ),
  };
}

function estimationOf(input: object): Estimation | undefined {
  const { estimation } = input as { estimation?: EstimationRule | null };
  if (estimation?.allowed === 0) return undefined;
  return {
    consecutiveMax: estimation?.maxConsecutive ?? undefined,
    defaultDaily: estimation?.defaultDaily ?? null,
  };
}
