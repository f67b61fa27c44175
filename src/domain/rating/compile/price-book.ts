// A price book: a context and its plans in all their versions, compiled once and asked for
// compiled plans.
import { firstDay, lastDay, parseDay } from '../../../base/days.ts';
import type { ContextDefinition, PlanDefinition, Version } from '../definitions/definitions.ts';
import { type Chain, chainOf, type PlanVersion } from '../definitions/inheritance.ts';
import { RatingError } from '../rating-error.ts';
import { type CompiledContext, compileContext } from './compiled-context.ts';
import { type CompiledPlan, compilePlan } from './compiled-plan.ts';
import { type Slots, slotsOf } from './slots.ts';

export type Definitions = {
  readonly contexts: readonly Version<ContextDefinition>[];
  readonly plans: readonly Version<PlanDefinition>[];
};

export type PriceBook = {
  readonly definitions: Definitions;
  readonly slots: Slots;
  readonly contexts: readonly Dated<CompiledContext>[];
  readonly plans: ReadonlyMap<string, readonly Dated<PlanVersion>[]>;
  readonly codeByLabel: ReadonlyMap<string, string>;
  readonly traced: boolean;
  /** CompiledPlans by plan code, made when first asked for. */
  readonly compiledPlans: Map<string, CompiledPlan[]>;
  planCount: number;
  /** The same book compiled to record steps; made when the first explanation is asked for. */
  explained: PriceBook | null;
};

/** Something that holds from a day until the next one begins. */
type Dated<Item> = { readonly from: number; readonly item: Item };

export function compilePriceBook(definitions: Definitions): PriceBook {
  return makeBook(definitions, false);
}

/** A book of one version of everything, for previews and tests. */
export function singleVersion(
  context: ContextDefinition,
  plans: readonly PlanDefinition[],
): Definitions {
  const first = <D>(definition: D) => ({ version: 1, effectiveDate: null, definition });
  return { contexts: [first(context)], plans: plans.map(first) };
}

export function explainedBook(book: PriceBook): PriceBook {
  book.explained ??= makeBook(book.definitions, true);
  return book.explained;
}

function makeBook(definitions: Definitions, traced: boolean): PriceBook {
  const slots = slotsOf(definitions.contexts.map((version) => version.definition));
  const plans = new Map<string, Version<PlanDefinition>[]>();
  const codeByLabel = new Map<string, string>();
  for (const version of definitions.plans) {
    const { code, uniqueLabel } = version.definition;
    const versions = plans.get(code);
    if (versions === undefined) plans.set(code, [version]);
    else versions.push(version);
    if (typeof uniqueLabel === 'string') codeByLabel.set(uniqueLabel, code);
  }
  return {
    definitions,
    slots,
    contexts: dated(definitions.contexts, (version) => compileContext(version, slots)),
    plans: new Map([...plans].map(([code, versions]) => [code, dated(versions, (v) => v)])),
    codeByLabel,
    traced,
    compiledPlans: new Map(),
    planCount: 0,
    explained: null,
  };
}

/** In order of time; the first version holds from the beginning. */
function dated<D, Item>(
  versions: readonly Version<D>[],
  make: (version: Version<D>) => Item,
): Dated<Item>[] {
  const sorted = [...versions].sort((a, b) => a.version - b.version);
  return sorted.map((version, index) => ({
    from: index === 0 ? firstDay : effectiveDay(version),
    item: make(version),
  }));
}

function effectiveDay(version: { effectiveDate: string | null }): number {
  return (version.effectiveDate === null ? undefined : parseDay(version.effectiveDate)) ?? firstDay;
}

function onDay<Item>(items: readonly Dated<Item>[], day: number): Item | undefined {
  let found: Item | undefined;
  // A later version with an earlier date replaces the ones before it from that date on.
  for (const entry of items) if (entry.from <= day) found = entry.item;
  return found;
}

/**
 * The compiled plan that prices a day. Saving refuses plans with mistakes, so this is the last
 * guard.
 */
export function pricingPlanOn(book: PriceBook, code: string, day: number): CompiledPlan {
  const compiledPlan = compiledPlanOn(book, code, day);
  const problem = compiledPlan.problems[0];
  if (problem !== undefined) throw new RatingError('DEFINITION_INVALID', problem.message);
  if (compiledPlan.cycle !== null) {
    throw new RatingError(
      'DEFINITION_INVALID',
      `components of ${compiledPlan.code} need each other`,
    );
  }
  return compiledPlan;
}

/** The compiled plan of a plan on a day; throws NO_PLAN where there is no such plan. */
export function compiledPlanOn(book: PriceBook, code: string, day: number): CompiledPlan {
  const compiledPlans = book.compiledPlans.get(code);
  if (compiledPlans !== undefined) {
    for (const compiledPlan of compiledPlans)
      if (compiledPlan.from <= day && day <= compiledPlan.to) return compiledPlan;
  }
  const compiledPlan = makeCompiledPlan(book, code, day);
  if (compiledPlans === undefined) book.compiledPlans.set(code, [compiledPlan]);
  else compiledPlans.push(compiledPlan);
  return compiledPlan;
}

function makeCompiledPlan(book: PriceBook, code: string, day: number): CompiledPlan {
  if (!book.plans.has(code)) throw new RatingError('NO_PLAN', `there is no plan ${code}`);
  const { chain, problem } = chainOn(book, code, day);
  if (problem !== null) throw new RatingError('NO_PLAN', problem.message);
  const context = contextOn(book, day);
  const { from, to } = validityOf(book, chain, day);
  book.planCount += 1;
  return compilePlan({
    id: book.planCount,
    chain,
    context,
    from,
    to,
    traced: book.traced,
  });
}

export function contextOn(book: PriceBook, day: number): CompiledContext {
  const context = onDay(book.contexts, day);
  if (context === undefined) throw new RatingError('NO_PLAN', 'the book has no context');
  return context;
}

export function chainOn(book: PriceBook, code: string, day: number): ReturnType<typeof chainOf> {
  return chainOf(code, (parent) => {
    const versions = book.plans.get(parent);
    return versions === undefined ? undefined : onDay(versions, day);
  });
}

/** Days around `day` on which the same versions of context and chain hold. */
function validityOf(book: PriceBook, chain: Chain, day: number): { from: number; to: number } {
  let from = firstDay;
  let to = lastDay;
  const consider = (start: number) => {
    if (start <= day) from = Math.max(from, start);
    else to = Math.min(to, start - 1);
  };
  for (const context of book.contexts) consider(context.from);
  for (const plan of chain) {
    for (const version of book.plans.get(plan.definition.code) ?? []) consider(version.from);
  }
  return { from, to };
}
