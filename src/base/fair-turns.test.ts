import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from './fair-turns.ts';

const options = { places: 2, share: 1, waitingMax: 3, waitMs: 1_000, what: 'tests' };

/** Work that ends when it is let go. */
function held(turns: FairTurns, owner: string, began: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = turns.run(owner, () => {
    began.push(owner);
    return promise;
  });
  return { done, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('an owner with a long queue leaves a place to another', async () => {
  const turns = new FairTurns(options);
  const began: string[] = [];
  const many = [1, 2, 3].map(() => held(turns, 'a', began));
  const other = held(turns, 'b', began);
  await settle();
  assert.deepEqual(began, ['a', 'b']);
  for (const one of many) one.end();
  other.end();
  await Promise.all([...many, other].map(({ done }) => done));
  assert.deepEqual(began, ['a', 'b', 'a', 'a']);
});

test('waiting owners take turns', async () => {
  const turns = new FairTurns({ ...options, places: 1 });
  const began: string[] = [];
  const calls = ['a', 'a', 'a', 'b', 'c', 'b'].map((owner) => held(turns, owner, began));
  for (const one of calls) one.end();
  await Promise.all(calls.map(({ done }) => done));
  assert.deepEqual(began, ['a', 'a', 'b', 'c', 'a', 'b']);
});

test('a call beyond the waiting ones is refused with RATE_LIMITED', async () => {
  const turns = new FairTurns(options);
  const began: string[] = [];
  const calls = [1, 2, 3, 4].map(() => held(turns, 'a', began));
  await assert.rejects(
    turns.run('a', async () => {}),
    { code: 'RATE_LIMITED', retryAfterSeconds: 1 },
  );
  for (const one of calls) one.end();
  await Promise.all(calls.map(({ done }) => done));
});

test('a call that waits too long for others is refused with UNAVAILABLE', async () => {
  const turns = new FairTurns({ ...options, places: 1, waitMs: 20 });
  const began: string[] = [];
  const first = held(turns, 'a', began);
  await assert.rejects(
    turns.run('b', async () => {}),
    { code: 'UNAVAILABLE' },
  );
  first.end();
  await first.done;
  await turns.run('b', async () => {
    began.push('b');
  });
  assert.deepEqual(began, ['a', 'b']);
});

test('work that fails gives its place back', async () => {
  const turns = new FairTurns({ ...options, places: 1 });
  await assert.rejects(
    turns.run('a', async () => {
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(turns.enter('a'), undefined);
  turns.leave('a');
});
