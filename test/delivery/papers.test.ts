// Documents that are no bills: receipts, statements and reminders as files.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import { sendNotices } from '../../src/domain/delivery/send-notices.ts';
import { pageCount, readPdf } from '../documents/pdf-reader.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { asWorker } from '../support/daily-work.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { makeWaiting } from '../support/made-documents.ts';
import { openOwing } from '../support/owing.ts';
import { parseMail, wordsOf } from '../support/parsed-mail.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
const runner = scene.runJobs({ equipment });
const log = createLog({ level: 'silent' });

after(async () => {
  await runner.stop();
  await equipment.close();
});

const make = (tenantId: number) => makeWaiting(scene, equipment, tenantId);

/** Mails of a sandbox become files, in the order of their ids. */
function mails(): { to: string[]; text: string }[] {
  const folder = join(equipment.dataFolder, 'outbox');
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => ({ to: [], text: readFileSync(join(folder, name), 'latin1') }));
}

const bytesOf = ({ data }: { data: { base64: string } }) => Buffer.from(data.base64, 'base64');

function marksOf(file: Buffer): number {
  const streams = [...readPdf(file).objects.values()].map(({ stream }) => String(stream));
  return streams.filter((text) => text.includes('/Mark Do')).length;
}

test('a receipt shows what the payment settled, and is kept from the first call on', async () => {
  const place = await openOwing(scene, 'paper-receipts');
  const { client, tenantId } = place;
  const cashDesk = { code: 'GATE', name: 'Counter at the gate', cashAccountID: 1 };
  await client.makeCashDesks({ cashDesks: [cashDesk] });
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 300 });
  // 300 to the bill, 50 to the wallet.
  const paymentID = await place.pay({
    amount: 350,
    cashDesk: 'GATE',
    remark: 'Paid by a neighbour',
  });
  const file = async (kind: 'Original' | 'Reversed' | 'Copy' | null = null) =>
    bytesOf(await client.getReceiptDocument({ paymentID, ...(kind && { kind }) }));
  const page = async () =>
    bytesOf(await client.getReceiptDocument({ paymentID, format: 'HTML' })).toString();
  const html = await page();
  for (const shown of ['GATE-', 'Counter at the gate', '300.00', '50.00', '350.00', 'neighbour']) {
    assert.ok(html.includes(shown), shown);
  }
  assert.ok(html.includes(bill?.billNumber ?? '-'));
  // Of two first calls at once, one keeps it and both return its bytes.
  const [kept, second] = (await Promise.all([file(), file()])) as [Buffer, Buffer];
  assert.ok(kept.equals(second));
  assert.equal(await make(tenantId), 0, 'nothing is left to a worker');
  const { rows } = await scene.sql.query(
    `select encode(sha256, 'hex') as hash from further_documents where tenant_id = $1`,
    [tenantId],
  );
  assert.deepEqual(rows, [{ hash: createHash('sha256').update(kept).digest('hex') }]);
  assert.equal(marksOf(await file('Copy')), 1);
  await refuses(file('Reversed'), 'INVALID_STATE', { field: 'kind' });
  await client.updateSettings({ data: { name: 'City Power and Water' } });
  await client.reversePayment({ data: { paymentID, reason: 'Typed twice' } });
  assert.ok((await file('Original')).equals(kept), 'neither name nor reversal changes it');
  assert.equal(marksOf(await file()), 1);
  assert.match(await page(), /REVERSED on/);
  await assertChecks(scene, tenantId);
});

