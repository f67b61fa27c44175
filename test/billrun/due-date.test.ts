// Bills do not go out overdue, and a term without bills blocks no month.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, type Running } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { day, newOffer, newParty, type Offer, subscribe } from '../support/subscriptions.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

type Shop = Running & { offer: Offer };
type Fields = NonNullable<Parameters<typeof newOffer>[1]>;

/** A service with one subscription, which is billed the result of a formula each term. */
async function openShop(workspace: string, fields: Fields = {}, formula = '500'): Promise<Shop> {
  const client = await scene.workspace(workspace);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  const offer = await newOffer(
    client,
    { meteredInputs: [], holdRules: [], ...fields },
    {
      chargeType: fields.chargingType ?? 'Postpaid',
      componentRules: [{ component: 'energyCharge', scope: 'Term', formula }],
    },
  );
  const users = [{ partyNumber: await newParty(client) }];
  const connectionDate = day(-60, '');
  await subscribe(client, { ...offer, users, connectionDate }, { batchUpload: true });
  return { scene, client, tenantId: Number(rows[0]?.id), offer };
}

/** A generated term of the last 30 days. */
async function generated(shop: Shop, dueDate: string): Promise<number> {
  const { serviceCode } = shop.offer;
  const days = { startDate: day(-30), endDate: day(-1), dueDate };
  const termId = await newTerm(shop.client, { serviceCode, ...days });
  await generate(shop, termId);
  return termId;
}

const strictly = (termID: number) => ({
  operation: 'schedule' as const,
  data: { termID, acceptDueDate: false },
});

const refusesDate = async (call: Promise<unknown>) => {
  const { error } = await refuses(call, 'DUE_DATE_TOO_EARLY', { statusCode: 422 });
  return error.message;
};

test('a term that is due within minimumDaysToPay is not posted, and is posted with a later date', async () => {
  const shop = await openShop('too-early');
  const { client } = shop;
  const termId = await generated(shop, day(6));
  const { label } = await termOf(client, termId);
  assert.equal(
    await refusesDate(client.postBills(strictly(termId))),
    `The bills of ${label} would be due on ${day(6)}. Customers of ${shop.offer.serviceCode} ` +
      `have 7 days to pay: the earliest due date is ${day(7)}. ` +
      'Change it with update-term, or send acceptDueDate: true.',
  );
  await client.updateTerm({ data: { termID: termId, dueDate: day(7) } });
  await generate(shop, termId);
  await client.postBills(strictly(termId));
  assert.deepEqual(
    (await billsOf(shop, termId)).map((bill) => bill.dueDate),
    [day(7)],
  );
});

test('a term that was posted in time and waited is not published before its date is moved', async () => {
  const shop = await openShop('waited');
  const { client } = shop;
  const termId = await generated(shop, day(3));
  await client.postBills({
    operation: 'schedule',
    data: { termID: termId, acceptDueDate: true },
  });
  assert.match(await refusesDate(client.publishBills(strictly(termId))), /earliest due date is/);
  await client.updateTerm({ data: { termID: termId, dueDate: day(10) } });
  await client.publishBills(strictly(termId));
  assert.deepEqual(
    (await billsOf(shop, termId)).map((bill) => [bill.status, bill.dueDate]),
    [['Published', day(10)]],
  );
  await assertChecks(scene, shop.tenantId);
});

test('acceptDueDate posts and publishes an early date, and the audit trail shows it', async () => {
  const shop = await openShop('accepted');
  const { client } = shop;
  const termId = await generated(shop, day(-1));
  const body = { operation: 'schedule' as const, data: { termID: termId, acceptDueDate: true } };
  await client.postBills(body);
  await client.publishBills(body);
  const { rows } = await scene.sql.query(
    `select after ->> 'operation' as operation, after ->> 'acceptDueDate' as accepted
     from audit_entries where tenant_id = $1 and subject = 'job'
       and after ->> 'operation' in ('post-bills', 'publish-bills')
     order by after ->> 'operation'`,
    [shop.tenantId],
  );
  assert.deepEqual(rows, [
    { operation: 'post-bills', accepted: 'true' },
    { operation: 'publish-bills', accepted: 'true' },
  ]);
});

test('Prepaid bills, payables and bills of zero or less are posted whatever their due date', async () => {
  const shops = [
    await openShop('due-prepaid', { chargingType: 'Prepaid' }),
    await openShop('purchase-due', { serviceType: 'Purchase' }),
    await openShop('zero', {}, '0'),
  ];
  for (const shop of shops) {
    const termId = await generated(shop, day(-1));
    await shop.client.postBills(strictly(termId));
    assert.equal((await termOf(shop.client, termId)).status, 'Posted', shop.client.workspace);
  }
});

test('minimumDaysToPay is 7 unless the service says 0 to 90', async () => {
  const shop = await openShop('due-days', { minimumDaysToPay: 0 });
  const { client } = shop;
  const days = async (code: string) =>
    (await client.getServices({ serviceCode: code })).data.services[0]?.minimumDaysToPay;
  const { serviceCode } = shop.offer;
  assert.equal(await days(serviceCode), 0);
  assert.equal(await days((await newOffer(client)).serviceCode), 7);
  await client.updateService({ service: { code: serviceCode, minimumDaysToPay: 90 } });
  assert.equal(await days(serviceCode), 90);
  for (const minimumDaysToPay of [-1, 91]) {
    const change = { service: { code: serviceCode, minimumDaysToPay } };
    await refuses(client.updateService(change), 'INVALID_NUMBER');
  }
  await client.updateService({ service: { code: serviceCode, minimumDaysToPay: 0 } });
  const termId = await generated(shop, day(0));
  await client.postBills(strictly(termId));
});

