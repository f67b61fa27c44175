// Step 9: every bill reaches its own customer, once, by the channel that leads there.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import { smallLogo } from '../documents/ordinary-bill.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, deliveriesOf, pdfIn, schedule, subjectOf } from '../support/delivery.ts';
import { answer } from '../support/mail-server.ts';
import {
  again,
  closing,
  leaveNothing,
  openMail,
  openPublished,
  openWorker,
  statusOf,
} from '../support/mail-worker.ts';
import { parseMail, wordsOf } from '../support/parsed-mail.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('mails of a sandbox go to the folder, with or without a mail server', async () => {
  const { server, equipment } = await openMail(scene);
  const client = await scene.workspace('tried-out', { sandbox: true });
  const { termId } = await openPostedTerm(scene, client, mailParties(3));
  await client.publishBills(schedule(termId));
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '3 sent');
  assert.equal(server.received.length, 0);
  const files = readdirSync(join(equipment.dataFolder, 'outbox'), { recursive: true });
  assert.equal(files.filter((file) => String(file).endsWith('.eml')).length, 3);
});

test('a sandbox waits for no mail server, and says nothing of one', async () => {
  const script = { onRecipient: () => answer(451, 'Down') };
  const { server } = await openMail(scene, script, { clockMs: () => 0 });
  const down = await openPublished(scene, mailParties(25));
  await down.client.distributeBills(schedule(down.termId));
  const tried = async () =>
    (await deliveriesOf(down.client, down.termId)).reduce(
      (sum, row) => sum + (row.attempts ?? 0),
      0,
    );
  const before = await tried();
  assert.ok(before < 25, 'the rest was put off');
  const client = await scene.workspace('tried-out-meanwhile', { sandbox: true });
  const { termId } = await openPostedTerm(scene, client, mailParties(3));
  await client.publishBills(schedule(termId));
  assert.equal((await client.distributeBills(schedule(termId))).message, '3 sent');
  // The server is still taken to be down.
  await down.client.distributeBills(schedule(down.termId));
  assert.equal(await tried(), before);
  assert.equal(server.received.length, 0);
  await leaveNothing(down.client, down.termId);
});

test('every bill arrives once, at its own customer, with the published document', async () => {
  const { server } = await openMail(scene);
  const { client, termId, bills } = await openPublished(scene, mailParties(12));
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '12 sent');
  assert.equal(server.received.length, 12);
  for (const [index, { billId, billNumber }] of bills.entries()) {
    const mails = server.received.filter(({ to }) => to[0] === `c${index + 1}@example.com`);
    assert.equal(mails.length, 1);
    const text = mails[0]?.text ?? '';
    assert.equal(subjectOf(text), `Your bill ${billNumber}`);
    assert.match(text, new RegExp(`filename=${billNumber}\\.pdf`));
    const { data } = await client.getBillDocument({ billID: billId });
    assert.ok(pdfIn(text).equals(Buffer.from(data.base64, 'base64')));
  }
  const rows = await deliveriesOf(client, termId);
  assert.equal(rows.length, 12);
  for (const row of rows) {
    assert.equal(row.status, 'Sent');
    assert.equal(row.attempts, 1);
    assert.match(row.reason ?? '', /250/);
    assert.match(row.at ?? '', /^\d{4}-/);
  }
  assert.equal(new Set(rows.map((row) => row.messageID)).size, 12);
});

