// Steps 8 and 9 of a bill run, with a mail server in a process of its own. Publishing is compared
// with the bare rendering of the same bills in as many threads, sending with handing over mails
// that are ready.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDatabase, tenantTransact } from '../src/base/db/pool.ts';
import { createMailer } from '../src/base/mail/mailer.ts';
import type { BillToRender } from '../src/domain/delivery/bill-input.ts';
import { joinFile } from '../src/domain/delivery/document-file.ts';
import { listBillsByIds } from '../src/domain/delivery/documents-store.ts';
import { type FrozenSetting, getNewestSetting } from '../src/domain/delivery/freeze-setting.ts';
import { openRenderer } from '../src/domain/delivery/renderer.ts';
import { termID } from '../test/support/residential-rows.ts';
import { sizeName } from './billrun-figures.ts';
import { type BillrunScene, end, type Place, runStep } from './billrun-scene.ts';
import { type BenchResult, tell } from './result.ts';

const connections = 10;
const threads = availableParallelism();
/** Bills of which the floors are measured. */
const sample = 500;

export type Post = { env: Record<string, string>; smtpUrl: string; close(): Promise<void> };

/** A mail server, and what a worker has to know of it. */
export async function openPost(): Promise<Post> {
  const script = fileURLToPath(new URL('mail-sink.ts', import.meta.url));
  const sink = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const smtpUrl = `smtp://127.0.0.1:${await firstLine(sink)}`;
  const folder = mkdtempSync(join(tmpdir(), 'billwright-bench-'));
  return {
    env: { SMTP_URL: smtpUrl, SMTP_CONNECTIONS: String(connections), BILLWRIGHT_DATA: folder },
    smtpUrl,
    async close() {
      await end(sink);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('it ended without a word');
}

/** Of a workspace whose bills are posted. */
export async function benchDelivery(
  scene: BillrunScene,
  place: Place,
  post: Post,
): Promise<BenchResult> {
  const body = { operation: 'schedule' as const, data: { termID } };
  const at = sizeName(place.size);
  const published = await runStep(scene, place, (client) => client.publishBills(body));
  tell({ [`publish_bills_per_second_${at}`]: Math.floor(place.size / published) });
  const material = await readMaterial(scene, place);
  const rendering = await renderBare(material);
  const sent = await runStep(scene, place, (client) => client.distributeBills(body));
  const mailing = await mailBare(material, post);
  const publish = place.size / published;
  const distribute = place.size / sent;
  tell({ [`distribute_bills_per_second_${at}`]: Math.floor(distribute) });
  return {
    ratios: {
      publish_vs_rendering: publish / rendering,
      distribute_vs_mailing: distribute / mailing,
    },
    figures: {
      [`publish_bills_per_second_${at}`]: Math.floor(publish),
      [`rendering_bills_per_second_${at}`]: Math.floor(rendering),
      [`distribute_bills_per_second_${at}`]: Math.floor(distribute),
      [`mailing_bills_per_second_${at}`]: Math.floor(mailing),
      [`worker_delivery_peak_mb_${at}`]: scene.peakMb(),
    },
  };
}

type Material = { setting: FrozenSetting; bills: BillToRender[] };

async function readMaterial(scene: BillrunScene, place: Place): Promise<Material> {
  const { tenantId } = place;
  const connection = { ...scene.cluster.owner, database: scene.databaseName };
  const database = openDatabase({ connection, name: 'bench', max: 1 });
  const ids = Array.from({ length: Math.min(sample, place.size) }, (_, index) => index + 1);
  try {
    return await tenantTransact(database, tenantId, async (tx) => ({
      setting: await getNewestSetting(tx, tenantId, termID),
      bills: await listBillsByIds(tx, tenantId, ids),
    }));
  } finally {
    await database.close();
  }
}

async function renderBare({ setting, bills }: Material): Promise<number> {
  const renderer = openRenderer({ threads });
  await renderer.render(setting, bills.slice(0, threads * 40));
  const began = performance.now();
  await renderer.render(setting, bills);
  const rate = (bills.length * 1_000) / (performance.now() - began);
  await renderer.close();
  return rate;
}

async function mailBare(material: Material, post: Post): Promise<number> {
  const renderer = openRenderer({ threads: 1 });
  const [bill] = material.bills;
  assert.ok(bill);
  const words = new Map([[bill.bill_id, null]]);
  const written = (await renderer.write(material.setting, [bill], words)).get(bill.bill_id);
  const { results, parts } = await renderer.render(material.setting, [bill]);
  await renderer.close();
  const made = results.get(bill.bill_id);
  assert.ok(made && 'own' in made && written && 'text' in written);
  const content = joinFile(made, (sha256) => parts.get(sha256) ?? Buffer.alloc(0));
  const mailer = createMailer({
    smtpUrl: post.smtpUrl,
    smtpConnections: connections,
    mailFrom: { address: 'billing@example.com' },
    dataFolder: post.env.BILLWRIGHT_DATA ?? tmpdir(),
  });
  const send = (index: number) =>
    mailer.send({
      key: { tenantId: 1, deliveryId: index },
      messageId: `<${index}@example.com>`,
      to: `c${index}@example.com`,
      subject: 'Your bill',
      text: written.text,
      attachments: [{ filename: 'bill.pdf', contentType: 'application/pdf', content }],
      date: Temporal.Now.instant(),
    });
  const began = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < sample) assert.equal((await send(next++)).outcome, 'Sent');
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const rate = (sample * 1_000) / (performance.now() - began);
  mailer.close();
  return rate;
}
