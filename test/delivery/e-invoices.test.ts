// Bills as e-invoices by EN 16931: made with the document, kept with it, and attached to the mail.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refuses, type TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
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
