// Making, listing, changing and cancelling terms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClient } from '../support/client.ts';
import { refuses } from '../support/client.ts';
import { newService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm, type TermData, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
const admin = await scene.workspace('terms', { sandbox: true });
await scene.enter(admin);

const make = (data: TermData, client: TestClient = admin) =>
  client.makeTerm({ operation: 'schedule', data });

const july = { label: 'Jul-2026', startDate: '01/07/2026', endDate: '31/07/2026' };

test('a term is made with what is sent, and found with all its fields', async () => {
  const batches = [{ batchCode: 'B01', label: 'North' }];
  const serviceCode = await newService(admin, { batches, dueDateOffset: 10 });
  const sent = { ...july, serviceCode, batchCode: 'B01', billingPeriodID: 2 };
  const done = await make({ ...sent, dueDate: '20/08/2026', postType: 'Post Subscription' });
  assert.deepEqual(done.data, {});
  assert.match(done.message, /^Term Jul-2026 is open\. Warning: it will bill 0 subscriptions/);
  const termID = Number(done.headers.get('x-term-id'));
  assert.equal(done.headers.get('x-resource-id'), String(termID));
  const { createdAt, modifiedAt, ts, batchID, ...term } = await termOf(admin, termID);
  assert.deepEqual(term, {
    termID,
    ...july,
    dueDate: '20/08/2026',
    issueDate: null,
    status: 'Open',
    stage: 'Created',
    stale: false,
    serviceCode,
    batchCode: 'B01',
    billingPeriodID: 2,
    type: 'Regular',
    postType: 'Post Subscription',
    cancelReason: null,
    createdBy: 'admin@terms.example',
    modifiedBy: 'admin@terms.example',
  });
  assert.equal(createdAt, modifiedAt);
  assert.ok(ts && batchID);
});

test('fields that are left out come from the context: batch, period, due date and post type', async () => {
  const serviceCode = await newService(admin, {
    dueDateOffset: 10,
    billingCycle: 3,
    postType: 'Post Account',
  });
  const term = await termOf(admin, await newTerm(admin, { ...july, serviceCode }));
  assert.equal(term.batchCode, 'DEFAULT');
  assert.equal(term.billingPeriodID, 3);
  assert.equal(term.dueDate, '10/08/2026');
  assert.equal(term.postType, 'Post Account');
});

test('a term that names nothing that exists is refused', async () => {
  const serviceCode = await newService(admin);
  const archived = await newService(admin);
  await admin.updateService({ service: { code: archived, archiveStatus: 1 } });
  const wrong = (data: Partial<TermData>) => make({ ...july, serviceCode, ...data });
  await refuses(wrong({ serviceCode: 'NONE' }), 'SERVICE_NOT_FOUND', { statusCode: 404 });
  await refuses(wrong({ serviceCode: archived }), 'SERVICE_ARCHIVED', { statusCode: 422 });
  await refuses(wrong({ batchCode: 'NONE' }), 'BATCH_NOT_FOUND', { field: 'data.batchCode' });
  await refuses(wrong({ billingPeriodID: 99 }), 'PERIOD_NOT_FOUND', { statusCode: 404 });
  for (const postType of ['Post Party', 'post subscription', 'Post Street', '']) {
    const { error } = await refuses(wrong({ postType }), 'POST_TYPE_MISMATCH', {
      field: 'data.postType',
      statusCode: 422,
    });
    assert.deepEqual(error.allowed, ['Post Subscription']);
    assert.equal(error.message, `postType must be 'Post Subscription' for service ${serviceCode}`);
  }
  await refuses(
    admin.makeTerm({ operation: 'now' as never, data: { ...july, serviceCode } }),
    'INVALID_OPERATION',
  );
  await refuses(wrong({ startDate: '31/02/2026' }), 'INVALID_DATE');
  await refuses(wrong({ label: ' ' }), 'REQUIRED_FIELD');
  assert.equal((await admin.getTerms({ serviceCode })).data.terms.length, 0);
});

test('dates that do not fit each other are refused', async () => {
  const serviceCode = await newService(admin);
  const wrong = (data: Partial<TermData>) =>
    refuses(make({ ...july, serviceCode, ...data }), 'TERM_DATES_INVALID', { statusCode: 422 });
  await wrong({ endDate: '30/06/2026' });
  await wrong({ dueDate: '30/06/2026' });
  await wrong({ endDate: '02/07/2027' });
  // 366 days, and one day.
  await newTerm(admin, { serviceCode, startDate: '01/07/2026', endDate: '01/07/2027' });
  await newTerm(admin, { serviceCode, startDate: '02/07/2027', endDate: '02/07/2027' });
});

test('regular terms of one batch and period share no day and no label', async () => {
  const serviceCode = await newService(admin, { batches: [{ batchCode: 'B01', label: 'North' }] });
  const other = await newService(admin);
  await make({ ...july, serviceCode });
  const overlapping = { serviceCode, label: 'Other' };
  for (const [startDate, endDate] of [
    ['31/07/2026', '31/07/2026'],
    ['01/06/2026', '01/07/2026'],
    ['01/01/2026', '31/12/2026'],
  ] as const) {
    await refuses(make({ ...overlapping, startDate, endDate }), 'TERM_OVERLAP', {
      statusCode: 409,
    });
  }
  const august = { startDate: '01/08/2026', endDate: '31/08/2026' };
  await refuses(make({ ...july, ...august, serviceCode }), 'DUPLICATE', { field: 'data.label' });
  // Another batch, period, context: all of their own.
  await make({ ...july, serviceCode, batchCode: 'B01' });
  await make({ ...july, serviceCode, billingPeriodID: 2, label: 'Two months' });
  await make({ ...july, serviceCode: other });
});

test('make-term warns of days that no term bills, before and after it', async () => {
  const serviceCode = await newService(admin);
  const first = await make({ ...july, serviceCode });
  assert.doesNotMatch(first.message, /TERM_GAP/);
  const august = { label: 'Aug', startDate: '01/08/2026', endDate: '31/08/2026' };
  assert.doesNotMatch((await make({ ...august, serviceCode })).message, /TERM_GAP/);
  const late = { label: 'Oct', startDate: '02/10/2026', endDate: '31/10/2026' };
  const gap = (days: string) => `Warning TERM_GAP: no term of the batch bills ${days}. \
The next term bills days that were left out, unless they get a term of their own first.`;
  const { message } = await make({ ...late, serviceCode });
  assert.ok(message.startsWith('Term Oct is open. '), message);
  assert.ok(message.endsWith(gap('01/09/2026 to 01/10/2026, next to Aug')), message);
  const between = { label: 'Sep', startDate: '01/09/2026', endDate: '30/09/2026' };
  assert.match(
    (await make({ ...between, serviceCode })).message,
    /no term of the batch bills 01\/10\/2026, next to Oct\./,
  );
  const termID = Number(first.headers.get('x-term-id'));
  const end = async (endDate: string) =>
    (await admin.updateTerm({ data: { termID, endDate } })).message;
  assert.equal(
    await end('29/07/2026'),
    `Term Jul-2026 changed. ${gap('30/07/2026 to 31/07/2026, next to Aug')}`,
  );
  assert.equal(await end('31/07/2026'), 'Term Jul-2026 changed');
});

test('OffCycle and Final terms name the subscriptions that they bill', async () => {
  const offer = await newOffer(admin, { meteredInputs: [] }, { componentRules: [] });
  const partyNumber = await newParty(admin);
  const number = await subscribe(admin, { ...offer, users: [{ partyNumber }] });
  const { serviceCode } = offer;
  const final = { ...july, serviceCode, type: 'Final' as const };
  await refuses(make(final), 'REQUIRED_FIELD', { field: 'data.connectionNumbers' });
  const wrong = await refuses(
    make({ ...final, connectionNumbers: [number, 'NONE'] }),
    'SUBSCRIPTION_NOT_FOUND',
  );
  assert.equal(wrong.error.details[0]?.field, 'data.connectionNumbers[1]');
  await make({ ...july, serviceCode });
  const termID = await newTerm(admin, { ...final, label: 'F', connectionNumbers: [number] });
  const { rows } = await scene.sql.query(
    `select s.subscription_number from term_subscriptions t
     join subscriptions s using (tenant_id, subscription_id) where term_id = $1`,
    [termID],
  );
  assert.deepEqual(rows, [{ subscription_number: number }]);
  assert.equal((await termOf(admin, termID)).type, 'Final');
});

test('terms are listed newest first, in pages, whole, and by every filter', async () => {
  const client = await scene.workspace('term-list');
  const [one, two] = [
    await newService(client, { batches: [{ batchCode: 'B01', label: 'North' }] }),
    await newService(client),
  ];
  const ids: number[] = [];
  for (const month of ['01', '02', '03']) {
    const days = { startDate: `01/${month}/2026`, endDate: `28/${month}/2026` };
    for (const serviceCode of [one, two]) {
      ids.push(await newTerm(client, { ...days, serviceCode, label: `${month} ${serviceCode}` }));
    }
  }
  const days = { startDate: '01/02/2026', endDate: '10/02/2026' };
  ids.push(await newTerm(client, { ...days, serviceCode: one, batchCode: 'B01', label: 'ten' }));
  const [jan1, jan2, feb1, feb2, mar1, mar2, ten] = ids;
  const listed = async (body: Parameters<TestClient['getTerms']>[0]) => {
    const { data, headers } = await client.getTerms(body);
    return [Number(headers.get('x-total-count')), data.terms.map((term) => term.termID)];
  };
  const newest = [mar2, mar1, ten, feb2, feb1, jan2, jan1];
  assert.deepEqual(await listed({}), [7, newest]);
  assert.deepEqual(await listed({ metaData: { sortOrder: 'asc' } }), [7, newest.toReversed()]);
  assert.deepEqual(await listed({ page: { pageNumber: 1, size: 3 } }), [7, [feb2, feb1, jan2]]);
  assert.deepEqual(await listed({ page: { pageNumber: 9, size: 3 } }), [7, []]);
  assert.deepEqual(await listed({ serviceCode: two }), [3, [mar2, feb2, jan2]]);
  assert.deepEqual(await listed({ termID: feb1 ?? 0 }), [1, [feb1]]);
  assert.deepEqual(await listed({ termID: 999 }), [0, []]);
  assert.deepEqual(await listed({ filters: { batchCode: 'B01' } }), [1, [ten]]);
  assert.deepEqual(await listed({ filters: { fromDate: '02/02/2026' } }), [2, [mar2, mar1]]);
  assert.deepEqual(await listed({ filters: { toDate: '31/01/2026' } }), [2, [jan2, jan1]]);
  assert.deepEqual(await listed({ metaData: { search: 'TEN' } }), [1, [ten]]);
  assert.deepEqual(await listed({ status: 'Posted' }), [0, []]);
  assert.deepEqual(await listed({ filters: { stage: 'Generated' } }), [0, []]);
  assert.deepEqual(await listed({ type: 'Final' }), [0, []]);
  assert.deepEqual(await listed({ billID: 1 }), [0, []]);
  await refuses(client.getTerms({ type: 'Weekly' as never }), 'INVALID_FILTER_VALUE');
  await refuses(client.getTerms({ status: 'open' as never }), 'INVALID_FILTER_VALUE');
});

test('an open term changes its label and dates; drafts that were made are then stale', async () => {
  const serviceCode = await newService(admin);
  await make({ ...july, serviceCode });
  const august = { startDate: '01/08/2026', endDate: '31/08/2026' };
  const termID = await newTerm(admin, { ...august, label: 'Aug', serviceCode });
  const change = (data: object) => admin.updateTerm({ data: { termID, ...data } });
  const before = await termOf(admin, termID);
  await change({ label: 'August', endDate: '30/08/2026', dueDate: '15/09/2026' });
  const after = await termOf(admin, termID);
  assert.deepEqual(
    [after.label, after.endDate, after.dueDate, after.stale],
    ['August', '30/08/2026', '15/09/2026', false],
  );
  assert.ok((after.ts ?? 0) > (before.ts ?? 0));
  await refuses(change({ label: 'Jul-2026' }), 'DUPLICATE');
  await refuses(change({ endDate: '31/07/2026' }), 'TERM_DATES_INVALID');
  await refuses(change({ dueDate: '31/07/2026' }), 'TERM_DATES_INVALID');
  const stale = await refuses(change({ label: 'x', ts: before.ts }), 'STALE_OBJECT', {
    field: 'data.ts',
  });
  assert.equal(stale.error.current, after.ts);
  await refuses(admin.updateTerm({ data: { termID: 999, label: 'x' } }), 'TERM_NOT_FOUND');
  assert.equal((await change({ label: 'August' })).message, 'Nothing to change');
  const september = { startDate: '31/08/2026', endDate: '30/09/2026' };
  await newTerm(admin, { ...september, serviceCode });
  await refuses(change({ endDate: '31/08/2026' }), 'TERM_OVERLAP', { field: 'data.endDate' });
  await scene.sql.query('update terms set run_number = 1 where term_id = $1', [termID]);
  await change({ label: 'Aug again' });
  assert.equal((await termOf(admin, termID)).stale, false);
  await change({ dueDate: '16/09/2026' });
  assert.equal((await termOf(admin, termID)).stale, true);
});

test('a posted term changes its due date only, a published one nothing', async () => {
  const serviceCode = await newService(admin);
  const termID = await newTerm(admin, { ...july, serviceCode });
  const become = (status: string) =>
    scene.sql.query('update terms set status = $1, stage = $1 where term_id = $2', [
      status,
      termID,
    ]);
  const change = (data: object) => admin.updateTerm({ data: { termID, ...data } });
  await become('Posted');
  await change({ dueDate: '09/09/2026' });
  assert.equal((await termOf(admin, termID)).dueDate, '09/09/2026');
  const refusal = await refuses(change({ label: 'x' }), 'INVALID_STATE', { statusCode: 409 });
  assert.deepEqual([refusal.error.current, refusal.error.allowed], ['Posted', ['Open']]);
  await refuses(change({ label: 'x', dueDate: '10/09/2026' }), 'INVALID_STATE');
  for (const status of ['Published', 'Cancelled']) {
    await become(status);
    await refuses(change({ dueDate: '11/09/2026' }), 'INVALID_STATE');
  }
});

test('a cancelled term frees its days and its label', async () => {
  const serviceCode = await newService(admin);
  const termID = await newTerm(admin, { ...july, serviceCode });
  const cancel = (id = termID) => admin.cancelTerm({ data: { termID: id, reason: 'a mistake' } });
  const done = await cancel();
  assert.equal(done.message, 'Term Jul-2026 is cancelled');
  const term = await termOf(admin, termID);
  assert.deepEqual(
    [term.status, term.stage, term.cancelReason],
    ['Cancelled', 'Cancelled', 'a mistake'],
  );
  await refuses(cancel(), 'INVALID_STATE');
  await refuses(cancel(999), 'TERM_NOT_FOUND');
  await make({ ...july, serviceCode });
});

test('a term without posted bills is cancelled at any stage, and only once', async () => {
  const serviceCode = await newService(admin);
  const termID = await newTerm(admin, { ...july, serviceCode });
  for (const [status, stage] of [
    ['Posted', 'Posted'],
    ['Published', 'Published'],
  ]) {
    await scene.sql.query('update terms set status = $1, stage = $2 where term_id = $3', [
      status,
      stage,
      termID,
    ]);
    await admin.cancelTerm({ data: { termID, reason: 'x' } });
    assert.equal((await termOf(admin, termID)).status, 'Cancelled');
    await refuses(admin.cancelTerm({ data: { termID, reason: 'x' } }), 'INVALID_STATE');
  }
});

test('a context with an open term keeps its post type', async () => {
  const serviceCode = await newService(admin);
  await newTerm(admin, { ...july, serviceCode });
  const change = admin.updateService({ service: { code: serviceCode, postType: 'Post Party' } });
  await refuses(change, 'SERVICE_IN_USE');
});

test('chosen subscriptions must be in the batch of the term, and a Regular term takes none', async () => {
  const offer = await newOffer(admin, { batches: [{ batchCode: 'B01', label: 'North' }] });
  const { serviceCode } = offer;
  const connection = {
    ...offer,
    batchCode: 'B01',
    users: [{ partyNumber: await newParty(admin), connectionGroupLabel: 'House' }],
  };
  const connectionNumbers = [await subscribe(admin, connection)];
  const sent = { ...july, serviceCode, connectionNumbers };
  const elsewhere = await refuses(make({ ...sent, type: 'OffCycle' }), 'SUBSCRIPTION_NOT_IN_TERM');
  assert.match(elsewhere.message, /batch B01/);
  for (const type of ['Regular', null] as const) {
    const field = 'data.connectionNumbers';
    await refuses(make({ ...sent, batchCode: 'B01', type }), 'UNKNOWN_FIELD', { field });
  }
  await make({ ...sent, batchCode: 'B01', type: 'OffCycle' });
  assert.equal((await admin.getTerms({ serviceCode })).data.terms.length, 1);
});

test('a term ends while there are years left to read meters and to pay in', async () => {
  const serviceCode = await newService(admin);
  const last = { label: 'last', startDate: '01/12/9999', endDate: '31/12/9999' };
  await refuses(make({ ...last, serviceCode }), 'TERM_DATES_INVALID', { field: 'data.endDate' });
});
