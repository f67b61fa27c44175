// Dunning: overdue debts go along the steps of a plan; holds, promises and instalment plans.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BillingError } from '../../sdk/client.ts';
import { createLog } from '../../src/base/log.ts';
import { sendNotices } from '../../src/domain/delivery/send-notices.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { asWorker } from '../support/daily-work.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { type Late, openLate } from '../support/late.ts';
import { startMailServer } from '../support/mail-server.ts';
import { parseMail, wordsOf } from '../support/parsed-mail.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const server = await startMailServer();
const equipment = openTestEquipment({ smtpUrl: server.url });
const places: Late[] = [];

after(async () => {
  for (const { tenantId } of places) await assertChecks(scene, tenantId);
  await equipment.close();
  await server.close();
});

const body =
  'Dear {{bill.partyName}}, {{bill.outstandingAmount}} is due since {{bill.dueDate}}. ' +
  'All: {{bill.totalAmount}}{{bill.days}}.';

/** Reminded after 3 days, a fee of 25 after 7, listed after 10, disconnected after 14. */
async function openDunned(workspace: string, year: number): Promise<Late> {
  const place = await openLate(scene, workspace, year);
  places.push(place);
  const { client, offer, party } = place;
  const { headers } = await client.makeTemplates({
    templates: [{ type: 'Email', name: 'Reminder', subject: 'Reminder', body }],
  });
  const templateID = Number(headers.get('x-resource-id'));
  const dunning = {
    steps: [
      { daysAfterDue: 3, action: 'Remind' as const, templateID },
      { daysAfterDue: 7, action: 'Fee' as const, component: 'fee', amount: 25 },
      { daysAfterDue: 10, action: 'List' as const },
      { daysAfterDue: 14, action: 'Disconnect' as const },
    ],
    reconnect: 1 as const,
  };
  await client.updateService({ service: { code: offer.serviceCode, dunning } });
  await client.updateUser({ user: { partyNumber: party, email: 'late@customer.example' } });
  return place;
}

async function dunningOf({ client }: Late) {
  const { data } = await client.getDunning({});
  return data.dunning.map((one) => [one.step, one.action, one.overdueAmount, one.nextDate]);
}

async function statusOf({ client, number }: Late): Promise<string | undefined> {
  const { data } = await client.getConnections({ connectionNumber: number });
  return data.connections[0]?.status;
}

function sendMails({ tenantId }: Late): Promise<number> {
  const log = createLog({ level: 'silent' });
  return asWorker(scene, (database) =>
    sendNotices({ database, log, ...equipment }, tenantId, scene.clock),
  );
}

test('a debt is reminded of, charged a fee, listed, disconnected and, when paid, reconnected', async () => {
  const place = await openDunned('dunned', 2027);
  await place.bill(1_000, '15/08');
  await place.on('17/08');
  assert.deepEqual(await dunningOf(place), [], 'two days after the due date');
  await place.on('18/08');
  // 1,000 and its surcharge of 100; the next step is 7 days after 15/08.
  assert.deepEqual(await dunningOf(place), [[1, 'Remind', 1_100, '22/08/2027']]);
  assert.equal(await sendMails(place), 1);
  assert.equal(await sendMails(place), 0, 'once');
  const [mail] = server.received;
  assert.deepEqual(mail?.to, ['late@customer.example']);
  const { text, html, attachments } = await parseMail(mail);
  for (const words of [text ?? '', wordsOf(html)]) {
    assert.match(words, /Dear A\. Khan, 1,100\.00 is due since Aug 15, 2027\. All: \./);
    assert.match(words, /Overdue since Aug 15, 2027:? \S+\s1,100\.00/);
    assert.match(words, new RegExp(`How to pay\\s+Payment reference:? ${place.number}`));
  }

  // The document is attached, and kept with the step.
  const { data: first } = await place.client.getDunning({});
  const reminderID = first.dunning[0]?.steps?.[0]?.reminderID ?? 0;
  const document = async (format: 'PDF' | 'HTML') =>
    Buffer.from(
      (await place.client.getReminderDocument({ reminderID, format })).data.base64,
      'base64',
    );
  const page = (await document('HTML')).toString();
  // The surcharge comes before its bill, both due since 15/08: 3 days.
  for (const shown of ['100.00', '1,000.00', '1,100.00', '>3<', 'Payment reminder']) {
    assert.ok(page.includes(shown), shown);
  }
  const file = await document('PDF');
  assert.deepEqual(
    attachments.map((one) => [one.filename, file.equals(Buffer.from(one.content as ArrayBuffer))]),
    [[`Reminder-${reminderID}.pdf`, true]],
  );
  await place.client.updateSettings({ data: { letterhead: { name: 'Another name' } } });
  assert.ok((await document('PDF')).equals(file), 'it is kept');
  const unknown = place.client.getReminderDocument({ reminderID: 999 });
  await refuses(unknown, 'REMINDER_NOT_FOUND', { field: 'reminderID' });

  await place.on('23/08');
  assert.deepEqual(await dunningOf(place), [[2, 'Fee', 1_125, '25/08/2027']]);
  assert.deepEqual(await place.money(), { owed: 1_125, wallet: 0 });
  await place.on('25/08');
  const listed = await place.client.getDunning({ step: 'List' });
  assert.deepEqual(
    listed.data.dunning.map((one) => [one.connectionNumber, one.daysOverdue, one.nextAction]),
    [[place.number, 10, 'Disconnect']],
  );
  assert.equal(await statusOf(place), 'Active');
  await place.on('29/08');
  assert.equal(await statusOf(place), 'Disconnected');
  const { data } = await place.client.getDunning({ partyNumber: place.party });
  assert.deepEqual(
    data.dunning[0]?.steps?.map((one) => [one.step, one.action, one.date, one.fee, one.mail]),
    [
      [1, 'Remind', '18/08/2027', null, 'Sent'],
      [2, 'Fee', '22/08/2027', 25, null],
      [3, 'List', '25/08/2027', null, null],
      [4, 'Disconnect', '29/08/2027', null, null],
    ],
  );
  await place.pay(1_125);
  await place.on('30/08');
  assert.deepEqual(await dunningOf(place), []);
  assert.equal(await statusOf(place), 'Active');
});

