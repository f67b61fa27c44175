// Bills on paper: the files of a term are found, and any server gives the very bytes again.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { codeOf, deliveriesOf, schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment({});
const runner = scene.runJobs({ equipment });

after(async () => {
  await runner.stop();
  await equipment.close();
});

const onPaper = ['Amina', 'Bilal', 'Chandni'].map((name) => ({
  name,
  deliveryChannels: ['Print' as const],
}));

let made = 0;

async function openPrinted(parties: Parameters<typeof openPostedTerm>[2] = onPaper) {
  made += 1;
  const client = await scene.workspace(`print-${made}`);
  const term = await openPostedTerm(scene, client, parties);
  await client.publishBills(schedule(term.termId));
  return { client, ...term };
}

const again = (termID: number) => ({
  operation: 'schedule' as const,
  data: { termID, sheduleTime: null, resend: true },
});

function pagesIn(base64: string): number {
  return Buffer.from(base64, 'base64').toString('latin1').split('/Type /Page\n').length - 1;
}

test('a print file is found by its term and is the very file that the worker wrote', async () => {
  const { client, termId, bills } = await openPrinted([...onPaper, { name: 'In the portal' }]);
  assert.deepEqual((await client.getPrintFiles({ termID: termId })).data.printFiles, []);
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '1 in the portal, 3 printed');
  const { data, message: count } = await client.getPrintFiles({ termID: termId });
  assert.equal(count, '1 found');
  const [file] = data.printFiles;
  assert.deepEqual([file?.termID, file?.part, file?.bills], [termId, 1, 3]);
  const [delivery] = (await deliveriesOf(client, termId)).filter((one) => one.channel === 'Print');
  assert.deepEqual([delivery?.jobID, delivery?.reason], [file?.jobID, file?.name]);
  const path = join(equipment.dataFolder, file?.name ?? '');
  const written = readFileSync(path);
  assert.equal(file?.size, written.length);
  // Another server has no such file.
  rmSync(path);
  const asked = { jobID: file?.jobID ?? 0, part: 1 };
  const found = await client.getPrintFile(asked);
  assert.equal(found.message, '1 found');
  assert.equal(found.data.contentType, 'application/pdf');
  assert.ok(Buffer.from(found.data.base64, 'base64').equals(written));
  assert.equal(bills.length, 4);
  assert.equal(pagesIn(found.data.base64), 3);
});

test('print files of later requests follow, in pages', async () => {
  const { client, termId, bills } = await openPrinted();
  await client.distributeBills(schedule(termId));
  await client.distributeBills(again(termId));
  await client.distributeBills({ ...schedule(termId), billId: bills[1]?.billId ?? 0 });
  const { data } = await client.getPrintFiles({ termID: termId });
  assert.deepEqual(
    data.printFiles.map((file) => file.bills),
    [3, 3, 1],
  );
  const jobs = data.printFiles.map((file) => file.jobID ?? 0);
  assert.deepEqual(
    jobs,
    jobs.toSorted((a, b) => a - b),
  );
  const page = { pageNumber: 1, size: 2 };
  const last = await client.getPrintFiles({ page, metaData: { fields: ['jobID', 'bills'] } });
  assert.equal(last.message, '3 found');
  assert.deepEqual(last.data.printFiles, [{ jobID: jobs[2], bills: 1 }]);
  assert.equal((await client.getPrintFiles({ termID: termId + 1 })).message, '0 found');
  for (const [index, jobID] of jobs.entries()) {
    const found = await client.getPrintFile({ jobID, part: 1 });
    assert.equal(pagesIn(found.data.base64), index < 2 ? 3 : 1);
  }
});

