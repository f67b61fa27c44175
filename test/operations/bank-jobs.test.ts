// A bank file of more than a thousand lines is posted by a job; the same file again takes up what a
// cancelled job left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOf, openBank } from '../support/bank.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });

test('the same file again goes on with lines that a cancelled job left', async () => {
  const bank = await openBank(scene, 'bank-resumed');
  const number = await bank.connectOld();
  const rows = Array.from({ length: 1_001 }, () => ({ amount: 1, reference: number }));
  const contentBase64 = Buffer.from(csvOf(rows)).toString('base64');
  const file = { bankAccountID: 1, format: 'CSV', mappingName: 'usual', contentBase64 } as const;
  const send = async () => {
    const { message, headers } = await bank.client.importBankFile(file);
    return { message, jobID: Number(headers.get('x-job-id')) };
  };
  const left = '0 lines posted, 0 suggested, 0 unmatched, 0 duplicate, 1001 still to be posted';
  const first = await send();
  assert.equal(first.message, left);
  // While the job waits, the file again names the same job.
  assert.equal((await send()).jobID, first.jobID);
  await bank.client.cancelJob({ data: { jobID: first.jobID } });
  const second = await send();
  assert.equal(second.message, `The file was imported before: ${left}`);
  assert.notEqual(second.jobID, first.jobID);
  scene.runJobs();
  const isDone = async () => {
    const { data } = await bank.client.getJobs({ jobID: second.jobID });
    return data.jobs[0]?.status === 'Succeeded';
  };
  await until(isDone, 'the lines are posted');
  assert.equal(await bank.wallet(), 1_001);
  const { message } = await send();
  assert.match(message, /^The file was imported before: 1001 lines posted, 0 suggested/);
  assert.equal(await bank.wallet(), 1_001);
});
