// The names that a formula may use, by the kind of the formula.
import type { HostFunction, Scope, ScopeProblem } from '../../../base/formula/check.ts';
import { didYouMean, nearest } from '../../../base/formula/suggest.ts';
import {
  booleanType,
  type FormulaType,
  numberType,
  textType,
} from '../../../base/formula/syntax.ts';
import type {
  ComponentDefinition,
  ContextDefinition,
  ValueDefinition,
} from '../definitions/definitions.ts';

/** The kind of a formula. A Late rule is one of a LateSurcharge component. */
export type FormulaPlace = 'Value' | 'Segment' | 'Term' | 'Late' | 'Security' | 'Hold';

const segmentNames = ['days', 'factor', 'months', 'quantity'] as const;
const termNames = ['days', 'months'] as const;
const accountNames = ['arrears', 'overdue', 'overdueAmountDays', 'wallet', 'deposit'] as const;
const billNames = ['current', 'net', 'tax', 'arrears', 'payable'] as const;

type Names = ReadonlyMap<string, FormulaType>;
type Spaces = ReadonlyMap<string, Names>;

/** Everything a formula of a context can name, prepared once. */
export type ContextNames = {
  readonly code: string;
  readonly values: Names;
  readonly spaces: Spaces;
  readonly components: ReadonlyMap<string, ComponentDefinition>;
  readonly categories: ReadonlySet<string>;
};

export function contextNames(context: ContextDefinition): ContextNames {
  const metered = context.meteredInputs ?? [];
  const unmetered = context.unmeteredInputs ?? [];
  const uploaded = unmetered.filter((input) => input.source === 'Uploaded');
  const agreed = unmetered.filter((input) => input.source !== 'Uploaded');
  const withUnit = (input: { name: string; unit?: string | null }) =>
    [input.name, { kind: 'number', unit: input.unit ?? null } as FormulaType] as const;
  const custom = (context.connectionInputs ?? []).map(
    (input) => [input.name, inputType(input.type)] as const,
  );
  const components = new Map((context.components ?? []).map((item) => [item.name, item]));
  const spaces = new Map<string, Names>([
    ['usage', new Map([...metered, ...uploaded].map(withUnit))],
    ['qty', new Map(agreed.map(withUnit))],
    ['input', new Map(custom)],
    ['comp', new Map([...components.keys()].map((name) => [name, numberType]))],
    ['segment', numbers(segmentNames)],
    ['term', numbers(termNames)],
    ['connection', new Map([['isFirstBill', booleanType]])],
    ['account', numbers(accountNames)],
    ['bill', numbers(billNames)],
    ['history', numbers(['averageAmount'])],
  ]);
  const categories = new Set<string>();
  for (const item of components.values()) {
    for (const category of item.categories ?? []) categories.add(category);
  }
  const values = new Map((context.values ?? []).map((item) => [item.name, valueType(item)]));
  return { code: context.code, values, spaces, components, categories };
}

function numbers(names: readonly string[]): Names {
  return new Map(names.map((name) => [name, numberType]));
}

export function valueType(value: ValueDefinition): FormulaType {
  switch (value.type) {
    case 'Text':
      return textType;
    case 'Boolean':
      return booleanType;
    case 'Table':
      return { kind: 'table', columns: value.columns ?? [] };
    case 'Percent':
      return { kind: 'number', unit: value.unit ?? null, isPercent: true };
    default:
      return { kind: 'number', unit: value.unit ?? null };
  }
}

function inputType(type: string): FormulaType {
  if (type === 'Number') return numberType;
  return type === 'Boolean' ? booleanType : textType;
}

/** Spaces closed to a place, with what to tell who tries. */
function closedTo(place: FormulaPlace, space: string): string | null {
  if (space === 'bill' && place !== 'Late' && place !== 'Hold') {
    return '`bill` is known only in rules of LateSurcharge components';
  }
  if (space === 'history' && place !== 'Hold') return '`history` is known only in hold rules';
  if (space === 'comp' && (place === 'Value' || place === 'Security')) {
    return 'a value cannot depend on components: move this to a component rule';
  }
  if (place === 'Hold' && space !== 'usage' && space !== 'bill' && space !== 'history') {
    return `hold rules know usage, history and the bill, not \`${space}\``;
  }
  const early = space === 'usage' || space === 'segment' || space === 'term' || space === 'account';
  if (early && place === 'Security') return `\`${space}\` is not known before the first bill`;
  return null;
}

