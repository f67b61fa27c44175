// Bills and credit notes as e-invoices by EN 16931: made with the document, kept with it or inside
// it, and mailed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileInside } from '../../src/base/pdf/archive.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { makeWaiting } from '../support/made-documents.ts';
import { startMailServer } from '../support/mail-server.ts';
import { parseMail } from '../support/parsed-mail.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const mailServer = await startMailServer({ slowMs: 0 });
const equipment = openTestEquipment({ smtpUrl: mailServer.url });
const runner = scene.runJobs({ equipment });

after(async () => {
  await runner.stop();
  await equipment.close();
  await mailServer.close();
});

const seller = {
  format: 'UBL' as const,
  vatID: 'DE123456789',
  street: 'Marktplatz 1',
  city: 'Bonn',
  postalCode: '53111',
  vat: [{ component: 'gst' }],
};

const ubl = async (client: TestClient, billID: number) => {
  const { data } = await client.getBillDocument({ billID, format: 'UBL' });
  assert.equal(data.contentType, 'application/xml');
  return Buffer.from(data.base64, 'base64').toString();
};

const valuesOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<cbc:${name}(?: [^>]*)?>([^<]*)<`, 'g'))].map(([, text]) => text);

test('a bill is published as an e-invoice too, which is kept and mailed', async () => {
  const client = await scene.workspace('e-invoices');
  await client.updateSettings({ data: { currency: 'EUR', country: 'DE', eInvoice: seller } });
  const term = await openPostedTerm(scene, client, mailParties(1));
  const billID = term.bills[0]?.billId ?? 0;
  const early = client.getBillDocument({ billID, format: 'UBL' });
  assert.match((await refuses(early, 'E_INVOICE_NOT_POSSIBLE')).message, /is not published/);
  await client.publishBills(schedule(term.termId));
  const xml = await ubl(client, billID);
  assert.deepEqual(valuesOf(xml, 'ID')[0], term.bills[0]?.billNumber);
  // 500 and 10 % of it.
  assert.deepEqual(valuesOf(xml, 'LineExtensionAmount'), ['500.00', '500.00']);
  assert.deepEqual(valuesOf(xml, 'TaxableAmount'), ['500.00']);
  assert.deepEqual(valuesOf(xml, 'TaxAmount'), ['50.00', '50.00']);
  assert.deepEqual(valuesOf(xml, 'PayableAmount'), ['550.00']);
  assert.deepEqual(valuesOf(xml, 'Percent'), ['10', '10']);
  assert.deepEqual(valuesOf(xml, 'CompanyID'), ['DE123456789']);
  await client.updateSettings({ data: { name: 'Renamed', eInvoice: null } });
  assert.equal(await ubl(client, billID), xml, 'it stays as it was published');
  await client.distributeBills(schedule(term.termId));
  const { attachments } = await parseMail(mailServer.received[0]);
  assert.deepEqual(
    attachments.map(({ filename }) => filename?.split('.').at(-1)),
    ['pdf', 'xml'],
  );
  const content = attachments[1]?.content as ArrayBuffer;
  assert.equal(Buffer.from(content).toString(), xml);
});

test('eInvoice without the data of the seller is refused, and nothing is stored', async () => {
  const client = await scene.workspace('e-invoice-settings');
  const change = (eInvoice: object) =>
    client.updateSettings({ data: { eInvoice: eInvoice as never } });
  const { vatID: _, ...without } = seller;
  await refuses(change(without), 'REQUIRED_FIELD', { field: 'data.eInvoice.vatID' });
  const wrong = { ...seller, vatID: '123' };
  await refuses(change(wrong), 'INVALID_FORMAT', { field: 'data.eInvoice.vatID' });
  const nowhere = { ...seller, vatID: 'XX123456789' };
  await refuses(change(nowhere), 'INVALID_FORMAT', { field: 'data.eInvoice.vatID' });
  assert.equal((await client.getSettings({})).data.settings.eInvoice, null);
});

test('a bill whose VAT is not that of its charges is published without an e-invoice', async () => {
  const client = await scene.workspace('e-invoice-refused');
  const vat = [{ component: 'gst', on: ['another'] }];
  await client.updateSettings({ data: { eInvoice: { ...seller, vat } } });
  const term = await openPostedTerm(scene, client, mailParties(1));
  await client.publishBills(schedule(term.termId));
  const billID = term.bills[0]?.billId ?? 0;
  assert.equal((await client.getBillDocument({ billID })).data.contentType, 'application/pdf');
  const error = await refuses(
    client.getBillDocument({ billID, format: 'UBL' }),
    'E_INVOICE_NOT_POSSIBLE',
  );
  assert.match(error.message, /no charge has the VAT of 10 %/);
});

const pdf = async (client: TestClient, billID: number, kind?: 'Original') => {
  const { data } = await client.getBillDocument({ billID, ...(kind && { kind }) });
  return Buffer.from(data.base64, 'base64');
};

test('a bill is published as Factur-X, which is its PDF and is mailed as one file', async () => {
  const client = await scene.workspace('factur-x');
  await client.updateSettings({
    data: { currency: 'EUR', country: 'DE', eInvoice: { ...seller, format: 'FacturX' } },
  });
  const term = await openPostedTerm(scene, client, mailParties(1));
  const billID = term.bills[0]?.billId ?? 0;
  const draft = await pdf(client, billID);
  assert.equal(fileInside(draft), undefined, 'a draft is no invoice');
  await client.publishBills(schedule(term.termId));
  const published = await pdf(client, billID);
  const xml = fileInside(published)?.toString() ?? '';
  // 500 and 10 % of it.
  assert.match(xml, /<ram:DuePayableAmount>550\.00</);
  assert.match(xml, /<ram:ID schemeID="VA">DE123456789</);
  const { data } = await client.getBillDocument({ billID, format: 'CII' });
  assert.equal(Buffer.from(data.base64, 'base64').toString(), xml);
  const other = client.getBillDocument({ billID, format: 'UBL' });
  assert.match((await refuses(other, 'E_INVOICE_NOT_POSSIBLE')).message, /inside the PDF/);
  await client.updateSettings({ data: { name: 'Renamed', eInvoice: null } });
  assert.ok((await pdf(client, billID)).equals(published), 'it stays as it was published');
  const before = mailServer.received.length;
  await client.distributeBills(schedule(term.termId));
  const { attachments } = await parseMail(mailServer.received[before]);
  assert.equal(attachments.length, 1);
  const content = attachments[0]?.content as ArrayBuffer;
  assert.ok(Buffer.from(content).equals(published));
  await assertChecks(scene, term.tenantId);
});

test('the credit note of a cancelled bill is an e-invoice, and the marked bill is none', async () => {
  const client = await scene.workspace('factur-x-cancelled');
  await client.updateSettings({ data: { eInvoice: { ...seller, format: 'FacturX' } } });
  const term = await openPostedTerm(scene, client, mailParties(1));
  await client.publishBills(schedule(term.termId));
  const billID = term.bills[0]?.billId ?? 0;
  const original = await pdf(client, billID);
  await client.cancelBill({ data: { billID, reason: 'Wrong', rebill: false } });
  const [note] = (await client.getCreditNotes({ billID })).data.creditNotes;
  const creditNoteID = note?.creditNoteID ?? 0;
  const noteFile = async (format: 'PDF' | 'CII') => {
    const { data } = await client.getCreditNoteDocument({ creditNoteID, format });
    return Buffer.from(data.base64, 'base64');
  };
  const early = await noteFile('PDF');
  assert.equal(await makeWaiting(scene, equipment, term.tenantId), 2);
  const kept = await noteFile('PDF');
  assert.ok(kept.equals(early));
  const xml = fileInside(kept)?.toString() ?? '';
  assert.match(xml, /<ram:TypeCode>381</);
  assert.match(xml, /<ram:DuePayableAmount>550\.00</);
  assert.ok(xml.includes(`<ram:IssuerAssignedID>${term.bills[0]?.billNumber}<`));
  assert.equal((await noteFile('CII')).toString(), xml);
  assert.equal(fileInside(await pdf(client, billID)), undefined, 'the marked bill is no invoice');
  assert.ok((await pdf(client, billID, 'Original')).equals(original));
  assert.ok(fileInside(original));
});

test('the e-invoice of a credit note is kept beside its PDF, if bills are in UBL', async () => {
  const client = await scene.workspace('e-invoice-notes');
  await client.updateSettings({ data: { eInvoice: seller } });
  const term = await openPostedTerm(scene, client, mailParties(1));
  await client.publishBills(schedule(term.termId));
  const billID = term.bills[0]?.billId ?? 0;
  const credit = async (lines: { component: string; amount: number }[]) => {
    const note = { billID, reason: 'A fault of ours', lines };
    const { headers } = await client.makeCreditNotes({ creditNotes: [note] });
    return Number(headers.get('x-resource-id'));
  };
  const creditNoteID = await credit([
    { component: 'service', amount: 100 },
    { component: 'gst', amount: 10 },
  ]);
  const noteXml = async () => {
    const { data } = await client.getCreditNoteDocument({ creditNoteID, format: 'UBL' });
    return Buffer.from(data.base64, 'base64').toString();
  };
  const early = await noteXml();
  assert.deepEqual(valuesOf(early, 'PayableAmount'), ['110.00']);
  assert.equal(await makeWaiting(scene, equipment, term.tenantId), 1);
  await client.updateSettings({ data: { name: 'Renamed', eInvoice: null } });
  assert.equal(await noteXml(), early);
  await assertChecks(scene, term.tenantId);
  // Its VAT would have to be credited too.
  const wrong = await credit([{ component: 'service', amount: 50 }]);
  const asked = client.getCreditNoteDocument({ creditNoteID: wrong, format: 'UBL' });
  assert.match((await refuses(asked, 'E_INVOICE_NOT_POSSIBLE')).message, /VAT of 10 % is 0/);
  assert.equal(
    (await client.getCreditNoteDocument({ creditNoteID: wrong })).data.contentType,
    'application/pdf',
  );
});
