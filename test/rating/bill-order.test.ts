// Laws about order and cuts: what must not change a bill does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Bill } from '../../src/domain/rating/bill.ts';
import type { PriceBook } from '../../src/domain/rating/compile/price-book.ts';
import type {
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { dayOf } from './plain-history.ts';
import { bookOf, dateAfter, randomTariffs, ratedBy, tariffRuns } from './random-bills.ts';

/** The same things in another order: rotated by a number, then reversed or not. */
function reordered<Item>(items: readonly Item[] | null | undefined, seed: number): Item[] {
  const list = [...(items ?? [])];
  const by = list.length === 0 ? 0 : seed % list.length;
  const turned = [...list.slice(by), ...list.slice(0, by)];
  return seed % 2 === 0 ? turned : turned.reverse();
}

function reorderedContext(context: ContextDefinition, seed: number): ContextDefinition {
  return {
    ...context,
    values: reordered(context.values, seed),
    components: reordered(context.components, seed).map((component) => ({
      ...component,
      categories: reordered(component.categories, seed),
    })),
    connectionInputs: reordered(context.connectionInputs, seed),
    unmeteredInputs: reordered(context.unmeteredInputs, seed),
  };
}

function reorderedPlans(plans: readonly PlanDefinition[], seed: number): PlanDefinition[] {
  return reordered(plans, seed).map((plan) => ({
    ...plan,
    valueFormulas: reordered(plan.valueFormulas, seed),
    componentRules: reordered(plan.componentRules, seed),
  }));
}

function reorderedFacts(facts: FrozenInputs, seed: number): FrozenInputs {
  const connection = facts.connection ?? {};
  return {
    ...facts,
    connection: {
      ...connection,
      tariffHistory: reordered(connection.tariffHistory, seed),
      connectionInputs: reordered(connection.connectionInputs, seed),
      unmeteredInputs: reordered(connection.unmeteredInputs, seed),
      variants: reordered(connection.variants, seed),
    },
    meters: reordered(facts.meters, seed),
  };
}

test('the order of arrays never changes a bill', () => {
  fc.assert(
    fc.property(randomTariffs, fc.nat(50), ({ context, plans, subscriptions }, seed) => {
      const book = bookOf({ context, plans });
      const other = bookOf({
        context: reorderedContext(context, seed),
        plans: reorderedPlans(plans, seed),
      });
      for (const facts of subscriptions) {
        assert.deepEqual(ratedBy(other, reorderedFacts(facts, seed)), ratedBy(book, facts));
      }
    }),
    tariffRuns,
  );
});

/** Charges by the day whose price does not depend on what else is on the bill. */
const byTheDay = ['feeCharge', 'sizeCharge'];

test('a cut at any day moves a prorated charge by at most one minor unit a line', () => {
  fc.assert(
    fc.property(randomTariffs, fc.nat(30), ({ subscriptions, ...tariff }, day) => {
      const book = bookOf(tariff);
      for (const facts of subscriptions) assertCut(book, facts, day);
    }),
    tariffRuns,
  );
});

function assertCut(book: PriceBook, facts: FrozenInputs, day: number): void {
  const { connection, term } = facts;
  const date = dateAfter(dayOf(term.startDate) - dayOf('01/01/2025') + day);
  const cut = { ...connection, transfers: [{ transferDate: date }] };
  const whole = ratedBy(book, facts);
  const parts = ratedBy(book, { ...facts, connection: cut });
  for (const name of byTheDay) {
    const own = (bill: Bill) => bill.lines.filter((line) => line.component === name);
    const total = (bill: Bill) => own(bill).reduce((sum, line) => sum + line.amount, 0);
    const lines = Math.max(own(whole).length, own(parts).length);
    assert.ok(Math.abs(total(whole) - total(parts)) <= lines, name);
  }
}

test('rating again gives the same bytes, and so does a copy of the facts', () => {
  fc.assert(
    fc.property(randomTariffs, ({ subscriptions, ...tariff }) => {
      const book = bookOf(tariff);
      for (const facts of subscriptions) {
        const first = JSON.stringify(rateBill(book, facts));
        assert.equal(JSON.stringify(rateBill(book, facts)), first);
        const stored = JSON.parse(JSON.stringify(facts));
        assert.equal(JSON.stringify(rateBill(book, stored)), first);
      }
    }),
    { ...tariffRuns, numRuns: Math.ceil(tariffRuns.numRuns / 5) },
  );
});
