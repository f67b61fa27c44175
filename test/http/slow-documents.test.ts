// Documents are made in threads: a hostile one delays no other call, and ends with its time.

import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { PNG } from 'pngjs';
import { openingFor, transact } from '../../src/base/db/pool.ts';
import { openDocumentThreads } from '../../src/domain/delivery/document-threads.ts';
import { findBillToShow } from '../../src/domain/delivery/documents-store.ts';
import { previewSetting } from '../../src/domain/delivery/freeze-setting.ts';
import { getTerm } from '../../src/domain/terms/store.ts';
import { codeOf } from '../support/delivery.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

/** A quarter of what a template may have; each letter is a mark on the one before. */
const hostile = `क${'\u093c'.repeat(50_000)}`;

async function hostileBill(workspace: string) {
  const client = await scene.workspace(workspace);
  const term = await openPostedTerm(scene, client, mailParties(1));
  await client.updateTemplate({ data: { templateID: 1, body: hostile } });
  return { client, tenantId: term.tenantId, billID: term.bills[0]?.billId ?? 0 };
}

/** Longest wait of the event loop, in milliseconds, while the work is done. */
async function longestDelay(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  try {
    await work();
  } finally {
    delays.disable();
  }
  return delays.max / 1e6;
}

test('a hostile document keeps no other workspace waiting', async () => {
  const { client, billID } = await hostileBill('hostile');
  const bystander = await scene.workspace('bystander');
  const term = await openPostedTerm(scene, bystander, mailParties(1));
  const other = { billID: term.bills[0]?.billId ?? 0 };
  // Both threads are warm, as they are on a server that runs.
  await Promise.all([
    client.getBillDocument({ billID, format: 'HTML' }),
    bystander.getBillDocument(other),
  ]);
  const begunMs = performance.now();
  let ended = 0;
  const count = () => {
    ended += 1;
  };
  const making = [1, 2, 3].map(() => client.getBillDocument({ billID }).then(count, count));
  const delay = await longestDelay(async () => {
    const { data } = await bystander.getBillDocument(other);
    assert.ok(data.base64.length > 1_000);
    assert.ok(ended < making.length, 'it need not wait for all of the hostile ones');
    await Promise.all(making);
  });
  const takenMs = performance.now() - begunMs;
  // On the event loop, each of the three would be one halt.
  assert.ok(delay < takenMs / 6, `the event loop halted for ${delay} of ${takenMs} ms`);
});

test('a document that takes too long is given up with DOCUMENT_TOO_SLOW, and the next is made', async () => {
  const { tenantId, billID } = await hostileBill('slow');
  const threads = openDocumentThreads({ limitMs: 1_500 });
  after(() => threads.close());
  const task = await transact(scene.api, { opening: openingFor(tenantId) }, async (tx) => {
    const bill = (await findBillToShow(tx, tenantId, billID)) ?? assert.fail();
    const term = await getTerm(tx, tenantId, bill.term_id);
    const setting = await previewSetting(tx, tenantId, term);
    return { format: 'PDF' as const, setting, bill, cancellation: undefined };
  });
  const texts = { ...task.setting, body: `${hostile}\n`.repeat(6) };
  await assert.rejects(threads.make({ ...task, setting: texts }), { code: 'DOCUMENT_TOO_SLOW' });
  const plain = { ...task, format: 'HTML' as const, setting: { ...task.setting, body: 'Thanks' } };
  let made: string | undefined;
  for (let attempt = 0; made === undefined && attempt < 20; attempt++) {
    // A machine under load may need more than the limit for a new thread.
    made = await threads.make(plain).then(
      ({ base64 }) => base64,
      () => undefined,
    );
  }
  assert.match(Buffer.from(made ?? '', 'base64').toString(), /Thanks/);
});

test('a logo of many pixels is checked without a halt', async () => {
  const client = await scene.workspace('pixels');
  const logo = PNG.sync.write(new PNG({ width: 2_000, height: 2_000 })).toString('base64');
  const set = () => client.updateSettings({ data: { letterhead: { logo } } });
  await set();
  const begunMs = performance.now();
  const delay = await longestDelay(set);
  const takenMs = performance.now() - begunMs;
  assert.ok(delay < takenMs / 2, `the event loop halted for ${delay} of ${takenMs} ms`);
  const broken = { logo: Buffer.from('GIF89a').toString('base64') };
  assert.equal(
    await codeOf(client.updateSettings({ data: { letterhead: broken } })),
    'INVALID_FORMAT',
  );
});
