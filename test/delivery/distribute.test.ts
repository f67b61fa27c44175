// Step 9: every bill reaches its own customer, once, by the channel that leads there.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import { assertChecks } from '../support/checks.ts';
import type { TestClient } from '../support/client.ts';
import { codeOf, deliveriesOf, pdfIn, schedule, subjectOf } from '../support/delivery.ts';
import { type EquipmentOptions, openTestEquipment } from '../support/equipment.ts';
import { answer, type MailScript, startCut, startMailServer } from '../support/mail-server.ts';
import { mailParties, openPostedTerm, type PartyFields } from '../support/posted-term.ts';
import type { Service } from '../support/pricing.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A mail server, and a worker that sends to it; both end with the test. */
async function openMail(script: MailScript = {}, options: EquipmentOptions = {}) {
  const server = await startMailServer(script);
  closing.push(() => server.close());
  return { server, ...openWorker({ smtpUrl: server.url, ...options }) };
}

function openWorker(options: EquipmentOptions) {
  const equipment = openTestEquipment(options);
  const runner = scene.runJobs({ equipment });
  const stop = async () => {
    await runner.stop();
    await equipment.close();
  };
  // Workers end before the servers that they talk to.
  closing.unshift(stop);
  return { equipment, stop };
}

let made = 0;

async function openPublished(parties: readonly PartyFields[], service: Partial<Service> = {}) {
  made += 1;
  const client = await scene.workspace(`distribute-${made}`);
  const term = await openPostedTerm(scene, client, parties, service);
  await client.publishBills(schedule(term.termId));
  return { client, ...term };
}

