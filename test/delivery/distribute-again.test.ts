// Asked for again: which mails are sent once more, and under which id.
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { codeOf, deliveriesOf, schedule } from '../support/delivery.ts';
import { answer, startCut, startMailServer } from '../support/mail-server.ts';
import {
  again,
  closing,
  leaveNothing,
  openMail,
  openPublished,
  openWorker,
} from '../support/mail-worker.ts';
import { mailParties } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('asked for again, only what has not gone out goes; resend and a single bill go once more', async () => {
  let isRefusing = true;
  const { server } = await openMail(scene, {
    onRecipient: (to) =>
      isRefusing && to.startsWith('c2@') ? answer(550, 'No such user') : undefined,
  });
  const { client, termId, bills, tenantId } = await openPublished(scene, mailParties(3));
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
  const { server } = await openMail(scene, {
    onRecipient: (to) => (to.startsWith('c') ? answer(450, 'Later') : undefined),
  });
  const { client, termId, bills } = await openPublished(scene, mailParties(3));
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
  const { server } = await openMail(scene, {
    onRecipient: () => (isRefusing ? answer(550, 'Not today') : undefined),
  });
  const { client, termId, tenantId } = await openPublished(scene, mailParties(1));
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
  const { server } = await openMail(scene, { onRecipient: () => answer(550, 'Not today') });
  const { client, termId, bills, tenantId } = await openPublished(scene, mailParties(2));
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
  const { server } = await openMail(scene, { onRecipient: () => answer(450, 'Later') });
  const { client, termId, bills } = await openPublished(scene, mailParties(2));
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
  await openMail(scene, { onRecipient: () => answer(450, 'Later') });
  const { client, termId, bills, tenantId } = await openPublished(scene, mailParties(1));
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

test('a mail whose outcome is not known is not resent until an operator asks for it', async () => {
  const server = await startMailServer();
  closing.push(() => server.close());
  const cut = await startCut(server.port, 'end of mail', 'close');
  closing.unshift(() => cut.close());
  const { stop } = openWorker(scene, { smtpUrl: cut.url });
  const { client, termId } = await openPublished(scene, mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 uncertain');
  assert.equal(server.received.length, 1);
  // A further request for the whole term leaves it alone.
  const next = await client.distributeBills(schedule(termId));
  assert.equal(next.message, 'Nothing was left to be sent');
  await stop();
  openWorker(scene, { smtpUrl: server.url });
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
  const { stop } = openWorker(scene, { smtpUrl: cut.url });
  const { client, termId, bills } = await openPublished(scene, mailParties(2));
  assert.equal((await client.distributeBills(schedule(termId))).message, '2 uncertain');
  await stop();
  openWorker(scene, { smtpUrl: server.url });
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
  const { stop } = openWorker(scene, { smtpUrl: cut.url });
  const { client, termId } = await openPublished(scene, mailParties(1));
  assert.equal((await client.distributeBills(schedule(termId))).message, '1 uncertain');
  await stop();
  openWorker(scene, { smtpUrl: server.url });
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

after(async () => {
  for (const close of closing.splice(0)) await close();
});
