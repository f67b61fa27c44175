// The figures of the benchmark of bill runs, made out of invented measurements.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, type Round, ratiosOf } from '../bench/billrun-figures.ts';
import { makeLanes } from '../bench/rating.ts';

function round(size: number, seconds: number): Round {
  const cost = (of: number) => ({ seconds: of, nodeUs: 10 * of, postgresUs: 20 * of });
  return {
    size,
    generate: cost(seconds),
    generateFloor: cost(seconds / 4),
    post: cost(seconds / 2),
    postFloor: cost(seconds / 10),
    naive: 0.01,
  };
}

test('rounds of two sizes give each size its own figures', () => {
  // 10,000 bills in 2 s are 5,000 a second, 200,000 bills in 50 s are 4,000.
  const figures = figuresOf([round(10_000, 2), round(200_000, 50)]);
  assert.equal(figures.generate_bills_per_second_10k, 5_000);
  assert.equal(figures.generate_bills_per_second_200k, 4_000);
  assert.equal(figures.post_bills_per_second_10k, 10_000);
  assert.equal(figures.post_bills_per_second_200k, 8_000);
  assert.equal(figures.generate_floor_bills_per_second_10k, 20_000);
  assert.equal(figures.generate_and_post_ms_10k, 3_000);
  assert.equal(figures.generate_and_post_ms_200k, 75_000);
  assert.equal(figures.generate_vs_naive_10k, 50);
  assert.equal(figures.generate_vs_naive_200k, 40);
  for (const name of Object.keys(figures)) assert.match(name, /_(10|200)k$/);
});

test('the order of the rounds changes no figure', () => {
  const rounds = [round(10_000, 2), round(200_000, 50), round(10_000, 4)];
  assert.deepEqual(figuresOf(rounds.toReversed()), figuresOf(rounds));
});

test('several rounds of one size give the median', () => {
  const figures = figuresOf([round(500, 1), round(500, 5), round(500, 2)]);
  assert.equal(figures['generate_bills_per_second_0.5k'], 250);
});

test('ratios over all rounds weigh each by its seconds', () => {
  assert.equal(ratiosOf([round(10_000, 2), round(200_000, 50)]).generate_vs_floor, 0.25);
});

test('the hand-written bills of the benchmark are the bills of the price book', () => {
  assert.equal(makeLanes().length, 7);
});