test('a bill mail has HTML with logo, amount and bank, from the sender of the workspace', async () => {
  const { server } = await openMail(scene);
  const client = await scene.workspace('html-mails');
  const letterhead = { name: 'Canal Water', email: 'care@canal.example', logo: smallLogo };
  await client.updateSettings({ data: { letterhead, mailSender: { name: 'Canal Water' } } });
  const bankAccounts = [
    { title: 'Collections', bankName: 'First Bank', iban: 'PK36SCBL0000001123456702' },
  ];
  const { termId, bills } = await openPostedTerm(scene, client, mailParties(1), { bankAccounts });
  await client.publishBills(schedule(termId));
  await client.distributeBills(schedule(termId));
  const mail = await parseMail(server.received[0]);
  assert.deepEqual(mail.from, { name: 'Canal Water', address: 'billing@city.example' });
  assert.equal(mail.replyTo?.[0]?.address, 'care@canal.example');
  assert.deepEqual(
    mail.attachments.map((one) => one.filename),
    ['logo.png', `${bills[0]?.billNumber}.pdf`],
  );
  const words = wordsOf(mail.html);
  // 500 and 10 % of it
  assert.match(words, /Canal Water .*Payable by Aug 15, 2026 \S+\s550\.00 /);
  assert.match(words, /How to pay .*First Bank – Collections IBAN PK36 SCBL 0000 0011 2345 6702/);
  assert.match(mail.text ?? '', /^IBAN: PK36 SCBL 0000 0011 2345 6702$/m);
  assert.match(mail.html ?? '', /<html lang="en[^"]*" dir="ltr">[\s\S]*src="cid:logo@letterhead"/);
  assert.doesNotMatch(mail.html ?? '', /<a /);
  const portalAddress = 'https://bills.canal.example';
  const mailSender = { replyTo: 'desk@canal.example' };
  await client.updateSettings({ data: { mailSender, portalAddress } });
  await client.distributeBills(again(termId));
  const second = await parseMail(server.received[1]);
  assert.match(second.html ?? '', /<a href="https:\/\/bills\.canal\.example\/portal\/bills"/);
  assert.match(second.text ?? '', /online: https:\/\/bills\.canal\.example\/portal\/bills$/m);
  assert.deepEqual(second.from, { name: 'City Power', address: 'billing@city.example' });
  assert.equal(second.replyTo?.[0]?.address, 'desk@canal.example');
  const { data } = await client.getSettings({});
  assert.deepEqual(data.settings.mailSender, { name: null, replyTo: 'desk@canal.example' });
  for (const wrong of [{ name: 'bank@evil.example' }, { replyTo: 'Name <a@b.example>' }]) {
    assert.match(
      await codeOf(client.updateSettings({ data: { mailSender: wrong } })),
      /^INVALID_(FORMAT|EMAIL)$/,
    );
  }
});

test('the channel is that of the party, else the first of the workspace that leads to it', async () => {
  const { server, equipment } = await openMail(scene);
  const contacts = [{ contactType: 'Mobile', contactValue: '+92 300 1111111' }];
  const { client, termId } = await openPublished(scene, [
    { name: 'By address', email: 'a@example.com' },
    { name: 'By contact', contacts: [{ contactType: 'Email', contactValue: 'b@example.com' }] },
    { name: 'No address' },
    { name: 'Paper', email: 'c@example.com', deliveryChannels: ['Print'] },
    { name: 'Both', email: 'd@example.com', deliveryChannels: ['Email', 'Print'] },
    { name: 'Short', email: 'e@example.com', contacts, deliveryChannels: ['SMS'] },
    { name: 'Wants mail, has none', deliveryChannels: ['Email'] },
  ]);
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '3 sent, 2 in the portal, 2 printed, 1 failed');
  assert.deepEqual(await statusOf(client, termId), {
    'Email Sent': 3,
    'Portal Delivered': 2,
    'Print Sent': 2,
    'SMS Failed': 1,
  });
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), [
    'a@example.com',
    'b@example.com',
    'd@example.com',
  ]);
  const { data } = await client.getDeliveries({ termID: termId, status: 'Failed' });
  assert.equal(data.deliveries[0]?.reason, 'No gateway is configured for SMS');
  assert.equal(data.deliveries[0]?.to, '+92 300 1111111');
  const deliveryIDs = [data.deliveries[0]?.deliveryID ?? 0];
  const resend = { data: { termID: termId, deliveryIDs, resolution: 'Resend' as const } };
  await assert.rejects(client.resolveDeliveries(resend), (error: BillingError) => {
    assert.match(error.message, /by SMS; this channel cannot resend/);
    const { current, allowed } = error.error;
    assert.deepEqual({ current, allowed }, { current: 'SMS', allowed: ['Email', 'Print'] });
    return true;
  });
  const printed = await client.getDeliveries({ termID: termId, channel: 'Print' });
  const files = new Set(printed.data.deliveries.map((row) => row.reason));
  assert.equal(files.size, 1, 'one file for all');
  const [file = ''] = files;
  assert.match(file ?? '', /^print\/\d+\/\d+\/\d+-1\.pdf$/);
  const pages = readFileSync(join(equipment.dataFolder, file ?? ''), 'latin1');
  assert.equal(pages.match(/\/Type \/Page\b/g)?.length, 2);
});

