import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkFormula } from '../../../base/formula/check.ts';
import { contextNames, type FormulaPlace, makeScope } from './name-scope.ts';

const names = contextNames({
  code: 'ELEC',
  connectionInputs: [{ name: 'phase', type: 'Select' }],
  meteredInputs: [{ name: 'energy', unit: 'kWh' }],
  unmeteredInputs: [
    { name: 'seats', unit: 'seat' },
    { name: 'data', source: 'Uploaded' },
  ],
  values: [
    { name: 'gstPct', type: 'Percent' },
    { name: 'slabs', type: 'Table', columns: ['upTo', 'rate'] },
    { name: 'pipes', type: 'Table', columns: ['size', 'monthly'] },
  ],
  components: [
    { name: 'fee', type: 'Charge', categories: ['taxable'] },
    { name: 'late', type: 'LateSurcharge' },
  ],
});

type Row = [place: FormulaPlace, formula: string, problem: string, position: number, hint: RegExp];

const rows: Row[] = [
  [
    'Term',
    'usage.enrgy * 2',
    'FORMULA_UNKNOWN_NAME',
    0,
    /not an input of context ELEC; did you mean `usage.energy`\?/,
  ],
  ['Term', '1 + energy', 'FORMULA_UNKNOWN_NAME', 4, /did you mean `usage.energy`\?/],
  ['Term', 'gstPc', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `gstPct`\?/],
  ['Term', 'usage.seats', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `qty.seats`\?/],
  ['Term', 'usge.energy', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `usage`\?/],
  ['Term', 'usage.ENERGY', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `usage.energy`\?/],
  ['Term', '2 * MXA(1, 2)', 'FORMULA_UNKNOWN_FUNCTION', 4, /did you mean `MAX`\?/],
  ['Term', 'ROUND(1)', 'FORMULA_ARITY', 0, /ROUND\(x, decimals\)/],
  ['Term', 'IFS(TRUE, 1)', 'FORMULA_ARITY', 0, /IFS\(condition, result, \.\.\., else\)/],
  ['Term', '1 + "x"', 'FORMULA_TYPE', 4, /right side of `\+` must be a number, not a text/],
  ['Term', 'IF(input.phase = 3, 1, 2)', 'FORMULA_TYPE', 17, /compares a text with a number/],
  ['Term', 'IF(1, 2, 3)', 'FORMULA_TYPE', 3, /condition 1 of IF must be a boolean/],
  ['Term', 'IF(TRUE, 2, "x")', 'FORMULA_TYPE', 12, /must agree/],
  ['Term', 'SLAB(1, pipes)', 'FORMULA_TYPE', 8, /first column is `upTo`/],
  ['Term', 'LOOKUP(pipes, "15", "montly")', 'FORMULA_UNKNOWN_NAME', 20, /did you mean `monthly`\?/],
  ['Term', 'LOOKUP(pipes, "15", input.phase)', 'FORMULA_TYPE', 20, /as a text/],
  ['Term', 'SUMCAT("taxble")', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `taxable`\?/],
  ['Term', 'SUMCAT(input.phase)', 'FORMULA_TYPE', 7, /text in quotes/],
  ['Term', 'HIST("enrgy", 2)', 'FORMULA_UNKNOWN_NAME', 0, /did you mean `energy`\?/],
  ['Term', 'bill.current', 'FORMULA_SCOPE', 0, /LateSurcharge/],
  ['Term', 'comp.late', 'FORMULA_SCOPE', 0, /after the total/],
  ['Term', 'SUPER()', 'FORMULA_SCOPE', 0, /no inherited rule/],
  ['Value', 'comp.fee', 'FORMULA_SCOPE', 0, /move this to a component rule/],
  ['Value', 'SUMCAT("taxable")', 'FORMULA_SCOPE', 0, /component rules only/],
  ['Security', 'usage.energy', 'FORMULA_SCOPE', 0, /before the first bill/],
  ['Term', '1 < 2 < 3', 'FORMULA_SYNTAX', 6, /do not chain/],
  ['Term', '(1 + 2', 'FORMULA_SYNTAX', 6, /closing bracket/],
  ['Term', '"abc', 'FORMULA_SYNTAX', 0, /the closing quote of this text is missing/],
  ['Term', '2x', 'FORMULA_SYNTAX', 0, /neither a number nor a name/],
  ['Term', '1 2', 'FORMULA_SYNTAX', 2, /should end here/],
  ['Term', '', 'FORMULA_SYNTAX', 0, /missing/],
  ['Term', 'usage.', 'FORMULA_SYNTAX', 6, /name is missing after `usage\.`/],
];

describe('problems of a formula', () => {
  for (const [place, formula, code, position, hint] of rows) {
    test(`${formula || 'an empty formula'} in a ${place} formula is ${code}`, () => {
      const { problems } = checkFormula(formula, makeScope(names, place), 'number');
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.equal(problems[0]?.code, code);
      assert.equal(problems[0]?.position, position);
      assert.match(problems[0]?.message ?? '', hint);
    });
  }

  test('all problems of a formula are reported at once', () => {
    const scope = makeScope(names, 'Term');
    const { problems } = checkFormula(
      'usage.a + b * FOO(1) + IF(1, 2, 3) + ("x" - 1)',
      scope,
      'number',
    );
    const codes = problems.map((problem) => problem.code);
    const wanted = ['FORMULA_UNKNOWN_NAME', 'FORMULA_UNKNOWN_NAME', 'FORMULA_UNKNOWN_FUNCTION'];
    assert.deepEqual(codes, [...wanted, 'FORMULA_TYPE', 'FORMULA_TYPE']);
  });

  test('late surcharges may read the bill and each other, values the usage', () => {
    for (const [place, formula] of [
      ['Late', 'bill.payable * 2% + comp.late'],
      ['Value', 'usage.energy + qty.seats * HISTMAX("energy", 12)'],
      ['Hold', 'bill.current / MAX(1, history.averageAmount)'],
    ] as const) {
      assert.deepEqual(checkFormula(formula, makeScope(names, place), 'number').problems, []);
    }
  });

  test('adding two units is a warning, multiplying them is not', () => {
    const scope = makeScope(names, 'Term');
    const warned = checkFormula('usage.energy + qty.seats', scope, 'number').unitWarnings;
    assert.deepEqual(warned, [{ position: 15, message: '`+` joins kWh and seat' }]);
    assert.deepEqual(checkFormula('usage.energy * qty.seats', scope, 'number').unitWarnings, []);
  });
});
