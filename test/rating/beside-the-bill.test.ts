// Hold rules and security deposits: formulas that are not on the bill itself.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exactFrom } from '../../src/base/numbers/decimal-text.ts';
import {
  compilePriceBook,
  contextOn,
  singleVersion,
} from '../../src/domain/rating/compile/price-book.ts';
import { compileHoldRules } from '../../src/domain/rating/rate/hold.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { securityLines } from '../../src/domain/rating/rate/security-deposit.ts';
import { context, july, meter, plan } from './small-tariff.ts';
import { tariffCases } from './tariff-cases.ts';

function heldFor(
  holdRules: { name: string; when: string }[] | null,
  use: string,
  average: string,
  past = ['5', '6', '7'],
) {
  const book = compilePriceBook(singleVersion({ ...context, holdRules }, [plan]));
  const usageHistory = { energy: past.map((quantity) => ({ quantity })) };
  const facts = { term: july, tariffCode: 'A', meters: [meter('0', use)], usageHistory };
  const judge = compileHoldRules(contextOn(book, 0));
  return judge(rateBill(book, facts), facts, exactFrom(average) ?? null).map(
    (reason) => reason.name,
  );
}

describe('hold rules', () => {
  test('by default hold three times the average, and no use where there was some', () => {
    // 310 x 110 % and 2 a unit
    assert.deepEqual(heldFor(null, '5', '300'), []);
    assert.deepEqual(heldFor(null, '5', '100'), ['unusualAmount']);
    assert.deepEqual(heldFor(null, '0', '300'), ['noUse.energy']);
    assert.deepEqual(heldFor(null, '5', '0'), []);
    // (310 + 20) x 110 % is three times 121.
    assert.deepEqual(heldFor(null, '10', '121'), []);
    assert.deepEqual(heldFor(null, '10', '120.99'), ['unusualAmount']);
    assert.deepEqual(heldFor(null, '0', '300', ['5', '6', '0']), []);
    assert.deepEqual(heldFor(null, '0', '300', ['5', '6']), []);
  });

  test('that cannot be computed hold nothing, and do not stop the others', () => {
    const rules = [
      { name: 'twice', when: 'bill.current / history.averageAmount > 2' },
      { name: 'big', when: 'bill.payable > 340' },
    ];
    assert.deepEqual(heldFor(rules, '0', '0'), ['big']);
    assert.deepEqual(heldFor(rules, '0', '1'), ['twice', 'big']);
  });

  test('of the context replace the default ones', () => {
    const rules = [{ name: 'big', when: 'bill.payable > 340' }];
    assert.deepEqual(heldFor(rules, '0', '1'), ['big']);
    assert.deepEqual(heldFor([], '0', '1'), []);
  });
});

describe('security deposits', () => {
  const elec = tariffCases.find((tariff) => tariff.id === 'ELEC');
  const book = compilePriceBook(singleVersion(elec?.service as never, elec?.tariffs ?? []));

  test('are inherited and computed from custom fields', () => {
    const connectionInputs = [{ name: 'sanctionedLoad', value: '5' }];
    const lines = securityLines(book, 'RES-A1-PRV', '01/07/2025', { connectionInputs });
    assert.deepEqual(
      lines.map((line) => [line.name, line.amount]),
      [['Security deposit', 750_000]],
    );
    assert.equal(lines[0]?.attribute.formula, 'input.sanctionedLoad * 1500');
  });

  test('cannot be quoted without the field they need', () => {
    assert.throws(() => securityLines(book, 'RES-A1', '01/07/2025', {}), { code: 'INPUT_MISSING' });
  });
});