async function statusOf(client: TestClient, termID: number): Promise<Record<string, number>> {
  const { data } = await client.getDeliveries({ termID });
  const counts: Record<string, number> = {};
  for (const { channel, status } of data.deliveries) {
    const key = `${channel} ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const again = (termId: number) => {
  const { operation, data } = schedule(termId);
  return { operation, data: { ...data, resend: true } };
};

/** What the job of a request says that fails by no fault of the caller. */
async function failureOf(client: TestClient, termID: number) {
  await assert.rejects(client.distributeBills(schedule(termID)), /distribute-bills failed/);
  const { data } = await client.getJobs({ termID, status: 'Failed' });
  return data.jobs[0]?.error?.message;
}

/** Later tests move the clock: what still waits then must not go to their servers. */
async function leaveNothing(client: TestClient, termID: number) {
  const { data } = await client.getJobs({ termID, status: 'Scheduled' });
  for (const { jobID = 0 } of data.jobs) await client.cancelJob({ data: { jobID } });
}

/** Refuses every delivery row for which `when` is true, until the trigger is dropped. */
async function refuseRows(when: string) {
  await scene.sql.query(`
    create or replace function refuse_row() returns trigger language plpgsql as
      $$ begin raise exception 'a row that cannot be written'; end $$;
    create trigger refusing before insert or update on deliveries for each row
      when (${when}) execute function refuse_row()`);
  const mend = () => scene.sql.query('drop trigger if exists refusing on deliveries');
  closing.push(mend);
  return mend;
}

test('mails of a sandbox go to the folder, with or without a mail server', async () => {
  const { server, equipment } = await openMail();
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
  const { server } = await openMail(script, { clockMs: () => 0 });
  const down = await openPublished(mailParties(25));
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
  const { server } = await openMail();
  const { client, termId, bills } = await openPublished(mailParties(12));
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

test('asked for again, only what has not gone out goes; resend and a single bill go once more', async () => {
  let isRefusing = true;
  const { server } = await openMail({
    onRecipient: (to) =>
      isRefusing && to.startsWith('c2@') ? answer(550, 'No such user') : undefined,
  });
  const { client, termId, bills, tenantId } = await openPublished(mailParties(3));
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 sent, 1 failed');
  const failed = (await deliveriesOf(client, termId)).find((row) => row.status === 'Failed');
  assert.match(failed?.reason ?? '', /550 No such user/);
  // Meanwhile the customer has told the right address.
  isRefusing = false;
  await client.updateUser({
    user: { partyID: bills[1]?.partyId ?? 0, email: 'right@example.com' },
  });
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), [
    'c1@example.com',
    'c3@example.com',
    'right@example.com',
  ]);
  assert.equal(
    (await client.distributeBills(schedule(termId))).message,
    'Nothing was left to be sent',
  );
  assert.equal(server.received.length, 3);
  const billId = bills[0]?.billId ?? 0;
  assert.equal((await client.distributeBills({ ...schedule(termId), billId })).message, '1 sent');
  assert.equal(server.received.at(-1)?.to[0], 'c1@example.com');
  assert.equal((await client.distributeBills(again(termId))).message, '3 sent');
  assert.equal(server.received.length, 7);
  const { rows } = await scene.sql.query(
    `select bill_id, channel, count(*) filter (where status = 'Sent')
       - count(distinct job_id) filter (where status = 'Sent') as doubled
     from deliveries where tenant_id = $1 group by bill_id, channel`,
    [tenantId],
  );
  assert.ok(
    rows.every((row) => row.doubled === '0'),
    'at most one for each request',
  );
});

test('a mail that waits for an old address is replaced when it is asked for again', async () => {
  const { server } = await openMail({
    onRecipient: (to) => (to.startsWith('c') ? answer(450, 'Later') : undefined),
  });
  const { client, termId, bills } = await openPublished(mailParties(3));
  const move = (index: number, email: string) =>
    client.updateUser({ user: { partyID: bills[index]?.partyId ?? 0, email } });
  assert.equal((await client.distributeBills(schedule(termId))).message, '3 to be tried again');
  await move(0, 'right@example.com');
  const billId = bills[0]?.billId ?? 0;
  assert.equal((await client.distributeBills({ ...schedule(termId), billId })).message, '1 sent');
  await move(1, 'new@example.com');
  const { message } = await client.distributeBills(again(termId));
  assert.equal(message, '2 sent, 1 to be tried again');
  const went = ['new@example.com', 'right@example.com', 'right@example.com'];
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), went);
  const rows = await deliveriesOf(client, termId);
  const told = rows.map(({ to, status, reason, attempts }) =>
    status === 'Failed' ? [to, reason] : [to, status, attempts],
  );
  assert.deepEqual(told, [
    ['c1@example.com', 'Replaced by a later request'],
    ['c2@example.com', 'Replaced by a later request'],
    ['c3@example.com', 'Queued', 2],
    ['right@example.com', 'Sent', 1],
    ['right@example.com', 'Sent', 1],
    ['new@example.com', 'Sent', 1],
  ]);
  await leaveNothing(client, termId);
});

test('a failed mail is not sent again once a later one has taken its place', async () => {
  let isRefusing = true;
  const { server } = await openMail({
    onRecipient: () => (isRefusing ? answer(550, 'Not today') : undefined),
  });
  const { client, termId, tenantId } = await openPublished(mailParties(1));
  const failed = async () =>
    (await deliveriesOf(client, termId))
      .filter((row) => row.status === 'Failed')
      .map((row) => row.deliveryID ?? 0);
  const resend = (deliveryIDs: number[]) =>
    client.resolveDeliveries({ data: { termID: termId, deliveryIDs, resolution: 'Resend' } });
  await client.distributeBills(schedule(termId));
  await client.distributeBills(schedule(termId));
  isRefusing = false;
  const both = await failed();
  assert.equal(both.length, 2);
  // The operator selects all that failed.
  assert.equal(await codeOf(resend(both)), 'INVALID_STATE');
  assert.deepEqual(await failed(), both);
  await resend(both.slice(1));
  assert.equal(await codeOf(resend(await failed())), 'INVALID_STATE');
  assert.equal(server.received.length, 1);
  await assertChecks(scene, tenantId);
});

test('a mail of a bill that was cancelled since is not sent again', async () => {
  const { server } = await openMail({ onRecipient: () => answer(550, 'Not today') });
  const { client, termId, bills, tenantId } = await openPublished(mailParties(2));
  await client.distributeBills(schedule(termId));
  const billID = bills[0]?.billId ?? 0;
  await client.cancelBill({ data: { billID, reason: 'Misread' } });
  const rows = await deliveriesOf(client, termId);
  const [gone] = rows.filter((row) => row.billID === billID);
  const before = await hashRows(scene.sql, tenantId);
  const deliveryIDs = rows.map((row) => row.deliveryID ?? 0);
  const resend = { data: { termID: termId, deliveryIDs, resolution: 'Resend' as const } };
  await assert.rejects(client.resolveDeliveries(resend), {
    code: 'INVALID_STATE',
    message: `INVALID_STATE: Bill ${billID} of delivery ${gone?.deliveryID} is Cancelled`,
  });
  assert.deepEqual(await hashRows(scene.sql, tenantId), before);
  assert.equal(server.received.length, 0);
});

test('a mail that waits for its next attempt is failed with the bill that is cancelled', async () => {
  const { server } = await openMail({ onRecipient: () => answer(450, 'Later') });
  const { client, termId, bills } = await openPublished(mailParties(2));
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 to be tried again');
  await client.cancelBill({ data: { billID: bills[0]?.billId ?? 0, reason: 'Misread' } });
  const [gone, other] = await deliveriesOf(client, termId);
  assert.deepEqual(
    [gone?.status, gone?.reason, gone?.nextAttemptAt],
    ['Failed', 'The bill was cancelled', null],
  );
  assert.equal(other?.status, 'Queued');
  assert.equal(server.received.length, 0);
  await leaveNothing(client, termId);
});

test('a mail without a known outcome is uncertain after its bill is cancelled', async () => {
  await openMail({ onRecipient: () => answer(450, 'Later') });
  const { client, termId, bills, tenantId } = await openPublished(mailParties(1));
  await client.distributeBills(schedule(termId));
  await leaveNothing(client, termId);
  // As a job leaves it that could write nothing any more.
  await scene.sql.query(`update deliveries set status = 'Sending' where tenant_id = $1`, [
    tenantId,
  ]);
  await client.cancelBill({ data: { billID: bills[0]?.billId ?? 0, reason: 'Misread' } });
  const [row] = await deliveriesOf(client, termId);
  assert.equal(row?.status, 'Uncertain');
  const deliveryIDs = [row?.deliveryID ?? 0];
  const resolve = (resolution: 'Resend' | 'Sent') =>
    codeOf(client.resolveDeliveries({ data: { termID: termId, deliveryIDs, resolution } }));
  assert.equal(await resolve('Resend'), 'INVALID_STATE');
  assert.equal(await resolve('Sent'), 'success');
});

test('the channel is that of the party, else the first of the workspace that leads to it', async () => {
  const { server, equipment } = await openMail();
  const contacts = [{ contactType: 'Mobile', contactValue: '+92 300 1111111' }];
  const { client, termId } = await openPublished([
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
  const { server } = await openMail();
  const { client, termId, bills, tenantId } = await openPublished([
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
  const { equipment } = openWorker({});
  const { client, termId, serviceCode, tenantId, bills } = await openPublished(mailParties(1));
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
  const { equipment } = openWorker({});
  const outbox = join(equipment.dataFolder, 'outbox');
  writeFileSync(outbox, '');
  const { client, termId } = await openPublished(mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 to be tried again');
  const [row] = await deliveriesOf(client, termId);
  assert.equal(row?.reason, 'The mail could not be handed over; see the log for the reason');
  rmSync(outbox);
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
});

for (const serviceType of ['Purchase', 'Payroll'] as const) {
  test(`${serviceType}: documents and mails show what the workspace pays to the party`, async () => {
    const { server } = await openMail();
    const { client, termId, serviceCode, bills } = await openPublished(mailParties(1), {
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
  await openMail();
  const { client, termId, bills, tenantId } = await openPublished(mailParties(2));
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

test('the answer of the mail server decides: retry, failed, or uncertain', async () => {
  const isDown = new Set(['c1']);
  const { server } = await openMail({
    onRecipient: (to) => {
      const name = to.split('@')[0] ?? '';
      if (isDown.has(name)) return answer(451, 'Try later');
      return name === 'c2' ? answer(550, 'No such user') : undefined;
    },
  });
  const { client, termId, tenantId } = await openPublished(mailParties(3));
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '1 sent, 1 failed, 1 to be tried again');
  const [waiting] = (await deliveriesOf(client, termId)).filter((row) => row.status === 'Queued');
  assert.match(waiting?.reason ?? '', /451 Try later/);
  assert.ok(waiting?.nextAttemptAt);
  // A minute later by the clock of the workspace it is tried again, by a job of its own.
  isDown.clear();
  scene.clock.advance({ seconds: 61 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 2, 'it is sent');
  assert.equal(server.received.filter(({ to }) => to[0] === 'c1@example.com').length, 1);
  await until(async () => {
    const { rows } = await scene.sql.query(
      `select operation, status from jobs where tenant_id = $1 order by job_id desc limit 1`,
      [tenantId],
    );
    assert.equal(rows[0].operation, 'retry-deliveries');
    return rows[0].status === 'Succeeded';
  }, 'the job has ended');
});

test('a mail that is refused again and again is given up', async () => {
  const { server } = await openMail({ onRecipient: () => answer(451, 'Try later') });
  const { client, termId, tenantId } = await openPublished(mailParties(1));
  await client.distributeBills(schedule(termId));
  const row = async () => {
    const text = 'select status, attempts, reason from deliveries where tenant_id = $1';
    const { rows } = await scene.sql.query(text, [tenantId]);
    return rows[0];
  };
  for (let attempts = 1; (await row())?.status === 'Queued'; attempts += 1) {
    assert.ok(attempts < 20);
    scene.clock.advance({ hours: 13 });
    await until(async () => ((await row())?.attempts ?? 0) > attempts, `attempt ${attempts + 1}`);
    await until(async () => (await row())?.status !== 'Sending', 'it has ended');
  }
  const end = await row();
  assert.equal(end?.status, 'Failed');
  assert.match(end?.reason ?? '', /Given up after 8 failures: .*451 Try later/);
  assert.equal(server.received.length, 0);
});

test('a mail that fails after its job has ended is not retried: the next request sends it', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isAsked = false;
  const { server } = await openMail({
    options: {
      async onRcptTo({ address }, _session, done) {
        if (address.startsWith('c1@') && !isAsked) {
          isAsked = true;
          await released;
          return done(answer(450, 'Mailbox busy'));
        }
        done(null);
      },
    },
  });
  openWorker({ smtpUrl: server.url });
  closing.unshift(async () => release());
  const { client, termId, tenantId } = await openPublished(mailParties(2));
  const asked = client.distributeBills(schedule(termId));
  await until(() => isAsked, 'the server is asked');
  // One worker loses its part, and the other one ends the job.
  await scene.sql.query(
    'select pg_terminate_backend(backend_pid) from chunk_attempts where tenant_id = $1',
    [tenantId],
  );
  assert.match((await asked).message, /1 uncertain/);
  release();
  await until(async () => (await statusOf(client, termId))['Email Failed'] === 1, 'it is reported');
  const [first] = await deliveriesOf(client, termId);
  assert.match(first?.reason ?? '', /450 Mailbox busy/);
  assert.equal(first?.nextAttemptAt, null);
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
  assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), [
    'c1@example.com',
    'c2@example.com',
  ]);
});

test('cancelling the job that would retry reports the mails that fail with it', async () => {
  let isRefusing = true;
  await openMail({ onRecipient: () => (isRefusing ? answer(450, 'Later') : undefined) });
  const { client, termId } = await openPublished(mailParties(2));
  await client.distributeBills(schedule(termId));
  const { data } = await client.getJobs({ termID: termId, status: 'Scheduled' });
  const jobID = data.jobs[0]?.jobID ?? 0;
  const { message } = await client.cancelJob({ data: { jobID } });
  assert.equal(message, `Job ${jobID} is cancelled; 2 that waited for it will not be sent`);
  const rows = await deliveriesOf(client, termId);
  assert.deepEqual(
    rows.map(({ status, reason, nextAttemptAt }) => [status, reason, nextAttemptAt]),
    Array(2).fill(['Failed', `Job ${jobID}, which should send it, was cancelled`, null]),
  );
  isRefusing = false;
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 sent');
});

test('mails are tried again although the end of their job has failed', async () => {
  let isRefusing = true;
  const { equipment } = await openMail({
    onRecipient: () => (isRefusing ? answer(450, 'Later') : undefined),
  });
  const { client, termId } = await openPublished([
    { name: 'By mail', email: 'a@example.com' },
    { name: 'Paper', deliveryChannels: ['Print'] },
  ]);
  const folder = join(equipment.dataFolder, 'print');
  writeFileSync(folder, 'not a folder');
  assert.equal(await failureOf(client, termId), 'The job did not end in 3 attempts');
  assert.deepEqual(await statusOf(client, termId), { 'Email Queued': 1, 'Print Queued': 1 });
  isRefusing = false;
  rmSync(folder);
  scene.clock.advance({ minutes: 16 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 1, 'it is sent');
  await until(async () => (await statusOf(client, termId))['Print Sent'] === 1, 'it is printed');
});

test('bills that only wait to be printed are tried again too, after the end of their job failed', async () => {
  const { equipment } = await openMail();
  const { client, termId } = await openPublished([{ name: 'Paper', deliveryChannels: ['Print'] }]);
  const folder = join(equipment.dataFolder, 'print');
  writeFileSync(folder, 'not a folder');
  assert.equal(await failureOf(client, termId), 'The job did not end in 3 attempts');
  rmSync(folder);
  const { data } = await client.getJobs({ termID: termId, status: 'Scheduled' });
  assert.deepEqual(
    data.jobs.map((job) => job.operation),
    ['retry-deliveries'],
  );
  scene.clock.advance({ minutes: 16 });
  await until(async () => (await statusOf(client, termId))['Print Sent'] === 1, 'it is printed');
  await until(
    async () =>
      (await client.getJobs({ termID: termId, status: 'Running' })).data.jobs.length === 0,
    'the job has ended',
  );
  const left = await client.getJobs({ termID: termId, status: 'Scheduled' });
  assert.deepEqual(left.data.jobs, []);
});

test('bills that cannot be printed again and again are given up', async () => {
  const { equipment } = await openMail();
  const { client, termId, tenantId } = await openPublished([
    { name: 'Paper', deliveryChannels: ['Print'] },
  ]);
  writeFileSync(join(equipment.dataFolder, 'print'), 'not a folder');
  await failureOf(client, termId);
  const row = async () => {
    const { rows } = await scene.sql.query(
      `select d.status, d.reason, d.failures, d.next_attempt_at, (
         select count(*)::integer from jobs j
         where j.tenant_id = d.tenant_id and j.status = 'Scheduled'
       ) as jobs
       from deliveries d where d.tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  };
  for (let failures = 1; failures < 8; failures += 1) {
    const { status, jobs, ...now } = await row();
    assert.deepEqual([now.failures, status, jobs], [failures, 'Queued', 1]);
    scene.clock.advance({ hours: 13 });
    await until(async () => (await row()).failures > failures, `failure ${failures + 1}`);
  }
  assert.deepEqual(await row(), {
    status: 'Failed',
    reason:
      'Given up after 8 failures: The job that should print it failed; see the log for the reason',
    failures: 8,
    next_attempt_at: null,
    jobs: 0,
  });
});