test('an invalid address is reported as failed, and the bill goes out by the next channel', async () => {
  const { server } = await openMail(scene);
  const { client, termId, bills, tenantId } = await openPublished(scene, [
    { name: 'By the workspace' },
    { name: 'By choice', deliveryChannels: ['Email', 'Print'] },
    { name: 'Has another' },
  ]);
  const [first, second, third] = bills;
  // As it was stored before addresses of contacts were looked at.
  await scene.sql.query(
    `update parties set contacts = '[{"contactType": "Email", "contactValue": "invalid"}]'
     where tenant_id = $1`,
    [tenantId],
  );
  const partyID = third?.partyId ?? 0;
  await client.updateUser({ user: { partyID, email: 'c@example.com' } });
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '1 sent, 1 in the portal, 1 printed, 2 failed');
  const rows = await deliveriesOf(client, termId);
  assert.deepEqual(
    rows.map(({ billID, channel, status, to }) => [billID, channel, status, to]),
    [
      [first?.billId, 'Email', 'Failed', 'invalid'],
      [first?.billId, 'Portal', 'Delivered', null],
      [second?.billId, 'Email', 'Failed', 'invalid'],
      [second?.billId, 'Print', 'Sent', null],
      [third?.billId, 'Email', 'Sent', 'c@example.com'],
    ],
  );
  assert.match(rows[0]?.reason ?? '', /^This is not an e-mail address/);
  const deliveryIDs = [rows[0]?.deliveryID ?? 0];
  const resend = { data: { termID: termId, deliveryIDs, resolution: 'Resend' as const } };
  assert.equal(await codeOf(client.resolveDeliveries(resend)), 'INVALID_STATE');
  // Once the party has an address, only what has failed goes there.
  await client.updateUser({ user: { partyID: first?.partyId ?? 0, email: 'a@example.com' } });
  const next = await client.distributeBills(schedule(termId));
  assert.equal(next.message, '1 sent, 1 failed');
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), [
    'a@example.com',
    'c@example.com',
  ]);
  await assertChecks(scene, tenantId);
});

test('without a mail server, mails are files; without a template, the bill itself is the text', async () => {
  const { equipment } = openWorker(scene, {});
  const { client, termId, serviceCode, tenantId, bills } = await openPublished(
    scene,
    mailParties(1),
  );
  const service = { code: serviceCode, emailTemplate: { templateID: null } };
  await client.updateService({ service: service as never });
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
  const [row] = await deliveriesOf(client, termId);
  const path = join(equipment.dataFolder, 'outbox', String(tenantId), `${row?.deliveryID}.eml`);
  const text = readFileSync(path, 'latin1');
  assert.match(text, /^To: c1@example\.com\r$/m);
  assert.equal(subjectOf(text).split(': ')[1], `Water ${bills[0]?.billNumber}`);
  assert.match(text, /Customer 1/);
});

