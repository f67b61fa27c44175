// Names with a space (`account.overdue`, `qty.seats`) that the formulas of a price book read.
import { parseFormula } from '../../../base/formula/parse.ts';
import { walk } from '../../../base/formula/walk.ts';
import type { ContextDefinition, PlanDefinition } from '../definitions/definitions.ts';
import type { Definitions, PriceBook } from './price-book.ts';

/** By space, the names that any formula of any version reads. */
export type NamesRead = ReadonlyMap<string, ReadonlySet<string>>;

const namesByBook = new WeakMap<PriceBook, NamesRead>();

/** Read from the trees of the formulas: a text search would miss a line break inside a name. */
export function namesRead(book: PriceBook): NamesRead {
  const known = namesByBook.get(book);
  if (known !== undefined) return known;
  const names = new Map<string, Set<string>>();
  for (const text of formulasOf(book.definitions)) addNames(text, names);
  namesByBook.set(book, names);
  return names;
}

function addNames(text: string, names: Map<string, Set<string>>): void {
  const { node } = parseFormula(text);
  if (node === null) return;
  walk(node, (part) => {
    if (part.kind !== 'name' || part.space === null) return;
    const ids = names.get(part.space);
    if (ids === undefined) names.set(part.space, new Set([part.id]));
    else ids.add(part.id);
  });
}

/** Versions of one plan repeat most of its formulas: each text once. */
function formulasOf({ contexts, plans }: Definitions): Set<string> {
  const given = [
    ...contexts.flatMap(({ definition }) => contextFormulas(definition)),
    ...plans.flatMap(({ definition }) => planFormulas(definition)),
  ];
  return new Set(given.filter((formula) => typeof formula === 'string'));
}

function contextFormulas({ values = [] }: ContextDefinition): unknown[] {
  return values.map((value) => value.default);
}

function planFormulas({ valueFormulas = [], componentRules = [] }: PlanDefinition): unknown[] {
  const ofRules = componentRules.flatMap(({ formula, when, quantity, rate }) => [
    formula,
    when,
    quantity,
    rate,
  ]);
  return [...valueFormulas.map(({ formula }) => formula), ...ofRules];
}
