// Published examples of other systems and real utilities: each expressed as a plan of ours, and the
// figures of the source reproduced.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { billModels } from './published-bills.ts';
import { otherModels } from './published-others.ts';
import { type PublishedCase, plain, publishedCases } from './published-plan.ts';
import { receivablesModels } from './published-receivables.ts';
import { tierModels } from './published-tiers.ts';

/** What belongs to another part of a billing system than pricing and settlement. */
const notExpressed = new Map([
  [
    'fp-sum-multiplier-dedupe',
    'which of two events of one id counts is decided where usage is uploaded',
  ],
]);

const expressions = { ...tierModels, ...billModels, ...otherModels, ...receivablesModels };

function figuresOf(example: PublishedCase) {
  const expression = expressions[example.model];
  assert.ok(expression, `no expression of the model ${example.model}`);
  return expression(example.inputs, example.expected, example);
}

describe('published examples', () => {
  for (const example of publishedCases) {
    if (notExpressed.has(example.id)) continue;
    test(`${example.id} (${example.source})`, () => {
      const figures = figuresOf(example);
      assert.ok(figures.length > 0);
      for (const [what, ours, published] of figures) {
        assert.equal(plain(ours), plain(published), what);
      }
    });
  }

  test('there are 113 examples, and all but the listed ones are expressed', () => {
    const ids = new Set(publishedCases.map((example) => example.id));
    for (const id of notExpressed.keys()) assert.ok(ids.has(id), id);
    assert.equal(ids.size, 113);
    assert.equal(publishedCases.length, 113);
  });
});
