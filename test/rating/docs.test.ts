// Every example of docs/tariffs.md, run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { formulaFunctions } from '../../src/base/formula/functions.ts';
import { minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import type { Bill } from '../../src/domain/rating/bill.ts';
import { checkPlans } from '../../src/domain/rating/check/check-plan.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import type {
  ContextDefinition,
  PlanDefinition,
  Rows,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';

const page = readFileSync(new URL('../../docs/tariffs.md', import.meta.url), 'utf8');

function blocks(language: string): { line: number; text: string }[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return [...page.matchAll(pattern)].map((match) => ({
    line: page.slice(0, match.index).split('\n').length + 1,
    text: match[1] as string,
  }));
}

/** What a block of examples says about its little world. */
type World = {
  context: Required<
    Pick<ContextDefinition, 'values' | 'components' | 'connectionInputs' | 'unmeteredInputs'>
  >;
  rules: NonNullable<PlanDefinition['componentRules']>;
  facts: FrozenInputs;
};

type Mutable<T> = {
  -readonly [Key in keyof T]: T[Key] extends readonly (infer I)[] ? I[] : T[Key];
};

function worldOf(settings: [string, string][]): World {
  const context = {
    values: [],
    components: [],
    connectionInputs: [],
    unmeteredInputs: [],
  } as Mutable<World['context']>;
  const rules: World['rules'][number][] = [];
  const uploadedUsage: Record<string, string> = {};
  const usageHistory: Record<string, { quantity: string }[]> = {};
  const account: Record<string, string> = {};
  const connectionInputs: { name: string; value: string }[] = [];
  const unmeteredInputs: { name: string; value: string }[] = [];
  let days = 31;
  const uploaded = new Set<string>();
  for (const [key, value] of settings) {
    const [space, id = ''] = key.split('.') as [string, string?];
    const name = id.split(' ')[0] as string;
    if (key === 'days') days = Number(value.split(' ')[0]);
    else if (space === 'usage') uploadedUsage[name] = value;
    else if (space === 'history') {
      usageHistory[name] = value.split(',').map((quantity) => ({ quantity: quantity.trim() }));
    } else if (space === 'account') account[name] = value;
    else if (space === 'qty') {
      unmeteredInputs.push({ name, value });
      context.unmeteredInputs.push({ name });
    } else if (space === 'input') {
      connectionInputs.push({ name, value });
      const type = /size|kind/i.test(name) ? 'Text' : 'Number';
      context.connectionInputs.push({ name, type });
    } else if (space === 'comp') {
      const categories = [...id.matchAll(/\[(\w+)\]/g)].map((match) => match[1] as string);
      context.components.push({ name, type: 'Charge', categories });
      rules.push({ component: name, scope: 'Term', formula: value });
    } else context.values.push(valueDefinition(key, value));
  }
  for (const name of [...Object.keys(uploadedUsage), ...Object.keys(usageHistory)]) {
    if (!uploaded.has(name)) context.unmeteredInputs.push({ name, source: 'Uploaded' });
    uploaded.add(name);
  }
  const disconnectDate = days === 31 ? null : `${days + 1}/07/2025`;
  const facts: FrozenInputs = {
    term: { startDate: '01/07/2025', endDate: '31/07/2025', months: 1 },
    tariffCode: 'P',
    uploadedUsage,
    usageHistory,
    account,
    connection: { connectionInputs, unmeteredInputs, disconnectDate },
  };
  return { context, rules, facts };
}

/** `100 @ 10 + 2 | above @ 20`, or `size 15 monthly 250 | size * monthly 900`, or a number. */
function valueDefinition(name: string, text: string): World['context']['values'][number] {
  if (!text.includes('|')) return { name, type: 'Number', default: text };
  const parts = text.split('|').map((part) => part.trim());
  const rows: Rows = parts.map((part) => {
    const slab = /^(\S+) @ (\S+)(?: \+ (\S+))?$/.exec(part);
    if (slab === null) {
      const words = part.split(' ');
      return Object.fromEntries([0, 2].map((at) => [words[at], words[at + 1] as string]));
    }
    const [, upTo, rate, flat] = slab as unknown as [string, string, string, string | undefined];
    const row = { upTo: upTo === 'above' ? null : upTo, rate };
    return flat === undefined ? row : { ...row, flat };
  });
  return { name, type: 'Table', columns: Object.keys(rows[0] ?? {}), default: rows };
}

type Priced = { bill: Bill | null; errors: ReturnType<typeof checkPlans>['errors'] };

function priced(world: World, formula: string): Priced {
  const context = {
    code: 'DOCS',
    ...world.context,
    components: [
      ...world.context.components,
      { name: 'result', type: 'Charge' as const, printIfZero: 1 as const },
    ],
  };
  const rule = { component: 'result', scope: 'Term' as const, formula };
  const plans = [{ code: 'P', componentRules: [...world.rules, rule] }];
  const { errors } = checkPlans(context, plans);
  if (errors.length > 0) return { bill: null, errors };
  const book = compilePriceBook(singleVersion(context, plans));
  return { bill: rateBill(book, world.facts, { explain: true }), errors };
}

function assertResult(world: World, formula: string, wanted: string): void {
  const isCondition = wanted === 'TRUE' || wanted === 'FALSE';
  const text = isCondition ? `IF(${formula.replace(/^=/, '')}, 1, 0)` : formula;
  const { bill, errors } = priced(world, text);
  assert.deepEqual(errors, []);
  assert.deepEqual(bill?.errors, []);
  const found = bill?.explanation?.find((line) => line.component === 'result')?.exact;
  assert.equal(found, isCondition ? String(Number(wanted === 'TRUE')) : wanted);
}

function assertError(world: World, formula: string, wanted: string): void {
  const match = /^([A-Z_]+)(?: at (\d+))?(?:: (.+))?$/.exec(wanted);
  const [, code, position, hint] = match as unknown as [string, string, string?, string?];
  const { bill, errors } = priced(world, formula);
  const found = errors[0] ?? bill?.errors[0];
  assert.equal(found?.code, code);
  if (position !== undefined) assert.equal(errors[0]?.position, Number(position));
  if (hint !== undefined) assert.ok(found?.message.includes(hint), found?.message);
}

describe('formulas in docs/tariffs.md', () => {
  const used = new Set<string>();
  for (const block of blocks('formula')) {
    const rows = block.text.trim().split('\n');
    const settings: [string, string][] = [];
    for (const row of rows) {
      const setting = /^([\w.]+(?: \[\w+\])*): (.+)$/.exec(row);
      if (setting !== null) {
        settings.push([setting[1] as string, setting[2] as string]);
        continue;
      }
      test(`line ${block.line}: ${row}`, () => {
        const world = worldOf(settings);
        for (const call of row.matchAll(/([A-Z]+)\(/g)) used.add(call[1] as string);
        const failing = row.lastIndexOf(' -> ');
        if (failing >= 0) assertError(world, row.slice(0, failing), row.slice(failing + 4));
        else {
          const at = row.lastIndexOf(' = ');
          assertResult(world, row.slice(0, at), row.slice(at + 3));
        }
      });
    }
  }

  test('show every function of the language', () => {
    const wanted = [...formulaFunctions.keys(), 'SUMCAT', 'HIST', 'HISTMAX', 'HISTAVG', 'HISTSUM'];
    for (const name of wanted) assert.ok(used.has(name), name);
    assert.match(page, /SUPER\(\)/);
  });
});

describe('plans in docs/tariffs.md', () => {
  for (const block of blocks('json')) {
    test(`the plan at line ${block.line} gives the bill next to it`, () => {
      const { service, tariffs, scenario, bill: wanted } = JSON.parse(block.text);
      assert.deepEqual(checkPlans(service, tariffs), { errors: [], warnings: [] });
      const bill = rateBill(compilePriceBook(singleVersion(service, tariffs)), scenario);
      const amounts = bill.lines.map((line) => [line.component, minorUnitsText(line.amount, 2)]);
      const total = ['currentCharges', minorUnitsText(bill.currentCharges, 2)];
      assert.deepEqual(Object.fromEntries([...amounts, total]), wanted);
    });
  }
});