test('a hold and a promise pause dunning until their dates; a promise not kept is Broken', async () => {
  const place = await openDunned('dunning-held', 2028);
  const { client, party, number } = place;
  await place.bill(1_000, '15/08');
  await client.updateUser({
    user: { partyNumber: party, dunningHold: { until: '20/08/2028', reason: 'In hospital' } },
  });
  const { data: view } = await client.getUsers({ partyNumber: party });
  assert.deepEqual(view.user.dunningHold, { until: '20/08/2028', reason: 'In hospital' });
  await place.on('20/08');
  assert.deepEqual(await dunningOf(place), []);
  await client.updateConnection({
    data: { connectionNumber: number, dunningHold: { until: '21/08/2028', reason: 'Dialysis' } },
  });
  const { data: shown } = await client.getConnections({ connectionNumber: number });
  assert.deepEqual(shown.connections[0]?.dunningHold, { until: '21/08/2028', reason: 'Dialysis' });
  await place.on('21/08');
  assert.deepEqual(await dunningOf(place), []);
  await place.on('22/08');
  assert.deepEqual(await dunningOf(place), [[1, 'Remind', 1_100, '22/08/2028']]);
  const { headers } = await client.makePromises({
    promises: [{ partyNumber: party, amount: 1_100, date: '24/08/2028', reason: 'Payday' }],
  });
  const arrangementID = Number(headers.get('x-resource-id'));
  const { data } = await client.getDunning({});
  assert.deepEqual(data.dunning[0]?.arrangements, [
    { arrangementID, kind: 'Promise', until: '24/08/2028', amount: 1_100, reason: 'Payday' },
  ]);
  await place.on('24/08');
  assert.deepEqual(await dunningOf(place), [[1, 'Remind', 1_100, '22/08/2028']]);
  await place.on('25/08');
  // The fee of 25 is overdue from tomorrow.
  assert.deepEqual(await dunningOf(place), [[2, 'Fee', 1_100, '25/08/2028']]);
  assert.deepEqual(await place.money(), { owed: 1_125, wallet: 0 });
  await assert.rejects(
    client.endArrangement({ data: { arrangementID, reason: 'late' } }),
    /it has ended already/,
  );
});

test('while instalments are paid in time there is no surcharge and no dunning', async () => {
  const place = await openDunned('dunning-plan', 2029);
  const { client, number: connectionNumber } = place;
  const { billID = 0 } = await place.bill(1_000, '15/08');
  const plan = {
    connectionNumber,
    billIDs: [billID],
    instalments: [
      { dueDate: '20/08/2029', amount: 400 },
      { dueDate: '20/09/2029', amount: 600 },
    ],
    reason: 'Lost the job',
  };
  const short = { ...plan, instalments: plan.instalments.slice(1) };
  await assert.rejects(client.makeInstalmentPlans({ plans: [short] }), /do not add up to/);
  await client.makeInstalmentPlans({ plans: [plan] });
  await assert.rejects(client.makeInstalmentPlans({ plans: [plan] }), /instalment plan already/);
  await place.on('19/08');
  assert.deepEqual(await place.money(), { owed: 1_000, wallet: 0 });
  await place.pay(400);
  await place.on('20/09');
  assert.deepEqual(await place.money(), { owed: 600, wallet: 0 }, 'neither surcharge nor fee');
  assert.deepEqual(await dunningOf(place), []);
  await place.on('21/09');
  // The instalment of 20/09 is missed: the plan ends, and the printed surcharge of 100 is due.
  assert.deepEqual(await place.money(), { owed: 700, wallet: 0 });
  assert.deepEqual(await dunningOf(place), [[1, 'Remind', 700, '22/08/2029']]);
});

test('a dunning plan names templates and components that exist, in the order of its steps', async () => {
  const place = await openLate(scene, 'dunning-fields', 2030);
  const service = {
    code: place.offer.serviceCode,
    dunning: {
      steps: [
        { daysAfterDue: 5, action: 'Remind' as const, templateID: 999 },
        { daysAfterDue: 3, action: 'Fee' as const, component: 'nothing', amount: 0 },
      ],
    },
  };
  await assert.rejects(place.client.updateService({ service }), (error) => {
    assert.ok(error instanceof BillingError);
    assert.deepEqual(
      error.error.details.map((detail) => detail.field),
      [
        'service.dunning.steps[0].templateID',
        'service.dunning.steps[1].daysAfterDue',
        'service.dunning.steps[1].component',
        'service.dunning.steps[1].amount',
      ],
    );
    return true;
  });
});