test('a statement of account is a document with each entry, the balances and the aging', async () => {
  const place = await openOwing(scene, 'paper-statements');
  const { client, party: partyNumber } = place;
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 300 });
  await place.pay({ amount: 120, reference: 'S-1' });
  await place.bill({ [number]: 50 });
  const document = (more: object) => client.getStatementDocument({ partyNumber, ...more });
  const html = bytesOf(await document({ format: 'HTML' })).toString();
  // 0, + 300, - 120, + 50
  for (const balance of ['0.00', '300.00', '180.00', '230.00']) {
    assert.ok(html.includes(`>${balance}<`), balance);
  }
  for (const shown of [bill?.billNumber ?? '-', 'S-1', 'Opening balance', 'Not yet due']) {
    assert.ok(html.includes(shown), shown);
  }
  const file = bytesOf(await document({}));
  assert.equal(pageCount(file), 1);
  await refuses(document({ fromDate: '01/02/2099' }), 'INVALID_DATE', { field: 'fromDate' });
  const unknown = client.getStatementDocument({ partyNumber: 99 });
  await refuses(unknown, 'PARTY_NOT_FOUND', { field: 'partyNumber' });
  // As many entries as a document has, and one more.
  await scene.enter(place.client);
  await scene.sql.query(
    `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
       subscription_id, kind, amount, posting_date, created_at, created_by)
     select e.tenant_id, 900000 + n, e.journal_id, 2, e.party_id, e.subscription_id, 'Adjustment',
       case when n % 2 = 0 then 100 else -100 end, e.posting_date, e.created_at, 'test'
     from subledger_entries e cross join generate_series(1, 4997) n
     where e.tenant_id = ${place.tenantId} and e.kind = 'Payment' and e.ledger_account_id = 2`,
  );
  const long = bytesOf(await document({}));
  assert.ok(pageCount(long) > 50);
  await place.pay({ amount: 1, reference: 'S-2' });
  const error = await refuses(document({}), 'DOCUMENT_TOO_LONG', { field: 'fromDate' });
  assert.match(error.message, /has 5001 entries, and a document at most 5000/);
});

test('receipts are mailed if the workspace wants it, by its template, once', async () => {
  const place = await openOwing(scene, 'paper-mails');
  const { client, tenantId, party: partyNumber } = place;
  const send = () =>
    asWorker(scene, (database) =>
      sendNotices({ database, log, ...equipment }, tenantId, scene.clock),
    );
  await client.updateUser({ user: { partyNumber, email: 'payer@customer.example' } });
  await place.pay({ amount: 10 });
  assert.equal(await make(tenantId), 0, 'off in a new workspace');
  const unknown = client.updateSettings({ data: { receiptMail: { templateID: 99 } } });
  await refuses(unknown, 'TEMPLATE_NOT_FOUND', { field: 'data.receiptMail.templateID' });
  await client.updateSettings({ data: { receiptMail: {} } });
  const paymentID = await place.pay({ amount: 350 });
  const reversed = await place.pay({ amount: 5 });
  await client.reversePayment({ data: { paymentID: reversed, reason: 'Typed twice' } });
  assert.equal(await make(tenantId), 2);
  assert.equal(await send(), 1, 'none for the reversed payment');
  assert.equal(await send(), 0, 'once');
  const first = await parseMail(mails()[0] as never);
  assert.equal(first.to?.[0]?.address, 'payer@customer.example');
  for (const words of [first.text ?? '', wordsOf(first.html)]) {
    assert.match(words, /Dear A\. Khan,/);
    assert.match(words, /We received 350\.00 PKR on/);
    assert.match(words, /Amount received:? \S+\s350\.00/);
    assert.doesNotMatch(words, /How to pay/);
  }
  const kept = bytesOf(await client.getReceiptDocument({ paymentID }));
  assert.deepEqual(
    first.attachments.map((one) => kept.equals(Buffer.from(one.content as ArrayBuffer))),
    [true],
  );
  const { headers } = await client.makeTemplates({
    templates: [
      { type: 'Email', name: 'Receipt', subject: 'Thanks', body: 'By {{payment.method}}' },
    ],
  });
  const templateID = Number(headers.get('x-resource-id'));
  await client.updateSettings({ data: { receiptMail: { templateID } } });
  await place.pay({ amount: 7, paymentMethod: 'DirectDebit' });
  await make(tenantId);
  assert.equal(await send(), 1);
  const second = await parseMail(mails()[1] as never);
  assert.equal(second.subject, 'Thanks');
  assert.match(second.text ?? '', /^By Direct debit/);
  await client.updateSettings({ data: { receiptMail: null } });
  await place.pay({ amount: 8 });
  assert.equal(await make(tenantId), 0);
  await assertChecks(scene, tenantId);
});

