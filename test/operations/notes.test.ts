// Notes on parties, details that customers change themselves, and many bills held at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
scene.clock.begin(Temporal.Instant.from('2026-02-03T06:00:00Z'));
const admin = await scene.workspace('notes');
const asma = await newParty(admin, 'Asma');
const bilal = await newParty(admin, 'Bilal');
const customer = await scene.loginAs(admin, ['Customer'], { partyNumber: asma });

test('staff notes and reported problems are listed, and a customer sees its own alone', async () => {
  await admin.makeNotes({
    notes: [
      { partyNumber: asma, text: ' Calls back on Monday ' },
      { partyNumber: bilal, kind: 'Problem', text: 'Meter is loud' },
    ],
  });
  await customer.makeNotes({ notes: [{ kind: 'Note', text: 'No supply since noon' }] });
  await customer.makeNotes({ notes: [{ partyNumber: asma, text: 'Still none' }] });
  const { notes } = (await admin.getNotes({ partyNumber: asma })).data;
  assert.deepEqual(
    notes.map(({ kind, text, fromCustomer }) => [kind, text, fromCustomer]),
    [
      ['Problem', 'Still none', true],
      ['Problem', 'No supply since noon', true],
      ['Note', 'Calls back on Monday', false],
    ],
  );
  const problems = await admin.getNotes({ kind: 'Problem', page: { pageNumber: 0, size: 2 } });
  assert.deepEqual(
    problems.data.notes.map(({ partyNumber }) => partyNumber),
    [asma, asma],
  );
  assert.equal(problems.headers.get('x-total-count'), '3');
  assert.deepEqual((await admin.getNotes({ partyNumber: 999_999 })).data.notes, []);
  const own = (await customer.getNotes({})).data.notes;
  assert.deepEqual(
    own.map(({ text }) => text),
    ['Still none', 'No supply since noon'],
  );
  assert.deepEqual((await customer.getNotes({ partyNumber: bilal })).data.notes, []);
  const about = { partyNumber: bilal, text: 'He is loud' };
  await refuses(customer.makeNotes({ notes: [about] }), 'PARTY_NOT_FOUND');
  await refuses(admin.makeNotes({ notes: [{ text: 'About it' }] }), 'REQUIRED_FIELD');
  const rows = [{ text: 'x' }, { partyNumber: 999_999, text: 'x' }];
  await refuses(admin.makeNotes({ notes: rows }), 'ROWS_REJECTED');
});

test('a customer changes its contacts, language and channel, and nothing else', async () => {
  const before = (await customer.getUsers({ partyNumber: asma })).data.user;
  const contacts = [{ contactType: 'mobile', contactValue: '+92 300 1234567' }];
  const data = { contacts, language: 'ur', deliveryChannel: 'Print' as const, ts: before.ts };
  const sent = { ...data, name: 'Other', email: 'other@example.com' };
  const { headers } = await customer.updateOwnDetails({ data: sent });
  assert.equal(headers.get('x-ignored-fields'), 'data.name,data.email');
  const { user } = (await customer.getUsers({ partyNumber: asma })).data;
  assert.deepEqual(
    [user.contacts, user.language, user.deliveryChannels, user.name],
    [[{ contactType: 'Mobile', contactValue: '+92 300 1234567' }], 'ur', ['Print'], 'Asma'],
  );
  await refuses(customer.updateOwnDetails({ data }), 'STALE_OBJECT');
  const wrong = [{ contactType: 'Email', contactValue: 'nowhere' }];
  await refuses(customer.updateOwnDetails({ data: { contacts: wrong } }), 'INVALID_EMAIL');
  await refuses(admin.updateOwnDetails({ data: { language: 'en' } }), 'PARTY_NOT_FOUND');
});

test('hold-bills holds and releases all drafts or none', async () => {
  const offer = await newOffer(
    admin,
    {
      meteredInputs: [],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
      holdRules: [],
    } as never,
    { componentRules: [{ component: 'fee', formula: '100' }], usageData: [] } as never,
  );
  for (const partyNumber of [asma, bilal]) {
    const connection = { ...offer, connectionDate: '01012026', users: [{ partyNumber }] };
    await subscribe(admin, connection as never, { batchUpload: true });
  }
  const { serviceCode } = offer;
  const termID = await newTerm(admin, { serviceCode, dueDate: '31/12/2026', label: 'Held' });
  await admin.generateBills(schedule(termID));
  const bills = async () => (await admin.getBills({ termID })).data.bills;
  const billIDs = (await bills()).map(({ billID }) => billID ?? 0);
  const statuses = async () => (await bills()).map(({ status }) => status);
  const data = { billIDs, hold: true, reason: 'Prices to be checked' };
  const unknown = { ...data, billIDs: [...billIDs, 9_999] };
  await refuses(admin.holdBills({ data: unknown }), 'BILL_NOT_FOUND');
  assert.deepEqual(await statuses(), ['Draft', 'Draft']);
  const { message } = await admin.holdBills({ data });
  assert.equal(message, '2 bills put on hold');
  assert.deepEqual(await statuses(), ['Hold', 'Hold']);
  const twice = { ...data, billIDs: [...billIDs, billIDs[0] ?? 0] };
  await refuses(admin.holdBills({ data: twice }), 'DUPLICATE_ROW');
  const mixed = { ...data, billIDs: [9_999, billIDs[0] ?? 0, billIDs[0] ?? 0] };
  await refuses(admin.holdBills({ data: mixed }), 'ROWS_REJECTED');
  await refuses(admin.holdBills({ data: { ...data, reason: ' ' } }), 'REQUIRED_FIELD');
  await admin.holdBills({ data: { ...data, hold: false, reason: 'Checked' } });
  assert.deepEqual(await statuses(), ['Draft', 'Draft']);
  await admin.postBills(schedule(termID));
  await refuses(admin.holdBills({ data }), 'INVALID_STATE');
});