test('a chunk that was set aside fails the request; the next request sends its bills', async () => {
  const { server } = await openMail();
  const { client, termId, tenantId } = await openPublished(mailParties(3));
  const stage = async () => (await client.getTerms({ termID: termId })).data.terms[0]?.stage;
  const mend = await refuseRows(`new.tenant_id = ${tenantId}`);
  const message = '1 chunk of the job failed 3 times; the rest is done';
  assert.equal(await failureOf(client, termId), message);
  await mend();
  assert.equal(await stage(), 'Distributing');
  assert.deepEqual([server.received, await deliveriesOf(client, termId)], [[], []]);
  const { data } = await client.getJobs({ termID: termId, status: 'Failed' });
  assert.deepEqual(data.jobs[0]?.progress, { done: 0, total: 3, secondsLeft: null });
  assert.equal((await client.distributeBills(schedule(termId))).message, '3 sent');
  assert.equal(await stage(), 'Distributed');
});

test('a job that tries again and cannot is shown as failed, and so are its mails', async () => {
  await openMail({ onRecipient: () => answer(450, 'Later') });
  const { client, termId, tenantId } = await openPublished(mailParties(2));
  await client.distributeBills(schedule(termId));
  const mend = await refuseRows(`new.tenant_id = ${tenantId} and new.status = 'Sending'`);
  scene.clock.advance({ seconds: 61 });
  const failed = async () => (await client.getJobs({ termID: termId, status: 'Failed' })).data.jobs;
  await until(async () => (await failed()).length === 1, 'the job fails');
  await mend();
  const [job] = await failed();
  assert.equal(job?.operation, 'retry-deliveries');
  assert.equal(job?.error?.message, '1 chunk of the job failed 3 times; the rest is done');
  assert.deepEqual(await statusOf(client, termId), { 'Email Failed': 2 });
});

