// The program is replaced by a build that lays out pages differently. Documents that were published
// before stay the same bytes, wherever they are read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sha256Of } from '../../src/domain/delivery/document-file.ts';
import { readPdf } from '../documents/pdf-reader.ts';
import { checkedClient, type TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { startMailServer } from '../support/mail-server.ts';
import { parseMail } from '../support/parsed-mail.ts';
import { mailParties, openPostedTerm, type PostedTerm } from '../support/posted-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { startServerProcess } from '../support/server-process.ts';
import { tamper } from '../support/tampering.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

// A worker process does the jobs of every workspace of its database.
const scene = await openScene({ ownDatabase: true, scheduleWaitSeconds: 0 });
const mailServer = await startMailServer({ slowMs: 0 });
after(() => mailServer.close());

const anotherBuild = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('../support/changed-layout.ts', import.meta.url))}`,
};

async function fileOf(client: TestClient, term: PostedTerm): Promise<Buffer> {
  const { data } = await client.getBillDocument({ billID: term.bills[0]?.billId ?? 0 });
  return Buffer.from(data.base64, 'base64');
}

/** Where the first text of a page begins. */
function marginOf(file: Buffer): number {
  const pages = [...readPdf(file).objects.values()].map(({ stream }) => String(stream));
  const starts = pages.flatMap((page) => [...page.matchAll(/^1 0 0 -1 ([\d.]+) [\d.]+ Tm/gm)]);
  return Math.min(...starts.map(([, x]) => Number(x)));
}

async function reaches({ termId, tenantId }: PostedTerm, stage: string): Promise<void> {
  await until(async () => {
    const { rows } = await scene.sql.query(
      'select stage from terms where tenant_id = $1 and term_id = $2',
      [tenantId, termId],
    );
    return rows[0].stage === stage;
  }, `the term is ${stage}`);
}

async function publish(client: TestClient, term: PostedTerm): Promise<void> {
  await client.publishBills(schedule(term.termId));
  await reaches(term, 'Published');
}

test('a build with another layout returns and mails documents as they were published', async () => {
  const client = await scene.workspace('earlier-build');
  const later = await scene.workspace('later-build');
  const term = await openPostedTerm(scene, client, mailParties(1));
  const laterTerm = await openPostedTerm(scene, later, mailParties(1));
  const publisher = scene.runJobs();
  await publish(client, term);
  await publisher.stop();
  const published = await fileOf(client, term);
  const draft = await fileOf(later, laterTerm);

  const server = await startServerProcess(scene, anotherBuild);
  const [newClient, newLater] = [client, later].map((one) => {
    const another = checkedClient(server.baseUrl, one.workspace);
    another.useToken(one.token ?? '');
    return another;
  }) as [TestClient, TestClient];
  assert.ok(!(await fileOf(newLater, laterTerm)).equals(draft), 'a draft has the new layout');
  assert.ok((await fileOf(newClient, term)).equals(published));

  const worker = await startWorkerProcess(scene, { ...anotherBuild, SMTP_URL: mailServer.url });
  await client.distributeBills(schedule(term.termId));
  await reaches(term, 'Distributed');
  const { attachments } = await parseMail(mailServer.received[0]);
  const sent = attachments.find(({ mimeType }) => mimeType === 'application/pdf');
  assert.ok(Buffer.from(sent?.content as ArrayBuffer).equals(published));

  await publish(later, laterTerm);
  const publishedLater = await fileOf(later, laterTerm);
  assert.equal(marginOf(publishedLater), marginOf(await fileOf(newLater, laterTerm)));
  assert.notEqual(marginOf(publishedLater), marginOf(published), 'a new bill has the new layout');
  assert.equal(await worker.end('SIGTERM'), 0);
});

/** Rows of document_contents and document_parts, in base64, as the build of November 2026 kept them. */
type KeptRows = {
  sha256: string;
  size: number;
  own: string;
  parts: { offset: number; bytes: string }[];
};

test('a document in the form that an earlier build kept it is returned byte for byte', async () => {
  const kept = JSON.parse(
    readFileSync(new URL('../cases/kept-document.json', import.meta.url), 'utf8'),
  ) as KeptRows;
  const client = await scene.workspace('kept-rows');
  const term = await openPostedTerm(scene, client, mailParties(1));
  const publisher = scene.runJobs();
  await publish(client, term);
  await publisher.stop();
  const hashes = kept.parts.map(({ bytes }) => sha256Of(Buffer.from(bytes, 'base64')));
  const own = `tenant_id = ${term.tenantId}`;
  await tamper(
    scene,
    `delete from document_parts where ${own}`,
    ...kept.parts.map(
      ({ bytes }, index) => `insert into document_parts (tenant_id, sha256, bytes, last_year)
        values (${term.tenantId}, '\\x${hashes[index]}', decode('${bytes}', 'base64'), 2026)`,
    ),
    `update document_contents set own = decode('${kept.own}', 'base64'),
       part_offsets = '{${kept.parts.map(({ offset }) => offset).join(',')}}',
       part_hashes = array[${hashes.map((hash) => `'\\x${hash}'::bytea`).join(',')}]
     where ${own}`,
    `update bill_documents set size = ${kept.size}, sha256 = '\\x${kept.sha256}' where ${own}`,
  );
  const file = await fileOf(client, term);
  assert.deepEqual([file.length, sha256Of(file)], [kept.size, kept.sha256]);
  assert.match(file.subarray(0, 5).toString(), /%PDF-/);
});
