// A workspace that bills a worked tariff as its operators would: everything by calls, on days of
// its own, with the mails going to a real server.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import type { TariffCase } from '../rating/tariff-cases.ts';
import { type ShownBill, tariffCase } from './bill-run.ts';
import { assertChecks } from './checks.ts';
import type { TestClient } from './client.ts';
import { pdfIn, schedule, subjectOf } from './delivery.ts';
import { openTestEquipment } from './equipment.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { assertIdentities } from './published-bill.ts';
import { adminPassword, openScene, type Scene } from './scene.ts';
import type { Connection } from './subscriptions.ts';
import { saveTariffs } from './tariffs.ts';

export type Story = {
  scene: Scene;
  client: TestClient;
  tenantId: number;
  one: TariffCase;
  mailServer: MailServer;
};

const zone = 'Asia/Karachi';

/** It is ten in the morning of that day; whoever was logged in logs in again. */
export async function onDay(scene: Scene, date: string, client?: TestClient): Promise<void> {
  const [day, month, year] = date.split('/').map(Number) as [number, number, number];
  const there = Temporal.ZonedDateTime.from({ timeZone: zone, year, month, day, hour: 10 });
  scene.clock.advance(scene.clock.now().until(there.toInstant()));
  if (!client) return;
  const username = `admin@${client.workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
}

/** For a test file: a scene whose worker sends by a real mail server. */
export async function openMailedScene(): Promise<{ scene: Scene; mailServer: MailServer }> {
  const scene = await openScene();
  const mailServer = await startMailServer();
  after(() => mailServer.close());
  scene.runJobs({ equipment: openTestEquipment({ smtpUrl: mailServer.url }) });
  return { scene, mailServer };
}

/** The workspace on the day on which it begins, with context and plans of a case. */
export async function openStory(
  scene: Scene,
  mailServer: MailServer,
  begins: { id: string; date: string },
): Promise<Story> {
  const one = tariffCase(begins.id);
  await onDay(scene, begins.date);
  const workspace = `story-${begins.id.toLowerCase()}`;
  const client = await scene.workspace(workspace, { currency: one.service.currency ?? 'PKR' });
  await saveTariffs(client, one);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  return { scene, client, tenantId: Number(rows[0]?.id), one, mailServer };
}

/** A customer with a mailbox. */
export async function addCustomer({ client }: Story, name: string, email: string): Promise<number> {
  const users = [{ name, email }];
  const { headers } = await client.makeUsers({ userType: 'customer', users });
  return Number(headers.get('x-party-number'));
}

/** A meter in store: so many digits, and what one step of its register is worth. */
export async function addMeter(
  { client }: Story,
  meter: { number: number; mf: number; register: string; digits: number; decimals?: number },
): Promise<void> {
  const { register, digits, decimals = 0, number, mf } = meter;
  const registers = [{ register, unit: register, kind: 'Cumulative' as const, digits, decimals }];
  const meterTypes = [{ name: `For ${number}`, utility: 'Any', registers }];
  const { headers } = await client.makeMeterTypes({ meterTypes });
  const meterType = Number(headers.get('x-resource-id'));
  const meters = [{ number, brand: 'Itron', meterType, purchaseDate: '01/01/2020', mf }];
  await client.makeMeters({ meters });
}

/** A customer from another system, loaded with number, dates and balance. */
export async function takeOver(
  { client, one }: Story,
  partyNumber: number,
  connection: Omit<Connection, 'serviceCode' | 'postType'>,
): Promise<void> {
  const { code: serviceCode } = one.service;
  const postType = 'Post Subscription';
  await client.makeConnections({
    batchUpload: true,
    connection: { serviceCode, postType, users: [{ partyNumber }], ...connection },
  });
}

/** Steps 1 and 2. */
export async function openTerm(
  { client, one }: Story,
  term: Omit<RequestOf<'makeTerm'>['data'], 'serviceCode'>,
): Promise<number> {
  const data = { serviceCode: one.service.code, ...term };
  await client.makeTerm({ operation: 'schedule', data });
  const { terms } = (await client.getTerms({ serviceCode: one.service.code })).data;
  const found = terms.find(({ label }) => label === term.label);
  assert.deepEqual([found?.status, found?.stage], ['Open', 'Created']);
  return found?.termID ?? 0;
}

type Rows = readonly (readonly string[])[];
const inner = (termID: number, list: string, rows: Rows) => ({
  operation: 'schedule' as const,
  data: { data: JSON.stringify({ termID, [list]: rows }), sheduleTime: null },
});

/** Steps 3 and 4: readings are brought in, then locked. */
export async function read({ client }: Story, termID: number, readings: Rows): Promise<void> {
  await client.uploadMeterReadings(inner(termID, 'readings', readings));
  const data = { termID, reading: 'current', sheduleTime: null };
  await client.postMeterReadings({ operation: 'schedule', data });
}

/** Step 5. */
export async function giveByHand({ client }: Story, termID: number, rows: Rows): Promise<void> {
  await client.postManualComponentValues(inner(termID, 'compsData', rows));
}

export async function giveUsage({ client }: Story, termID: number, rows: Rows): Promise<void> {
  await client.uploadUsage(inner(termID, 'usage', rows));
}

/** Step 6, and the review: the drafts in the order of their subscriptions. */
export async function generate({ client }: Story, termID: number): Promise<ShownBill[]> {
  await client.generateBills(schedule(termID));
  const { data } = await client.getBillTerm({ billTermID: termID });
  assert.deepEqual(data.exceptions, []);
  for (const bill of data.bills) {
    assert.deepEqual([bill.status, bill.billNumber], ['Draft', null]);
    assertIdentities(bill);
  }
  return data.bills;
}

/** Steps 7, 8 and 9: posted, published, sent. What was reviewed is what is owed. */
export async function bringOut(
  story: Story,
  termID: number,
  drafts: readonly ShownBill[],
): Promise<ShownBill[]> {
  const { client, scene, tenantId } = story;
  await client.postBills(schedule(termID));
  await client.publishBills(schedule(termID));
  await client.distributeBills(schedule(termID));
  const { bills } = (await client.getBills({ termID })).data;
  assert.equal(bills.length, drafts.length);
  for (const [index, bill] of bills.entries()) {
    assertIdentities(bill);
    const draft = drafts[index];
    assert.deepEqual(
      [bill.billID, bill.status, bill.lines, bill.surcharges, bill.payableWithinDueDate],
      [draft?.billID, 'Published', draft?.lines, draft?.surcharges, draft?.payableWithinDueDate],
    );
    assert.match(bill.billNumber ?? '', new RegExp(`^${bill.serviceCode}-`));
  }
  await assertBalanced(story);
  await assertChecks(scene, tenantId);
  return bills;
}

/** Debits are credits, over all journals; each account is what its entries say by L5. */
export async function assertBalanced({ scene, tenantId }: Story): Promise<void> {
  const { rows } = await scene.sql.query(
    `select count(*)::integer as lines, coalesce(sum(amount), 0)::text as balance
     from journal_lines where tenant_id = $1`,
    [tenantId],
  );
  assert.equal(rows[0]?.balance, '0');
  assert.ok(rows[0]?.lines > 0);
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Every bill lies in its customer's mailbox once, with the document that the API shows. */
export async function assertMailed(
  { client, mailServer }: Story,
  bills: readonly ShownBill[],
  mailboxes: readonly string[],
): Promise<void> {
  for (const [index, bill] of bills.entries()) {
    const mails = mailServer.received.filter(
      ({ text }) => subjectOf(text) === `Your bill ${bill.billNumber}`,
    );
    assert.deepEqual(
      mails.map(({ to }) => to),
      [[mailboxes[index]]],
    );
    const pdf = pdfIn(mails[0]?.text ?? '');
    assert.equal(pdf.subarray(0, 5).toString('latin1'), '%PDF-');
    const { data } = await client.getBillDocument({ billID: bill.billID });
    assert.equal(sha256(pdf), sha256(Buffer.from(data.base64, 'base64')));
    assert.deepEqual(
      bill.deliveries.map(({ channel, to, status }) => [channel, to, status]),
      [['Email', mailboxes[index], 'Sent']],
    );
  }
}
