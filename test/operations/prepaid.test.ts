// Prepaid subscriptions: bills draw on the wallet, and each night what is left is estimated.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import { sendNotices } from '../../src/domain/delivery/send-notices.ts';
import { assertChecks } from '../support/checks.ts';
import { asWorker } from '../support/daily-work.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openLate } from '../support/late.ts';
import { startMailServer } from '../support/mail-server.ts';
import { parseMail, wordsOf } from '../support/parsed-mail.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const server = await startMailServer();
const equipment = openTestEquipment({ smtpUrl: server.url });

after(async () => {
  await equipment.close();
  await server.close();
});

test('a bill draws on the wallet; the customer is warned, disconnected and, topped up, reconnected', async () => {
  const service = { chargingType: 'Prepaid' };
  const place = await openLate(scene, 'prepaid', 2027, service, { termYear: 2027 });
  const { client, offer, party, number: connectionNumber, tenantId } = place;
  const text = { subject: 'Low', body: 'Left: {{bill.creditBalance}}' };
  const { headers } = await client.makeTemplates({
    templates: [{ type: 'Email', name: 'Low', ...text }],
  });
  const templateID = Number(headers.get('x-resource-id'));
  const prepaid = { lowBalance: 20, templateID, disconnect: 1 as const, graceDays: 2 };
  await client.updateService({ service: { code: offer.serviceCode, prepaid } });
  await client.updateUser({ user: { partyNumber: party, email: 'pre@paid.example' } });
  const status = async () => {
    const { data } = await client.getConnections({ connectionNumber });
    return data.connections[0]?.status;
  };
  const sendMails = () =>
    asWorker(scene, (database) => {
      const log = createLog({ level: 'silent' });
      return sendNotices({ database, log, ...equipment }, tenantId, scene.clock);
    });
  // Read from the outbox: get-events waits for the transactions of all other tests.
  const lowWallets = async () => {
    await scene.enter(client);
    const { rows } = await scene.sql.query(
      `select data -> 'amountLeft' as left from events
       where tenant_id = $1 and type = 'wallet.low' order by event_id`,
      [tenantId],
    );
    return rows.map((row) => row.left);
  };

  await place.pay(80);
  await place.on('05/08');
  const bill = await place.bill(100, '05/08');
  // 80 of 100 from the wallet; the rest is due at once.
  assert.deepEqual(
    [bill.walletApplied, bill.dueDate, bill.outstandingAmount],
    [80, '05/08/2027', 20],
  );
  await place.pay(50);
  assert.deepEqual(await place.money(), { owed: 0, wallet: 30 });

  // 100 for the 31 days of July; on 06/08 five days are not billed: 30 - 5 * 100 / 31 = 13.88.
  await place.on('06/08');
  assert.equal(await sendMails(), 1);
  const { text: plain, html } = await parseMail(server.received[0]);
  for (const words of [plain ?? '', wordsOf(html)]) {
    assert.match(words, /Left: 13\.88/);
    assert.match(words, /Balance left:? \S+\s13\.88/);
  }
  assert.deepEqual(await lowWallets(), [13.88]);
  // Ten days on 11/08: 30 - 10 * 100 / 31 is below zero; two days of grace.
  await place.on('12/08');
  assert.equal(await status(), 'Active');
  await place.on('13/08');
  assert.equal(await status(), 'Disconnected');
  assert.equal(await sendMails(), 0, 'one warning until it is topped up');
  await place.pay(100);
  await place.on('14/08');
  assert.equal(await status(), 'Active');
  await assertChecks(scene, tenantId);

  // 130 - 13 * 100 / 31 = 88.07. A second subscription that owes 70 draws on the same wallet: 18.07
  // are left for both.
  const accounts = [{ title: 'Receivable' as const, balance: 70 }];
  await place.connectOld({ accounts });
  await place.on('15/08');
  assert.equal((await lowWallets()).length, 3, 'both are low');
});
