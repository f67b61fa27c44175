// Step 8: documents are made, bills become visible, and one that cannot be made keeps back itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  addSubscription,
  addTerm,
  generate,
  openBillRun,
  post,
  tariffCase,
} from '../support/bill-run.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { mailParties, openPostedTerm, type PostedTerm, spoilBill } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
scene.runJobs();

async function termRow({ tenantId, termId }: PostedTerm) {
  const { rows } = await scene.sql.query(
    `select status, stage, issue_date::text from terms where tenant_id = $1 and term_id = $2`,
    [tenantId, termId],
  );
  return rows[0];
}

async function pdfOf(client: TestClient, billId: number): Promise<Buffer> {
  const { data } = await client.getBillDocument({ billID: billId, format: 'PDF' });
  assert.equal(data.contentType, 'application/pdf');
  return Buffer.from(data.base64, 'base64');
}

async function htmlOf(client: TestClient, billId: number): Promise<string> {
  const { data } = await client.getBillDocument({ billID: billId, format: 'HTML' });
  assert.match(data.contentType, /^text\/html/);
  return Buffer.from(data.base64, 'base64').toString();
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function documentsOf({ tenantId, termId }: PostedTerm) {
  const { rows } = await scene.sql.query(
    `select b.bill_id::integer as bill, b.status, b.issue_date::text, b.due_date::text, d.size,
       encode(d.sha256, 'hex') as hash, d.template_version as template, d.error
     from bills b left join bill_documents d using (tenant_id, bill_id)
     where b.tenant_id = $1 and b.term_id = $2 order by b.bill_id`,
    [tenantId, termId],
  );
  return rows;
}

const today = () => scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate().toString();

test('publish-bills makes every document, and get-bill-document the very same bytes', async () => {
  const client = await scene.workspace('publish');
  const term = await openPostedTerm(scene, client, mailParties(3));
  const { message } = await client.publishBills(schedule(term.termId));
  assert.equal(message, '3 bills published');
  const published = { status: 'Published', stage: 'Published', issue_date: today() };
  assert.deepEqual(await termRow(term), published);
  const documents = await documentsOf(term);
  assert.equal(documents.length, 3);
  for (const row of documents) {
    assert.equal(row.status, 'Published');
    assert.equal(row.issue_date, today());
    assert.equal(row.due_date, '2026-08-15');
    const bytes = await pdfOf(client, row.bill);
    assert.equal(bytes.subarray(0, 5).toString(), '%PDF-');
    assert.deepEqual([bytes.length, sha256(bytes)], [row.size, row.hash]);
    assert.match(await htmlOf(client, row.bill), /Customer \d/);
  }
});

test('a published document stays the same, whatever changes afterwards', async () => {
  const client = await scene.workspace('frozen');
  const term = await openPostedTerm(scene, client, mailParties(2));
  const { tenantId } = term;
  const billId = term.bills[0]?.billId ?? 0;
  await client.publishBills(schedule(term.termId));
  const before = await pdfOf(client, billId);
  const page = await htmlOf(client, billId);
  await client.updateUser({ user: { partyNumber: 100001, name: 'Another Name' } });
  await client.updateTemplate({
    data: { templateID: 1, body: 'Other words for {{bill.partyName}}' },
  });
  const service = { code: term.serviceCode, name: 'Renamed' };
  await client.updateService({ service: service as never });
  const letterhead = { name: 'Renamed Ltd', color: '#ff0000', pageSize: 'Letter' };
  await client.updateSettings({ data: { name: 'Renamed', locale: 'ur', letterhead } });
  await scene.sql.query(
    `update bills set paid_amount = bill_amount
     where tenant_id = $1 and bill_id = $2`,
    [tenantId, billId],
  );
  assert.ok(before.equals(await pdfOf(client, billId)));
  assert.equal(await htmlOf(client, billId), page);
});

test('a document calls inputs by their labels, as they were when it was published', async () => {
  const saas = tariffCase('SAAS');
  const called = (label: string) =>
    (saas.service.unmeteredInputs ?? []).map((one) =>
      one.name === 'apiCalls' ? { ...one, label } : one,
    );
  const service = { ...saas.service, unmeteredInputs: called('Calls of the API') };
  const run = await openBillRun(scene, { ...saas, service });
  const { client } = run;
  const termId = await addTerm(run);
  const [facts] = saas.scenarios;
  assert.ok(facts);
  await addSubscription(run, termId, facts);
  await generate(run, termId);
  const [bill] = (await client.getBills({ termID: termId })).data.bills;
  const billId = bill?.billID ?? 0;
  assert.match(await htmlOf(client, billId), /Calls of the API: 1,284,350 call/, 'as a draft');
  await post(run, termId, true);
  await client.publishBills(schedule(termId));
  const page = await htmlOf(client, billId);
  assert.match(page, /Calls of the API: 1,284,350 call/);
  const unmeteredInputs = called('Renamed');
  await client.updateService({
    service: { code: service.code, name: 'Renamed', unmeteredInputs } as never,
  });
  assert.equal(await htmlOf(client, billId), page);
});

test('a bill without a document is not published, others are; after the correction it is published too', async () => {
  const client = await scene.workspace('poison');
  const [one, two, three] = mailParties(3);
  const address = { city: 'Lahore' };
  const parties = [{ ...one, address }, { ...two }, { ...three, address }];
  const term = await openPostedTerm(scene, client, parties as never);
  await client.updateTemplate({
    data: { templateID: 1, body: 'Delivered in {{bill.address.city!}}' },
  });
  const failed = await client.publishBills(schedule(term.termId)).then(
    () => assert.fail('published'),
    (error) => error,
  );
  assert.equal(failed.code, 'BILLS_NOT_PUBLISHED');
  const bad = term.bills[1];
  assert.deepEqual(
    failed.error.details.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [[`bills[${bad?.billId}]`, 'TEMPLATE_INVALID']],
  );
  const shown = await client.getBills({ termID: term.termId });
  assert.deepEqual(
    shown.data.bills.map((bill) => [bill.status, bill.documents.length, bill.errors.length]),
    [
      ['Published', 1, 0],
      ['Posted', 0, 1],
      ['Published', 1, 0],
    ],
  );
  const { data } = await client.getBillTerm({ billTermID: term.termId });
  assert.deepEqual(
    data.exceptions.map(({ billID, code }) => [billID, code]),
    [[bad?.billId, 'TEMPLATE_INVALID']],
  );
  assert.deepEqual(await termRow(term), {
    status: 'Posted',
    stage: 'Publishing',
    issue_date: today(),
  });
  const first = await documentsOf(term);
  assert.deepEqual(
    first.map((row) => [row.status, row.template, row.error?.code]),
    [
      ['Published', 2, undefined],
      ['Posted', 2, 'TEMPLATE_INVALID'],
      ['Published', 2, undefined],
    ],
  );
  const early = await pdfOf(client, first[0].bill);
  await client.updateTemplate({ data: { templateID: 1, body: 'Delivered to your door' } });
  const { message } = await client.publishBills(schedule(term.termId));
  assert.equal(message, '3 bills published');
  const second = await documentsOf(term);
  assert.deepEqual(second[0], first[0], 'what was published before stays');
  assert.deepEqual(
    second.map((row) => [row.status, row.template, row.error]),
    [
      ['Published', 2, null],
      ['Published', 3, null],
      ['Published', 2, null],
    ],
  );
  assert.ok(early.equals(await pdfOf(client, first[0].bill)));
  assert.equal(sha256(await pdfOf(client, second[1].bill)), second[1].hash);
  assert.match(await htmlOf(client, second[1].bill), /Delivered to your door/);
  assert.match(await htmlOf(client, second[0].bill), /Delivered in .*Lahore/);
});

test('a bill that makes the renderer throw is not published, others are; later it is published too', async () => {
  const client = await scene.workspace('throwing');
  const term = await openPostedTerm(scene, client, mailParties(3));
  const bad = term.bills[1]?.billId ?? 0;
  // No list any more: whoever goes through it throws.
  const mend = await spoilBill(scene, { ...term, billId: bad }, `'{"lines": 5}'`);
  const { error } = await refuses(
    client.publishBills(schedule(term.termId)),
    'BILLS_NOT_PUBLISHED',
  );
  assert.deepEqual(
    error.details.map(({ field, code }) => [field, code]),
    [[`bills[${bad}]`, 'DOCUMENT_FAILED']],
  );
  const documents = await documentsOf(term);
  assert.deepEqual(
    documents.map((row) => [row.status, row.error?.code]),
    [
      ['Published', undefined],
      ['Posted', 'DOCUMENT_FAILED'],
      ['Published', undefined],
    ],
  );
  assert.match(documents[1].error.message, /^The document could not be created: .*not a function/);
  await mend();
  const { message } = await client.publishBills(schedule(term.termId));
  assert.equal(message, '3 bills published');
});

test('a term without a published bill can be unposted and begun again', async () => {
  const client = await scene.workspace('taken-back');
  const term = await openPostedTerm(scene, client, mailParties(2));
  const { termId } = term;
  await client.updateTemplate({ data: { templateID: 1, body: '{{bill.address.city!}}' } });
  assert.equal(await codeOf(client.publishBills(schedule(termId))), 'BILLS_NOT_PUBLISHED');
  const { operation } = schedule(termId);
  await client.unpostBills({ operation, data: { termID: termId, reason: 'no addresses' } });
  assert.equal((await termRow(term)).issue_date, null);
  await scene.sql.query(`update subscriptions set address = '{"city": "Lahore"}', ts = ts + 1`);
  await client.generateBills(schedule(termId));
  await client.postBills(schedule(termId));
  assert.equal((await client.publishBills(schedule(termId))).message, '2 bills published');
  assert.equal((await termRow(term)).issue_date, today());
});

test('only a posted term is published; whatever else is refused and changes nothing', async () => {
  const client = await scene.workspace('publish-guards');
  const term = await openPostedTerm(scene, client, mailParties(1));
  const stages = [
    ['Open', 'Created', /^Term \S+ is Created\. Its bills are not generated\. .+ generate-bills/],
    ['Open', 'Generated', /^Term \S+ is Generated\. Its bills are not posted\. .+ post-bills/],
    ['Open', 'Posting', /^Term \S+ is Posting\. Its posting is not finished\. .+ post-bills/],
    ['Published', 'Published', /^Term \S+ was published before\. Send its bills with distribute/],
    ['Published', 'Distributed', /^Term \S+ was published before\./],
    ['Cancelled', 'Cancelled', /^Term \S+ is cancelled\. Open a new one with make-term/],
  ] as const;
  for (const [status, stage, message] of stages) {
    await scene.sql.query(
      `update terms set status = $3, stage = $4 where tenant_id = $1 and term_id = $2`,
      [term.tenantId, term.termId, status, stage],
    );
    const before = await hashRows(scene.sql, term.tenantId);
    const { error } = await refuses(client.publishBills(schedule(term.termId)), 'INVALID_STATE');
    assert.match(error.message, message);
    assert.deepEqual(await hashRows(scene.sql, term.tenantId), before, stage);
  }
  assert.equal(await codeOf(client.publishBills(schedule(999))), 'TERM_NOT_FOUND');
  const one = { ...schedule(term.termId), billId: term.bills[0]?.billId };
  assert.equal(await codeOf(client.publishBills(one as never)), 'INVALID_TYPE');
});

test('a term is published by its job in the future, by the guards of that moment', async () => {
  const client = await scene.workspace('publish-later');
  const term = await openPostedTerm(scene, client, mailParties(1));
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const tomorrow = today.add({ days: 1 });
  const { message } = await client.publishBills(schedule(term.termId, `${tomorrow}T08:00:00`));
  assert.equal(message, `scheduled for ${tomorrow} 08:00:00`);
  assert.equal((await termRow(term)).stage, 'Posted');
});

test('a draft is marked as one, and no customer sees it or the bill of another', async () => {
  const client = await scene.workspace('customer');
  const term = await openPostedTerm(scene, client, mailParties(2));
  const [own, other] = term.bills;
  const customer = await scene.loginAs(client, ['Customer'], { partyNumber: 100001 });
  const asks = (billID: number) => codeOf(customer.getBillDocument({ billID, format: 'PDF' }));
  assert.match(await htmlOf(client, own?.billId ?? 0), /DRAFT/);
  assert.equal(await asks(own?.billId ?? 0), 'BILL_NOT_FOUND', 'it is not published yet');
  await client.publishBills(schedule(term.termId));
  assert.doesNotMatch(await htmlOf(client, own?.billId ?? 0), /DRAFT/);
  assert.equal(await asks(own?.billId ?? 0), 'success');
  assert.equal(await asks(other?.billId ?? 0), 'BILL_NOT_FOUND');
  assert.equal(await asks(999_999), 'BILL_NOT_FOUND');
  const bill = [term.tenantId, own?.billId];
  await scene.sql.query(
    `update bills set status = 'Cancelled' where tenant_id = $1 and bill_id = $2`,
    bill,
  );
  assert.equal(await asks(own?.billId ?? 0), 'BILL_NOT_FOUND');
  assert.match(await htmlOf(client, own?.billId ?? 0), /CANCELLED/);
});

test('a document that is not the published one is not shown as if it were', async () => {
  const client = await scene.workspace('tampered');
  const term = await openPostedTerm(scene, client, mailParties(1));
  await client.publishBills(schedule(term.termId));
  const billID = term.bills[0]?.billId ?? 0;
  const set = (assignment: string) =>
    scene.sql.query(`update bill_documents set ${assignment} where tenant_id = ${term.tenantId}`);
  await set(`sha256 = sha256('something else')`);
  assert.equal(await codeOf(client.getBillDocument({ billID })), 'DOCUMENT_DIFFERS');
});

test('a published document is the same file, whatever the program would make of the bill now', async () => {
  const client = await scene.workspace('for-ever');
  const term = await openPostedTerm(scene, client, mailParties(2));
  await client.publishBills(schedule(term.termId));
  const billID = term.bills[0]?.billId ?? 0;
  const file = async () => (await client.getBillDocument({ billID })).data.base64;
  const published = await file();
  const values = [term.tenantId, billID];
  await scene.enter(client);
  await scene.sql.query(
    "update bills set due_date = '2030-01-01' where tenant_id = $1 and bill_id = $2",
    values,
  );
  assert.match(await htmlOf(client, billID), /2030/);
  assert.equal(await file(), published);
});
