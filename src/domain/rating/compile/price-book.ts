// A price book: a context and its plans in all their versions, compiled once and asked for
// editions.
import { firstDay, lastDay, parseDay } from '../../../base/days.ts';
import type { ContextDefinition, PlanDefinition, Version } from '../definitions/definitions.ts';
import { type Chain, chainOf, type PlanVersion } from '../definitions/inheritance.ts';
import { RatingError } from '../rating-error.ts';
import { type CompiledContext, compileContext } from './compiled-context.ts';
import { compileEdition, type Edition } from './compiled-plan.ts';
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
  /** Editions by plan code, made when first asked for. */
  readonly editions: Map<string, Edition[]>;
  editionCount: number;
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
    editions: new Map(),
    editionCount: 0,
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

/** The edition that prices a day. Saving refuses plans with mistakes, so this is the last guard. */
export function pricingEditionOn(book: PriceBook, code: string, day: number): Edition {
  const edition = editionOn(book, code, day);
  const problem = edition.problems[0];
  if (problem !== undefined) throw new RatingError('DEFINITION_INVALID', problem.message);
  if (edition.cycle !== null) {
    throw new RatingError('DEFINITION_INVALID', `components of ${edition.code} need each other`);
  }
  return edition;
}

/** The edition of a plan on a day; throws NO_PLAN where there is no such plan. */
export function editionOn(book: PriceBook, code: string, day: number): Edition {
  const editions = book.editions.get(code);
  if (editions !== undefined) {
    for (const edition of editions) if (edition.from <= day && day <= edition.to) return edition;
  }
  const edition = makeEdition(book, code, day);
  if (editions === undefined) book.editions.set(code, [edition]);
  else editions.push(edition);
  return edition;
}

function makeEdition(book: PriceBook, code: string, day: number): Edition {
  if (!book.plans.has(code)) throw new RatingError('NO_PLAN', `there is no plan ${code}`);
  const { chain, problem } = chainOn(book, code, day);
  if (problem !== null) throw new RatingError('NO_PLAN', problem.message);
  const context = contextOn(book, day);
  const { from, to } = validityOf(book, chain, day);
  book.editionCount += 1;
  return compileEdition({
    id: book.editionCount,
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
