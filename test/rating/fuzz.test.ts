// Random and mutated texts: the parser and the checker answer every one, quickly and with a place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckedFormula, checkFormula } from '../../src/base/formula/check.ts';
import {
  contextNames,
  type FormulaPlace,
  makeScope,
} from '../../src/domain/rating/compile/name-scope.ts';
import { tariffCases } from './tariff-cases.ts';

const inputs = Number(process.env.FUZZ_INPUTS ?? 5_000);
const seed = Number(process.env.FUZZ_SEED ?? 20_260_101);
const names = contextNames(tariffCases[0]?.service as never);
const places: FormulaPlace[] = ['Value', 'Segment', 'Term', 'Late', 'Security', 'Hold'];
const scopes = places.flatMap((place) => [
  makeScope(names, place, { hasInherited: true }),
  makeScope(names, place),
]);
const kinds = ['number', 'boolean', 'text', 'table'] as const;

const pieces = [
  ...'=<>+-*/%(),.\'"0123456789 \n\t;:!?{}[]$&|^~`\\@#_',
  ...['<>', '<=', '>=', '1', '2.5', '100%', '.5', '1.', '1e400', '1,000', '0x10', '٣', '½'],
  ...['TRUE', 'false', '"x"', "'y'", '"', 'usage.energy', 'usage.enrgy', 'energySlabs', 'gstPct'],
  ...['comp.gst', 'bill.current', 'segment.months', 'input.phase', 'account.arrears', 'qty.x'],
  ...['__proto__', 'constructor', 'usage.__proto__', 'comp.constructor', 'toString', 'prototype.x'],
  ...[
    'IF(',
    'IFS(',
    'SWITCH(',
    'SLAB(',
    'LOOKUP(',
    'ROUND(',
    'MAX(',
    'AND(',
    'HIST("energy", ',
    'SUMCAT("taxable")',
    'SUPER()',
    'NOT(',
    'FOO(',
  ],
  ...['😀', '\u0000', '\u2028', '\ud800', 'ﬁ', 'İ'],
];
const formulas = tariffCases.flatMap(({ tariffs }) =>
  tariffs.flatMap((plan) => (plan.componentRules ?? []).map((rule) => rule.formula ?? '0')),
);

/** A small generator of its own, so that a seed is enough to repeat a run. */
function makeRandom(start: number): (below: number) => number {
  let state = start >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

type Random = ReturnType<typeof makeRandom>;

function soup(random: Random): string {
  let text = '';
  const count = 1 + random(25);
  for (let index = 0; index < count; index++) text += pieces[random(pieces.length)];
  return text;
}

function mutated(random: Random): string {
  let text = formulas[random(formulas.length)] as string;
  const changes = 1 + random(4);
  for (let index = 0; index < changes; index++) {
    const at = random(text.length + 1);
    const piece = pieces[random(pieces.length)] as string;
    const kind = random(4);
    if (kind === 0) text = text.slice(0, at) + piece + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + random(4));
    else if (kind === 2) text = text.slice(0, at) + piece + text.slice(at + 1);
    else text = text.slice(0, at) + text.slice(random(text.length + 1));
  }
  return text;
}

function assertAnswered(text: string, checked: CheckedFormula): void {
  assert.ok(checked.node !== null || checked.problems.length > 0, JSON.stringify(text));
  for (const problem of checked.problems) {
    const isInside = Number.isInteger(problem.position) && problem.position >= 0;
    assert.ok(isInside && problem.position <= text.length, JSON.stringify([text, problem]));
    assert.match(problem.code, /^FORMULA_[A-Z_]+$/);
    assert.ok(problem.message.length > 0);
  }
}

test(`${inputs} random and mutated formulas are answered, each error with its place`, () => {
  const random = makeRandom(seed);
  const started = process.cpuUsage();
  let passed = 0;
  for (let index = 0; index < inputs; index++) {
    const text = index % 2 === 0 ? soup(random) : mutated(random);
    const scope = scopes[random(scopes.length)] as (typeof scopes)[number];
    const checked = checkFormula(text, scope, kinds[random(8)] ?? 'number');
    assertAnswered(text, checked);
    if (checked.problems.length === 0) passed += 1;
  }
  const seconds = process.cpuUsage(started).user / 1e6;
  assert.ok(seconds < inputs / 2000, `${inputs} texts took ${seconds} s (seed ${seed})`);
  // Both sides must have been reached, or the generator tests nothing.
  assert.ok(passed > inputs / 100, `${passed} passed`);
  assert.ok(passed < inputs / 2, `${passed} passed`);
});