test('a template is previewed with a sample or a bill, and nothing is stored', async () => {
  const place = await openOwing(scene, 'paper-previews');
  const { client } = place;
  const number = await place.connectOld();
  const subject = 'Bill {{bill.billNumber}}';
  const body = 'Dear {{bill.partyName}}, {{bill.billAmount}} is billed.';
  const mail = { type: 'Email' as const, subject, body };
  const sample = (await client.previewTemplate({ template: mail })).data;
  assert.equal(sample.billNumber, null);
  assert.match(sample.contentType, /^text\/html/);
  const [bill] = await place.bill({ [number]: 300 });
  const { data } = await client.previewTemplate({ template: mail, format: 'Text' });
  assert.equal(data.subject, `Bill ${bill?.billNumber}`);
  assert.match(bytesOf({ data }).toString(), /^Dear A\. Khan, 300\.00 is billed\./);
  const portalAddress = 'https://bills.example';
  await client.updateSettings({ data: { portalAddress } });
  const linked = await client.previewTemplate({ template: mail, format: 'Text' });
  assert.match(bytesOf(linked).toString(), /https:\/\/bills\.example\/portal/, 'as it is sent');
  const notes = { type: 'Invoice' as const, body: 'Seen by {{bill.partyName}}' };
  const html = await client.previewTemplate({ template: notes, format: 'HTML' });
  assert.match(bytesOf(html).toString(), /Seen by .*A\. Khan/);
  const pdf = await client.previewTemplate({ templateID: 1, billID: bill?.billID ?? 0 });
  assert.equal(pageCount(bytesOf(pdf)), 1);
  const sms = { type: 'SMS' as const, body: 'Pay {{bill.billAmount}}' };
  const message = await client.previewTemplate({ template: sms });
  assert.equal(bytesOf(message).toString(), 'Pay 300.00');
  const { templates } = (await client.getTemplates({})).data;
  assert.equal(templates.length, 2, 'the templates of a new workspace');
});

test('a preview names the field of what is wrong', async () => {
  const { client } = await openOwing(scene, 'paper-wrong-previews');
  const template = { type: 'Email' as const, body: 'Dear {{bill.nickname}}' };
  const wrong = await refuses(client.previewTemplate({ template }), 'TEMPLATE_INVALID', {
    field: 'template.body',
  });
  assert.match(wrong.message, /There is nothing named \{\{bill\.nickname\}\}/);
  const good = { type: 'Email' as const, body: 'Dear customer' };
  const refused = [
    [{}, 'REQUIRED_FIELD', 'templateID'],
    [{ templateID: 99 }, 'TEMPLATE_NOT_FOUND', 'templateID'],
    [{ template: good, billID: 99 }, 'BILL_NOT_FOUND', 'billID'],
    [{ template: good, serviceCode: 'NONE' }, 'SERVICE_NOT_FOUND', 'serviceCode'],
    [{ template: good, format: 'PDF' }, 'INVALID_ENUM', 'format'],
  ] as const;
  for (const [request, code, field] of refused) {
    await refuses(client.previewTemplate(request), code, { field });
  }
});

test('a payment that is unknown or was paid out has no receipt', async () => {
  const place = await openOwing(scene, 'paper-no-receipts');
  const { client, tenantId } = place;
  await place.pay({ amount: 80 });
  await client.refundPayment({
    data: { partyID: 1, amount: 30, reference: 'R-1', paymentMethod: 'Bank' },
  });
  const { payments } = (await client.getPayments({ status: 'Refunded' })).data;
  const paymentID = payments[0]?.paymentID ?? 0;
  const ofRefund = client.getReceiptDocument({ paymentID });
  await refuses(ofRefund, 'INVALID_STATE', { field: 'paymentID' });
  const unknown = client.getReceiptDocument({ paymentID: 99 });
  await refuses(unknown, 'PAYMENT_NOT_FOUND', { field: 'paymentID' });
  assert.equal(await make(tenantId), 0);
});
