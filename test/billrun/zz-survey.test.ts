import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { act, actions, assertBilledOnce, finish, openHouse } from '../support/random-months.ts';
import { openScene } from '../support/scene.ts';
const seed = Number(process.env.MONTHS_SEED ?? 1), numRuns = Number(process.env.MONTHS_RUNS ?? 20), maxLength = Number(process.env.MONTHS_LENGTH ?? 12);
const scene = await openScene();
scene.runJobs();
scene.clock.advance(scene.clock.now().until(Temporal.Instant.from('2027-01-01T00:00:00Z')));
const postTypes = fc.constantFrom('Post Subscription', 'Post Account', 'Post Party');
const all = fc.sample(fc.tuple(postTypes, fc.array(actions, { maxLength, size: 'max' })), { seed, numRuns });
const out = `/tmp/months/survey-${seed}.txt`;
test('survey', async () => {
  let n = 0;
  for (const [postType, sequence] of all) {
    n += 1;
    const house = await openHouse(scene, postType);
    try {
      for (const action of sequence) await act(house, action);
      await finish(house);
      await assertBilledOnce(house);
    } catch (error) {
      appendFileSync(out, `#### ${n} ${postType} ${String((error as Error).message)}\n${JSON.stringify(sequence)}\n${house.story.join('\n')}\n`);
    }
    appendFileSync('/tmp/months/stories.txt', house.story.join('\n') + '\n=====\n');
  }
  appendFileSync(out, `done ${n}\n`);
});
