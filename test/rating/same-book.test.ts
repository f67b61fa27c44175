// Bills that are rated by one price book after the other: none knows of those before it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { connected, context, july, plan, shown } from './small-tariff.ts';

test('a bill without billable days does not change the prices of the next bill of the same book', () => {
  const weighted = {
    name: 'fee',
    type: 'Number',
    changeInTerm: 'Weighted',
    default: '310',
  } as const;
  const values = [weighted, ...(context.values ?? []).slice(1)];
  const book = compilePriceBook(singleVersion({ ...context, values }, [plan]));
  const rated = (connection: object) =>
    rateBill(book, { term: july, tariffCode: 'A', ...connected(connection) });
  const off = rated({ disconnectDate: '01/07/2025' });
  assert.deepEqual([off.days, off.errors], [0, []]);
  const last = rated({ connectionDate: '31/07/2025' });
  assert.deepEqual(last.errors, []);
  // 310 / 31
  assert.deepEqual(shown(last), ['feeCharge 10 31/07-31/07', 'tax 1 31/07-31/07']);
});
