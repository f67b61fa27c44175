// node bench/posting-events.ts [--size 20000] [--pairs 3]: posting while a webhook gets an event of
// each bill, beside posting without one, in turns. The events of one term are delivered before the
// next is posted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { openReceiver } from '../test/support/receiver.ts';
import { termID } from '../test/support/residential-rows.ts';
import { newSecret } from '../test/support/webhooks.ts';
import { median } from './billrun-figures.ts';
import { type BillrunScene, openBillrun, type Place, runStep } from './billrun-scene.ts';

const warmUp = 40_000;
const body = { operation: 'schedule' as const, data: { termID } };

type Posted = { seconds: number; workerUs: number; postgresUs: number };

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '20000' },
    pairs: { type: 'string', default: '3' },
  },
});
const size = Number(values.size);

const folder = mkdtempSync(join(tmpdir(), 'billwright-bench-'));
// Server and workers inherit these.
process.env.SECRET_KEY_FILE = join(folder, 'secret.key');
process.env.WEBHOOK_ALLOWED_ADDRESSES = '127.0.0.1/32';
process.env.WEBHOOK_ALLOW_HTTP = '1';
const { secret, key } = newSecret();
const receiver = await openReceiver(key, () => Date.now());
const terms = Array(Number(values.pairs) * 2).fill(size);
const scene = await openBillrun([warmUp, ...terms]);
try {
  const [first, ...places] = scene.places as [Place, ...Place[]];
  for (const place of scene.places) {
    await runStep(scene, place, (client) => client.generateBills(body));
  }
  await postOf(scene, first);
  const found: { with: Posted[]; without: Posted[] } = { with: [], without: [] };
  for (const [index, place] of places.entries()) {
    // With, without, without, with: neither always goes first.
    const isHooked = index % 4 === 0 || index % 4 === 3;
    if (isHooked) {
      const webhook = { url: receiver.url, secret, types: ['bill.posted' as const] };
      await place.client.makeWebhooks({ webhooks: [webhook] });
    }
    const posted = await postOf(scene, place);
    (isHooked ? found.with : found.without).push(posted);
    if (isHooked) await allReceived(size);
  }
  show(found);
} finally {
  await scene.close();
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
}
await stopOwnCluster();

async function postOf(opened: BillrunScene, place: Place): Promise<Posted> {
  await opened.superuser.query('checkpoint');
  const before = opened.cpu();
  const seconds = await runStep(opened, place, (client) => client.postBills(body));
  const after = opened.cpu();
  return {
    seconds,
    workerUs: (after.worker - before.worker) / place.size,
    postgresUs: (after.postgres - before.postgres) / place.size,
  };
}

/** An event is received once or, after a failure, more often. */
async function allReceived(count: number): Promise<void> {
  const began = performance.now();
  const ids = () => new Set(receiver.received.map((one) => one.id)).size;
  const already = receiver.received.length;
  while (ids() < count) await sleep(200);
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `${count} events: ${already} delivered while they were posted, the others in ${seconds.toFixed(1)} s`,
  );
  receiver.received.length = 0;
}

function show(found: { with: Posted[]; without: Posted[] }): void {
  const middle = (rows: readonly Posted[]) => ({
    seconds: median(rows.map((row) => row.seconds)),
    workerUs: median(rows.map((row) => row.workerUs)),
    postgresUs: median(rows.map((row) => row.postgresUs)),
  });
  console.table({ ...found.with });
  console.table({ ...found.without });
  const [hooked, alone] = [middle(found.with), middle(found.without)];
  console.table({ 'with a webhook': hooked, without: alone });
  console.log(`post_with_webhook_vs_without ${(alone.seconds / hooked.seconds).toFixed(3)}`);
}
