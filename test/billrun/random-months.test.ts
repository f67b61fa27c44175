// Some months of whatever an operator may do: in the end everything is billed once.
//
//   MONTHS_SEED=1 MONTHS_RUNS=500 MONTHS_LENGTH=25 node --test test/billrun/random-months.test.ts
//
// takes as many sequences of up to that many actions; what fails is printed with its seed and
// story.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertBilledOnce, openHouse } from '../support/months-house.ts';
import { act, actions, finish } from '../support/random-months.ts';
import { openScene } from '../support/scene.ts';

const seed = Number(process.env.MONTHS_SEED ?? 20_260_701);
const numRuns = Number(process.env.MONTHS_RUNS ?? 4);
const maxLength = Number(process.env.MONTHS_LENGTH ?? 8);

const scene = await openScene();
scene.runJobs();
scene.clock.advance(scene.clock.now().until(Temporal.Instant.from('2027-01-01T00:00:00Z')));

const postTypes = fc.constantFrom('Post Subscription', 'Post Account', 'Post Party');
const sequences = fc.array(actions, {
  minLength: Math.ceil(maxLength / 3),
  maxLength,
  size: 'max',
});

test(`${numRuns} sequences of seed ${seed} bill everything once`, async () => {
  await fc.assert(
    fc.asyncProperty(postTypes, sequences, async (postType, sequence) => {
      const house = await openHouse(scene, postType);
      try {
        for (const action of sequence) await act(house, action);
        await finish(house);
        await assertBilledOnce(house);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        assert.fail(`${message}\n${house.story.join('\n')}`);
      }
    }),
    { seed, numRuns, endOnFailure: false },
  );
});
