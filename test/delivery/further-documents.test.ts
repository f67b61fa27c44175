// Documents that no bill run makes: of credit notes and cancelled bills. Each is made once, and is
// the same file for ever.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { deleteOldDocuments } from '../../src/domain/delivery/retention.ts';
import { pageCount, readPdf } from '../documents/pdf-reader.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { asWorker } from '../support/daily-work.ts';
import { schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { makeWaiting } from '../support/made-documents.ts';
import { openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
const runner = scene.runJobs({ equipment });

after(async () => {
  await runner.stop();
  await equipment.close();
});

const make = (tenantId: number) => makeWaiting(scene, equipment, tenantId);

async function openPublished(workspace: string, customers = 1) {
  const client = await scene.workspace(workspace);
  await scene.enter(client);
  const parties = Array.from({ length: customers }, (_, index) => ({ name: `Customer ${index}` }));
  const term = await openPostedTerm(scene, client, parties);
  await client.publishBills(schedule(term.termId));
  return { client, ...term, billID: term.bills[0]?.billId ?? 0 };
}

/** Whatever is made from now on looks different. */
async function moveHouse(client: TestClient): Promise<void> {
  const letterhead = { address: ['12 New Street', 'Lahore'] };
  await client.updateSettings({ data: { name: 'City Power and Water', letterhead } });
}

test('the document of a credit note is made once, and stays as it is', async () => {
  const { client, tenantId, billID } = await openPublished('further-notes');
  const lines = [{ component: 'service', amount: 100 }];
  const { headers } = await client.makeCreditNotes({
    creditNotes: [{ billID, reference: 'CN-A', reason: 'A fault of ours', lines }],
  } as never);
  const creditNoteID = Number(headers.get('x-resource-id'));
  const file = async () => (await client.getCreditNoteDocument({ creditNoteID })).data.base64;
  const onRequest = await file();
  assert.equal(await make(tenantId), 1);
  assert.equal(await make(tenantId), 0);
  const kept = await file();
  assert.equal(kept, onRequest);
  await assertChecks(scene, tenantId);
  // It is read and not made again: other bytes in its place are found out.
  await scene.sql.query(
    `update document_contents set own = set_byte(own, 99, 0)
     where tenant_id = $1 and document_id = (
       select document_id from further_documents where tenant_id = $1)`,
    [tenantId],
  );
  await refuses(file(), 'DOCUMENT_DIFFERS');
});

test('a cancelled bill gets a second document, and keeps its first', async () => {
  const { client, tenantId, billID } = await openPublished('further-cancelled');
  const file = async (kind?: 'Original' | 'Cancelled') =>
    (await client.getBillDocument({ billID, ...(kind && { kind }) })).data.base64;
  const original = await file();
  await client.cancelBill({ data: { billID, reason: 'Wrong', rebill: false } });
  // That of the credit note, and that of the bill.
  assert.equal(await make(tenantId), 2);
  const cancelled = await file();
  assert.notEqual(cancelled, original);
  await moveHouse(client);
  assert.equal(await file('Cancelled'), cancelled);
  assert.equal(await file('Original'), original);
  const { rows } = await scene.sql.query(
    'select kind, subject_id::integer from further_documents where tenant_id = $1 order by kind',
    [tenantId],
  );
  assert.deepEqual(rows[0], { kind: 'Cancelled', subject_id: billID });
  assert.equal(rows.length, 2);
  await assertChecks(scene, tenantId);
});

test('a copy is the original with a mark across its pages, and leaves the original alone', async () => {
  const { client, tenantId, billID, bills } = await openPublished('further-copies');
  const file = async (kind: 'Original' | 'Copy', format: 'PDF' | 'HTML' = 'PDF') =>
    Buffer.from((await client.getBillDocument({ billID, kind, format })).data.base64, 'base64');
  const original = await file('Original');
  const copy = await file('Copy');
  assert.equal(pageCount(copy), pageCount(original));
  const { objects } = readPdf(copy);
  const contents = [...objects.values()].map(({ stream }) => stream?.toString('latin1') ?? '');
  assert.equal(contents.filter((text) => text.includes('/Mark Do')).length, pageCount(original));
  // All that the original shows is on the copy.
  const shown = [...readPdf(original).objects.values()]
    .map(({ stream }) => stream?.toString('latin1') ?? '')
    .filter((text) => text.includes(' Tf\n'));
  assert.equal(shown.length, pageCount(original));
  for (const text of shown) assert.ok(contents.includes(text));
  // A later letterhead changes neither.
  await moveHouse(client);
  assert.ok((await file('Copy')).equals(copy));
  assert.ok((await file('Original')).equals(original));
  assert.match((await file('Copy', 'HTML')).toString(), /COPY/);
  assert.doesNotMatch((await file('Original', 'HTML')).toString(), /COPY/);
  const { rows } = await scene.sql.query(
    'select count(*)::integer as n from document_contents where tenant_id = $1',
    [tenantId],
  );
  assert.equal(rows[0].n, bills.length, 'a copy is not kept');
  await client.cancelBill({ data: { billID, reason: 'Wrong', rebill: false } });
  assert.ok((await file('Copy')).equals(copy));
});

test('a bill that is not published has no original to copy', async () => {
  const client = await scene.workspace('further-drafts');
  await scene.enter(client);
  const { bills } = await openPostedTerm(scene, client, [{ name: 'Customer' }]);
  const billID = bills[0]?.billId ?? 0;
  const error = await refuses(client.getBillDocument({ billID, kind: 'Copy' }), 'INVALID_STATE');
  assert.match(error.message, /is not published: there is no original to copy/);
});

test('a bill that is billed again is documented when the new bill has its number', async () => {
  const { client, tenantId, billID } = await openPublished('further-again');
  await client.cancelBill({ data: { billID, reason: 'Wrong', rebill: true } });
  assert.equal(await make(tenantId), 1, 'that of the credit note');
  const { rows } = await scene.sql.query(
    "select term_id::integer as id from terms where tenant_id = $1 and status = 'Open'",
    [tenantId],
  );
  const again = rows[0].id;
  await client.generateBills(schedule(again));
  await client.postBills({ operation: 'schedule', data: { termID: again, skipErrors: false } });
  assert.equal(await make(tenantId), 1, 'that of the cancelled bill');
  const html = await client.getBillDocument({ billID, format: 'HTML' });
  const [bill] = (await client.getBills({ termID: again })).data.bills;
  assert.match(
    Buffer.from(html.data.base64, 'base64').toString(),
    new RegExp(bill?.billNumber ?? '-'),
  );
  await assertChecks(scene, tenantId);
});

test('files are deleted by whole years after the year of publication, and by nothing else', async () => {
  const { client, tenantId, billID, bills } = await openPublished('further-retention', 2);
  const otherID = bills[1]?.billId ?? 0;
  const file = async (id: number, format: 'PDF' | 'HTML' = 'PDF') =>
    (await client.getBillDocument({ billID: id, format })).data.base64;
  const other = await file(otherID);
  const zero = client.updateSettings({ data: { documentRetentionYears: 0 } });
  await refuses(zero, 'INVALID_NUMBER', { field: 'data.documentRetentionYears' });
  await client.updateSettings({ data: { documentRetentionYears: 2 } });
  const clean = (date: string) =>
    asWorker(scene, (database) =>
      tenantTransact(database, tenantId, (tx) =>
        deleteOldDocuments(tx, tenantId, { localDate: Temporal.PlainDate.from(date) }),
      ),
    );
  const publishedIn = (year: number, id: number) =>
    scene.sql.query(
      'update bill_documents set created_at = $3 where tenant_id = $1 and bill_id = $2',
      [tenantId, id, `${year}-06-01T12:00:00Z`],
    );
  const { year } = scene.clock.now().toZonedDateTimeISO('UTC');
  await publishedIn(year - 1, billID);
  await publishedIn(year, otherID);
  // Published last year, and kept for the two years after it.
  assert.deepEqual((await clean(`${year + 1}-12-31`)).outcome, { documents: 0, parts: 0 });
  assert.deepEqual((await clean(`${year + 2}-01-01`)).outcome, { documents: 1, parts: 0 });
  const gone = await refuses(file(billID), 'DOCUMENT_DELETED');
  assert.ok(gone.message.includes(`was deleted on 01/01/${year + 2}`), gone.message);
  assert.match(Buffer.from(await file(billID, 'HTML'), 'base64').toString(), /<html/);
  assert.equal(await file(otherID), other, 'what documents share is kept');
  await assertChecks(scene, tenantId);
  // Parts go with the last document that has them.
  const { rows } = await scene.sql.query(
    'select count(*)::integer as n from document_parts where tenant_id = $1',
    [tenantId],
  );
  await scene.sql.query('update document_parts set last_year = $2 where tenant_id = $1', [
    tenantId,
    year,
  ]);
  assert.deepEqual((await clean(`${year + 3}-01-01`)).outcome, { documents: 1, parts: rows[0].n });
  assert.ok(rows[0].n > 0);
  await assertChecks(scene, tenantId);
  // A file that is missing for another reason is reported.
  await scene.sql.query('update bill_documents set deleted_on = null where tenant_id = $1', [
    tenantId,
  ]);
  await assert.rejects(assertChecks(scene, tenantId), /is not the one that was published/);
});
