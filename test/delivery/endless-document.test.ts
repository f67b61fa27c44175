// A bill whose document is never done, among others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { mailParties, openPostedTerm, spoilBill } from '../support/posted-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });

test('a bill whose document is never done is given up alone, and delays none of the others', async () => {
  const client = await scene.workspace('endless');
  const { termId, tenantId, bills } = await openPostedTerm(scene, client, mailParties(12));
  // It goes first: some are rendered together with it, the others wait for the same thread.
  const bad = bills[0]?.billId ?? 0;
  const endless = `'{"usage": [0' || repeat(',0', 3000000) || ']}'`;
  const mend = await spoilBill(scene, { tenantId, billId: bad }, endless);
  const equipment = openTestEquipment({ taskMs: 5_000 });
  const worker = scene.runJobs({ equipment });
  const publish = async () => {
    const { headers } = await client.publishBills(schedule(termId));
    const jobID = Number(headers.get('x-job-id'));
    return until(async () => {
      const { jobs } = (await client.getJobs({ jobID })).data;
      return jobs[0]?.finishedAt ? jobs[0] : undefined;
    }, 'the job ends');
  };
  const job = await publish();
  assert.deepEqual([job.status, job.error?.code], ['Failed', 'BILLS_NOT_PUBLISHED']);
  const { rows } = await scene.sql.query(
    `select d.bill_id::integer as bill, d.error ->> 'code' as code, b.status
     from bill_documents d join bills b using (tenant_id, bill_id)
     where tenant_id = $1 and (d.error is not null or b.status <> 'Published')`,
    [tenantId],
  );
  assert.deepEqual(rows, [{ bill: bad, code: 'DOCUMENT_FAILED', status: 'Posted' }]);
  await mend();
  assert.equal((await publish()).message, '12 bills published');
  await worker.stop();
});