/** `hasInherited` says whether SUPER() has a rule to refer to. */
export function makeScope(
  names: ContextNames,
  place: FormulaPlace,
  { hasInherited } = { hasInherited: false },
): Scope {
  return {
    resolve: (space, id) => resolveName(names, place, space, id),
    functions: hostFunctions(names, place, hasInherited),
  };
}

function resolveName(
  names: ContextNames,
  place: FormulaPlace,
  space: string | null,
  id: string,
): FormulaType | ScopeProblem {
  if (space === null) {
    if (place === 'Hold') return problem('FORMULA_SCOPE', `hold rules know no values: \`${id}\``);
    return names.values.get(id) ?? unknownValue(names, id);
  }
  const members = names.spaces.get(space);
  if (members === undefined) {
    const hint = didYouMean(space, names.spaces.keys());
    return problem('FORMULA_UNKNOWN_NAME', `nothing is called \`${space}.\`${hint}`);
  }
  const closed = closedTo(place, space);
  if (closed !== null) return problem('FORMULA_SCOPE', closed);
  const type = members.get(id);
  if (type === undefined) return unknownMember(names, space, id, members);
  const isLate = space === 'comp' && names.components.get(id)?.type === 'LateSurcharge';
  if (isLate && place !== 'Late') {
    return problem('FORMULA_SCOPE', `\`comp.${id}\` is a late surcharge, computed after the total`);
  }
  return type;
}

function unknownValue(names: ContextNames, id: string): ScopeProblem {
  for (const space of ['usage', 'qty', 'input', 'comp']) {
    if (names.spaces.get(space)?.has(id)) {
      const hint = `; did you mean \`${space}.${id}\`?`;
      return notAValue(names, id, hint);
    }
  }
  return notAValue(names, id, didYouMean(id, names.values.keys()));
}

function notAValue(names: ContextNames, id: string, hint: string): ScopeProblem {
  const message = `\`${id}\` is not a value of context ${names.code}${hint}`;
  return problem('FORMULA_UNKNOWN_NAME', message);
}

const memberWords = new Map([
  ['usage', 'an input'],
  ['qty', 'an unmetered quantity'],
  ['input', 'a custom field'],
  ['comp', 'a component'],
]);

function unknownMember(
  names: ContextNames,
  space: string,
  id: string,
  members: Names,
): ScopeProblem {
  const what = memberWords.get(space) ?? `a member of \`${space}\``;
  // The right word in the wrong place comes before a similar one.
  const place = ['usage', 'qty', 'input'].find((other) => names.spaces.get(other)?.has(id));
  const similar = place === undefined ? nearest(id, members.keys()) : id;
  const hint = similar === undefined ? '' : `; did you mean \`${place ?? space}.${similar}\`?`;
  const message = `\`${space}.${id}\` is not ${what} of context ${names.code}${hint}`;
  return problem('FORMULA_UNKNOWN_NAME', message);
}

function hostFunctions(
  names: ContextNames,
  place: FormulaPlace,
  hasInherited: boolean,
): ReadonlyMap<string, HostFunction> {
  const functions = new Map<string, HostFunction>();
  const inRule = place === 'Segment' || place === 'Term' || place === 'Late';
  functions.set('SUMCAT', {
    parameters: ['literal'],
    usage: 'SUMCAT("category")',
    check: (category) => {
      if (!inRule) return problem('FORMULA_SCOPE', 'SUMCAT works in component rules only');
      if (category !== null && names.categories.has(category)) return null;
      const hint = didYouMean(category ?? '', names.categories);
      return problem('FORMULA_UNKNOWN_NAME', `no component has the category "${category}"${hint}`);
    },
  });
  for (const name of ['HIST', 'HISTMAX', 'HISTAVG', 'HISTSUM']) {
    functions.set(name, {
      parameters: ['literal', 'number'],
      usage: `${name}("input", terms)`,
      check: (input) => {
        if (place === 'Security') return problem('FORMULA_SCOPE', `${name} needs earlier bills`);
        const known = names.spaces.get('usage') as Names;
        if (input !== null && known.has(input)) return null;
        const hint = didYouMean(input ?? '', known.keys());
        const message = `"${input}" is not an input of context ${names.code}${hint}`;
        return problem('FORMULA_UNKNOWN_NAME', message);
      },
    });
  }
  functions.set('SUPER', {
    parameters: [],
    usage: 'SUPER()',
    check: () => {
      if (!inRule) return problem('FORMULA_SCOPE', 'SUPER() works in component rules only');
      if (hasInherited) return null;
      return problem('FORMULA_SCOPE', 'SUPER() has no inherited rule to refer to');
    },
  });
  return functions;
}

function problem(code: ScopeProblem['code'], message: string): ScopeProblem {
  return { code, message };
}