test('a bill that could not be printed is in no file', async () => {
  const { client, termId, bills, tenantId } = await openPrinted();
  const gone = bills[0]?.billId ?? 0;
  const text = 'delete from bill_documents where tenant_id = $1 and bill_id = $2';
  await scene.sql.query(text, [tenantId, gone]);
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 printed, 1 failed');
  const [file] = (await client.getPrintFiles({ termID: termId })).data.printFiles;
  assert.equal(file?.bills, 2);
  const found = await client.getPrintFile({ jobID: file?.jobID ?? 0, part: 1 });
  assert.equal(found.message, '1 found');
  assert.equal(pagesIn(found.data.base64), 2);
});

test('a bill that is printed after a resend request is listed', async () => {
  const { client, termId, bills, tenantId } = await openPrinted();
  const ofFirst = [tenantId, bills[0]?.billId ?? 0];
  const flip = () =>
    scene.sql.query(
      `update bill_documents set sha256 = set_byte(sha256, 0, 255 - get_byte(sha256, 0))
       where tenant_id = $1 and bill_id = $2`,
      ofFirst,
    );
  await flip();
  await client.distributeBills(schedule(termId));
  const failed = (await deliveriesOf(client, termId)).find(({ status }) => status === 'Failed');
  const resend = () =>
    client.resolveDeliveries({
      data: { termID: termId, deliveryIDs: [failed?.deliveryID ?? 0], resolution: 'Resend' },
    });
  assert.equal((await resend()).message, '1 failed');
  await flip();
  assert.equal((await resend()).message, '1 printed');
  const { data } = await client.getPrintFiles({ termID: termId });
  assert.deepEqual(
    data.printFiles.map((file) => file.bills),
    [2, 1],
  );
});

test('get-print-file refuses what there is not, and what is not what was printed', async () => {
  const { client, termId, bills, tenantId } = await openPrinted();
  await client.distributeBills(schedule(termId));
  const [file] = (await client.getPrintFiles({ termID: termId })).data.printFiles;
  const asked = { jobID: file?.jobID ?? 0, part: 1 };
  assert.equal(await codeOf(client.getPrintFile({ ...asked, part: 2 })), 'PRINT_FILE_NOT_FOUND');
  assert.equal(await codeOf(client.getPrintFile({ ...asked, jobID: 1 })), 'PRINT_FILE_NOT_FOUND');
  const last = { ...asked, part: 2 ** 31 - 1 };
  assert.equal(await codeOf(client.getPrintFile(last)), 'PRINT_FILE_NOT_FOUND');
  assert.equal(await codeOf(client.getPrintFile({ ...last, part: 2 ** 31 })), 'INVALID_NUMBER');
  const other = await scene.workspace('print-other');
  assert.equal(await codeOf(other.getPrintFile(asked)), 'PRINT_FILE_NOT_FOUND');
  const flip = () =>
    scene.sql.query(
      `update document_contents set own = set_byte(own, 99, 255 - get_byte(own, 99))
       where tenant_id = $1`,
      [tenantId],
    );
  await flip();
  assert.equal(await codeOf(client.getPrintFile(asked)), 'DOCUMENT_DIFFERS');
  await flip();
  await scene.sql.query(
    "update bills set status = 'Cancelled' where tenant_id = $1 and bill_id = $2",
    [tenantId, bills[2]?.billId],
  );
  const marked = await client.getPrintFile(asked);
  assert.equal(marked.message, '1 found, with 1 cancelled since and marked so');
  assert.equal(pagesIn(marked.data.base64), 3);
});

test('a server makes few print files at a time, and goes on afterwards', async () => {
  const { client, termId } = await openPrinted();
  await client.distributeBills(schedule(termId));
  const [file] = (await client.getPrintFiles({ termID: termId })).data.printFiles;
  const asked = { jobID: file?.jobID ?? 0, part: 1 };
  const codes = await Promise.all(
    Array.from({ length: 12 }, () => codeOf(client.getPrintFile(asked))),
  );
  assert.deepEqual([...new Set(codes)].toSorted(), ['RATE_LIMITED', 'success']);
  assert.equal(await codeOf(client.getPrintFile(asked)), 'success');
});