test('a mail whose outcome is not known is not resent until an operator asks for it', async () => {
  const server = await startMailServer();
  closing.push(() => server.close());
  const cut = await startCut(server.port, 'end of mail', 'close');
  closing.unshift(() => cut.close());
  const { stop } = openWorker({ smtpUrl: cut.url });
  const { client, termId } = await openPublished(mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 uncertain');
  assert.equal(server.received.length, 1);
  // A further request for the whole term leaves it alone.
  const next = await client.distributeBills(schedule(termId));
  assert.equal(next.message, 'Nothing was left to be sent');
  await stop();
  openWorker({ smtpUrl: server.url });
  const { data } = await client.getDeliveries({ status: 'Uncertain' });
  const [doubtful] = data.deliveries;
  assert.match(doubtful?.reason ?? '', /may have arrived/);
  const resolve = (resolution: 'Resend' | 'Sent' | 'Failed', deliveryID = doubtful?.deliveryID) =>
    client.resolveDeliveries({
      data: { termID: termId, deliveryIDs: [deliveryID ?? 0], resolution },
    });
  assert.equal(await codeOf(resolve('Resend', 999)), 'DELIVERY_NOT_FOUND');
  const { message } = await resolve('Resend');
  assert.equal(message, '1 sent');
  assert.equal(server.received.length, 2);
  assert.equal(server.received[0]?.text, server.received[1]?.text, 'the same mail, byte for byte');
  assert.match(server.received[1]?.text ?? '', new RegExp(doubtful?.messageID ?? 'none'));
  assert.equal(await codeOf(resolve('Resend')), 'INVALID_STATE');
  assert.equal(await codeOf(resolve('Sent')), 'INVALID_STATE');
});

test('a bill whose mail may have arrived is sent once more under the same id', async () => {
  const server = await startMailServer();
  closing.push(() => server.close());
  const cut = await startCut(server.port, 'end of mail', 'close');
  closing.unshift(() => cut.close());
  const { stop } = openWorker({ smtpUrl: cut.url });
  const { client, termId, bills } = await openPublished(mailParties(2));
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 uncertain');
  await stop();
  openWorker({ smtpUrl: server.url });
  const [same, moved] = bills;
  const partyID = moved?.partyId ?? 0;
  await client.updateUser({ user: { partyID, email: 'new@example.com' } });
  for (const bill of [same, moved]) {
    await client.distributeBills({ ...schedule(termId), billId: bill?.billId ?? 0 });
  }
  const idsOf = async (billId = 0) =>
    (await deliveriesOf(client, termId))
      .filter((row) => row.billID === billId)
      .map((row) => row.messageID);
  const [first, again] = await idsOf(same?.billId);
  assert.equal(again, first);
  const [old, other] = await idsOf(moved?.billId);
  assert.notEqual(other, old, 'it is another mailbox');
  const received = server.received.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
  assert.deepEqual(received.sort(), [first, first, old, other].sort());
});

test('what may have arrived keeps its id, also where it was refused when it was sent again', async () => {
  let isRefusing = true;
  const server = await startMailServer({
    onRecipient: () => (isRefusing ? answer(550, 'Not today') : undefined),
  });
  closing.push(() => server.close());
  const taking = await startMailServer();
  closing.push(() => taking.close());
  const cut = await startCut(taking.port, 'end of mail', 'close');
  closing.unshift(() => cut.close());
  const { stop } = openWorker({ smtpUrl: cut.url });
  const { client, termId } = await openPublished(mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 uncertain');
  await stop();
  openWorker({ smtpUrl: server.url });
  const [first] = await deliveriesOf(client, termId);
  const deliveryIDs = [first?.deliveryID ?? 0];
  const resend = { data: { termID: termId, deliveryIDs, resolution: 'Resend' as const } };
  assert.equal((await client.resolveDeliveries(resend)).message, '1 failed');
  isRefusing = false;
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 sent');
  // The mail has arrived: a customer who asks for it again must get it as a new one.
  assert.equal((await client.distributeBills(again(termId))).message, '1 sent');
  const rows = await deliveriesOf(client, termId);
  const [old, next, last] = rows.map((row) => row.messageID);
  assert.equal(next, old);
  assert.notEqual(last, old);
  const received = [...taking.received, ...server.received];
  const ids = received.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
  assert.deepEqual(ids, [old, next, last]);
});

test('a mail server that is down delays no call, and mails that were put off are sent later', async () => {
  const gone = await startMailServer();
  await gone.close();
  const { stop, equipment } = openWorker({ smtpUrl: gone.url });
  const { client, termId } = await openPublished(mailParties(70));
  const { renderer } = equipment;
  const render = renderer.render;
  let rendered = 0;
  renderer.render = (setting, bills, mails) => {
    rendered += bills.length;
    return render(setting, bills, mails);
  };
  const { message } = await client.distributeBills(schedule(termId));
  assert.equal(message, '70 to be tried again');
  const rows = await deliveriesOf(client, termId);
  const tried = rows.filter((row) => row.attempts === 1).length;
  assert.ok(tried >= 20 && tried < 30, `${tried} were tried before the others were put off`);
  assert.ok(rendered <= 40, `${rendered} documents were created without need`);
  await stop();
  const { server } = await openMail();
  scene.clock.advance({ seconds: 61 });
  await until(async () => (await statusOf(client, termId))['Email Sent'] === 70, 'all are sent');
  assert.equal(new Set(server.received.map(({ to }) => to[0])).size, 70);
  assert.equal(server.received.length, 70);
});

test('a server that takes a few mails at a time gets them all in the end', async () => {
  let room = 4;
  let ms = 0;
  const { server } = await openMail(
    { onRecipient: () => (room-- > 0 ? undefined : answer(450, 'Too many, come back later')) },
    { clockMs: () => ms },
  );
  const { client, termId, tenantId } = await openPublished(mailParties(70));
  const left = async () => {
    const { rows } = await scene.sql.query(
      `select count(*) filter (where status = 'Sent')::integer as sent,
         count(*) filter (where status = 'Queued')::integer as queued
       from deliveries where tenant_id = $1`,
      [tenantId],
    );
    return rows[0];
  };
  await client.distributeBills(schedule(termId));
  assert.deepEqual(await left(), { sent: 4, queued: 66 });
  // More rounds than a mail is tried.
  for (let round = 2; round <= 10; round += 1) {
    room = 4;
    ms += 60_000;
    scene.clock.advance({ hours: 13 });
    await until(async () => (await left()).sent === 4 * round, `round ${round}`);
    await until(async () => (await runningOf(tenantId)) === 0, 'the round ends');
  }
  assert.deepEqual(await left(), { sent: 40, queued: 30 });
  room = 1_000;
  ms += 60_000;
  scene.clock.advance({ hours: 13 });
  await until(async () => (await left()).sent === 70, 'all are sent');
  assert.equal(new Set(server.received.map(({ to }) => to[0])).size, 70);
});

async function runningOf(tenantId: number): Promise<number> {
  const { rows } = await scene.sql.query(
    `select count(*)::integer as running from jobs where tenant_id = $1 and status = 'Running'`,
    [tenantId],
  );
  return rows[0].running;
}

test('a party that is edited meanwhile redirects nothing: recipients are of the bill', async () => {
  const { server } = await openMail({ slowMs: 40 }, { mailsAtOnce: 1 });
  const { client, termId, bills } = await openPublished(mailParties(15));
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
  const { server } = await openMail({ slowMs: 20 }, { mailsAtOnce: 3 });
  const { client, termId } = await openPublished(mailParties(20));
  await client.distributeBills(schedule(termId));
  assert.equal(server.received.length, 20);
  assert.equal(server.busiest(), 3);
});

test('of two simultaneous requests one is done, and the other is refused', async () => {
  const { server } = await openMail({ slowMs: 50 });
  const { client, termId } = await openPublished(mailParties(4));
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
  const { server } = await openMail();
  const { client, termId } = await openPublished([
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