test('a mail that cannot be written names no folder of the machine, and is sent later', async () => {
  const { equipment } = openWorker(scene, {});
  const outbox = join(equipment.dataFolder, 'outbox');
  writeFileSync(outbox, '');
  const { client, termId } = await openPublished(scene, mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 to be tried again');
  const [row] = await deliveriesOf(client, termId);
  assert.equal(row?.reason, 'The mail could not be handed over; see the log for the reason');
  rmSync(outbox);
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
});

for (const serviceType of ['Purchase', 'Payroll'] as const) {
  test(`${serviceType}: documents and mails show what the workspace pays to the party`, async () => {
    const { server } = await openMail(scene);
    const { client, termId, serviceCode, bills } = await openPublished(scene, mailParties(1), {
      serviceType,
    });
    const document = await client.getBillDocument({
      billID: bills[0]?.billId ?? 0,
      format: 'HTML',
    });
    const page = Buffer.from(document.data.base64, 'base64').toString();
    const html = page.replace(/<style>.*?<\/style>|<[^>]*>/gs, ' ');
    assert.match(html, /Water statement/);
    assert.match(html, /We pay you by Aug 15, 2026/);
    await client.distributeBills(schedule(termId));
    const [text = ''] = server.received[0]?.text.split('Content-Type: application/pdf') ?? [];
    assert.match(text, /^We pay you +550\.00\r?$/m);
    for (const shown of [html, text]) {
      assert.doesNotMatch(shown, /please (pay|quote|detach)|payable|your payment|slip|scan/i);
    }
    // A template that was made for it is taken.
    const template = { type: 'Email' as const, name: 'Pay', language: 'en', body: 'Here you are' };
    const { headers } = await client.makeTemplates({
      templates: [{ ...template, subject: 'Paid' }],
    });
    const templateID = Number(headers.get('x-resource-id'));
    await client.updateService({ service: { code: serviceCode, emailTemplate: { templateID } } });
    await client.distributeBills(again(termId));
    assert.match(server.received[1]?.text ?? '', /Here you are/);
  });
}

test('distribute-bills is refused where it cannot be done, and then changes nothing', async () => {
  await openMail(scene);
  const { client, termId, bills, tenantId } = await openPublished(scene, mailParties(2));
  const other = await openPostedTerm(scene, client, [{ name: 'Of another term' }]);
  const refused = async (call: () => Promise<unknown>, code: string) => {
    const before = await hashRows(scene.sql, tenantId);
    assert.equal(await codeOf(call()), code);
    assert.deepEqual(await hashRows(scene.sql, tenantId), before, code);
  };
  const ask = (id: number, billId: number | null = null) =>
    client.distributeBills({ ...schedule(id), billId });
  await refused(() => ask(999), 'TERM_NOT_FOUND');
  await refused(() => ask(other.termId), 'TERM_NOT_PUBLISHED');
  await refused(() => ask(termId, 999_999), 'BILL_NOT_FOUND');
  await refused(() => ask(termId, other.bills[0]?.billId), 'BILL_NOT_IN_TERM');
  const set = (status: string, stage: string) =>
    scene.sql.query(
      'update terms set status = $3, stage = $4 where tenant_id = $1 and term_id = $2',
      [tenantId, termId, status, stage],
    );
  const stages = [
    ['Open', 'Created'],
    ['Open', 'Generated'],
    ['Posted', 'Posted'],
    ['Posted', 'Publishing'],
    ['Cancelled', 'Cancelled'],
  ];
  for (const [status = '', stage = ''] of stages) {
    await set(status, stage);
    await refused(() => ask(termId), 'TERM_NOT_PUBLISHED');
  }
  await set('Published', 'Published');
  const cancelled = [tenantId, bills[1]?.billId];
  await scene.sql.query(
    `update bills set status = 'Cancelled' where tenant_id = $1 and bill_id = $2`,
    cancelled,
  );
  await refused(() => ask(termId, bills[1]?.billId), 'INVALID_STATE');
  await client.updateSettings({ data: { deliveryChannels: [] } });
  await refused(() => ask(termId), 'NO_DELIVERY_CHANNEL');
  await client.updateSettings({ data: { deliveryChannels: ['Email'] } });
  assert.equal((await ask(termId)).message, '1 sent', 'the cancelled bill is left out');
});

test('a party that is edited meanwhile redirects nothing: recipients are of the bill', async () => {
  const { server } = await openMail(scene, { slowMs: 40 }, { mailsAtOnce: 1 });
  const { client, termId, bills } = await openPublished(scene, mailParties(15));
  const running = client.distributeBills(schedule(termId));
  await until(() => server.received.length >= 2, 'some are sent');
  for (const { partyId } of bills) {
    await client.updateUser({ user: { partyID: partyId, email: 'stranger@evil.example' } });
  }
  assert.equal((await running).message, '15 sent');
  const addressed = server.received.map(({ to, text }) => [to[0], subjectOf(text)]).sort();
  const expected = bills.map(({ billNumber }, index) => [
    `c${index + 1}@example.com`,
    `Your bill ${billNumber}`,
  ]);
  assert.deepEqual(addressed, expected.sort());
});

test('no more mails are under way than there are connections', async () => {
  const { server } = await openMail(scene, { slowMs: 20 }, { mailsAtOnce: 3 });
  const { client, termId } = await openPublished(scene, mailParties(20));
  await client.distributeBills(schedule(termId));
  assert.equal(server.received.length, 20);
  assert.equal(server.busiest(), 3);
});

test('of two simultaneous requests one is done, and the other is refused', async () => {
  const { server } = await openMail(scene, { slowMs: 50 });
  const { client, termId } = await openPublished(scene, mailParties(4));
  const codes = await Promise.all(
    Array.from({ length: 4 }, () => codeOf(client.distributeBills(schedule(termId)))),
  );
  assert.deepEqual(codes.toSorted(), [
    'JOB_ALREADY_RUNNING',
    'JOB_ALREADY_RUNNING',
    'JOB_ALREADY_RUNNING',
    'success',
  ]);
  assert.equal(server.received.length, 4);
});

test('names and templates of others stay text in mails', async () => {
  const { server } = await openMail(scene);
  const { client, termId } = await openPublished(scene, [
    { name: 'Eve\r\nBcc: thief@evil.example\u202e', email: 'eve@example.com' },
  ]);
  await client.updateTemplate({
    data: { templateID: 2, subject: '{{bill.partyName}}', body: 'Hello {{bill.partyName}}' },
  });
  await client.distributeBills(schedule(termId));
  const [mail] = server.received;
  assert.deepEqual(mail?.to, ['eve@example.com']);
  assert.doesNotMatch(mail?.text ?? '', /^Bcc:/im);
  assert.equal(subjectOf(mail?.text ?? ''), 'Eve Bcc: thief@evil.example');
});

after(async () => {
  for (const close of closing.splice(0)) await close();
});