test('a term that cancel-bill opens is due after the larger of dueDateOffset and minimumDaysToPay', async () => {
  for (const [name, fields, expected] of [
    ['rebill-offset', { dueDateOffset: 21 }, 21],
    ['rebill-minimum', { dueDateOffset: 3 }, 7],
  ] as const) {
    const shop = await openShop(name, fields);
    const termId = await generated(shop, day(40));
    await shop.client.postBills(strictly(termId));
    const [bill] = await billsOf(shop, termId);
    const data = { billID: bill?.billID ?? 0, reason: 'wrong', rebill: true };
    await shop.client.cancelBill({ data });
    const { terms } = (await shop.client.getTerms({ type: 'OffCycle' })).data;
    assert.deepEqual(
      terms.map((term) => term.dueDate),
      [day(expected)],
    );
  }
});

test('make-term says how many subscriptions it will bill, and warns of 0', async () => {
  const shop = await openShop('due-population', { batches: [{ batchCode: 'B01', label: 'One' }] });
  const { client, offer } = shop;
  const { serviceCode } = offer;
  const open = async (data: { batchCode?: string; startDate: string; endDate: string }) =>
    client.makeTerm({
      operation: 'schedule',
      data: { serviceCode, label: `T ${data.startDate}${data.batchCode ?? ''}`, ...data },
    });
  const days = { startDate: day(-30), endDate: day(-1) };
  const filled = await open(days);
  assert.equal(
    filled.message,
    `Term T ${days.startDate} is open. It will bill 1 subscription of batch DEFAULT.`,
  );
  const empty = await open({ ...days, batchCode: 'B01' });
  assert.equal(
    empty.message,
    `Term T ${days.startDate}B01 is open. Warning: it will bill 0 subscriptions of batch B01. ` +
      'Other batches have some: DEFAULT. If it is not needed, cancel it with cancel-term.',
  );
});

test('posting a term without bills is refused with NOTHING_TO_POST, and the term is cancelled', async () => {
  const shop = await openShop('nothing', { batches: [{ batchCode: 'B01', label: 'One' }] });
  const { client, offer, tenantId } = shop;
  const term = {
    serviceCode: offer.serviceCode,
    batchCode: 'B01',
    startDate: day(-30),
    endDate: day(-1),
  };
  const termId = await newTerm(client, term);
  await generate(shop, termId);
  const { label } = await termOf(client, termId);
  const { error } = await refuses(
    client.postBills({ operation: 'schedule', data: { termID: termId, skipErrors: true } }),
    'NOTHING_TO_POST',
    { statusCode: 409 },
  );
  assert.equal(
    error.message,
    `Term ${label} has no bill to post: it bills no subscription. Cancel it with cancel-term.`,
  );
  // One that was posted or published without bills, before that was refused.
  for (const status of ['Posted', 'Published']) {
    await scene.sql.query(
      `update terms set status = $3::text, stage = $3::text where tenant_id = $1 and term_id = $2`,
      [tenantId, termId, status],
    );
    const { message } = await client.cancelTerm({ data: { termID: termId, reason: 'empty' } });
    assert.equal(message, `Term ${label} is cancelled`);
    assert.equal((await termOf(client, termId)).status, 'Cancelled');
  }
  // The month is free again.
  await newTerm(client, term);
  await assertChecks(scene, tenantId);
});

test('a term with posted bills is not cancelled', async () => {
  const shop = await openShop('kept');
  const termId = await generated(shop, day(30));
  await shop.client.postBills(strictly(termId));
  const { label } = await termOf(shop.client, termId);
  const { error } = await refuses(
    shop.client.cancelTerm({ data: { termID: termId, reason: 'empty' } }),
    'INVALID_STATE',
  );
  assert.equal(
    error.message,
    `Term ${label} has posted bills, and cannot be cancelled. Unpost them with unpost-bills first.`,
  );
});

// The last one: it moves the clock.
test('the guard is checked again when a scheduled posting runs', async () => {
  const shop = await openShop('due-later');
  const termId = await generated(shop, day(8));
  const now = scene.clock.now().toZonedDateTimeISO('Asia/Karachi');
  const sheduleTime = now
    .add({ days: 3 })
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' })
    .slice(0, 19);
  await shop.client.postBills({
    operation: 'schedule',
    data: { termID: termId, acceptDueDate: false, sheduleTime },
  });
  scene.clock.advance({ hours: 73 });
  const job = await until(async () => {
    const { rows } = await scene.sql.query(
      `select status, error ->> 'code' as code from jobs
       where tenant_id = $1 and operation = 'post-bills' and finished_at is not null`,
      [shop.tenantId],
    );
    return rows[0];
  }, 'the posting has ended');
  assert.deepEqual(job, { status: 'Failed', code: 'DUE_DATE_TOO_EARLY' });
});
