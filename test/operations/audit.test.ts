import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { operations } from '../../src/operations/catalogue.ts';
import { isRetrieve } from '../../src/operations/operation.ts';
import { auditedOutside } from '../support/audited-outside.ts';
import { auditedOwn } from '../support/audited-own.ts';
import { auditedBooks, auditedDesks, auditedPayments } from '../support/audited-payments.ts';
import { refuses } from '../support/client.ts';
import { smallService, smallTariff } from '../support/pricing.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { auditedWaiver } from '../support/surcharges.ts';

const scene = await openScene();
scene.runJobs();
const admin = await scene.workspace('audit', { sandbox: true });
const tenantId = await scene.enter(admin);

type Row = {
  request_id: string;
  actor: string;
  actor_kind: string;
  address: string;
  operation: string;
  subject: string;
  subject_id: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  at: Date;
};

async function entriesOf(headers: Headers): Promise<Row[]> {
  const { rows } = await scene.sql.query<Row>(
    'select * from audit_entries where request_id = $1 order by position',
    [headers.get('x-request-id')],
  );
  return rows;
}

const machineSecret = 'a machine secret of more than thirty-two';
let second: Awaited<ReturnType<typeof admin.login>>['data'];

const connectionNumber = 'ELEC-00000001';
const tomorrow = Temporal.Now.plainDateTimeISO('Asia/Karachi')
  .add({ days: 1 })
  .toString({ smallestUnit: 'second' });

const metered = 'ELEC-00000002';
const [year, month, day] = Temporal.Now.plainDateISO('Asia/Karachi').toString().split('-');
const today = `${day}/${month}/${year}`;
const billed = { operation: 'schedule' as const, data: { termID: 2, sheduleTime: null } };

async function firstBill(): Promise<number> {
  return (await admin.getBills({ termID: 2 })).data.bills[0]?.billID ?? 0;
}

function upload(list: string, sheduleTime: string | null = null) {
  const data = JSON.stringify({ termID: 1, [list]: [] });
  return { operation: 'schedule' as const, data: { data, sheduleTime } };
}

/** One call of every operation that changes something, and its expected audit entry. */
const changes: Record<
  string,
  {
    call: () => Promise<{ headers: Headers }>;
    subject: string;
    actor?: string;
    actorKind?: string;
    before?: object | null;
    after?: object;
  }
> = {
  makeUsers: {
    call: () => admin.makeUsers({ userType: 'vendor', users: [{ name: 'A' }, { name: 'B' }] }),
    subject: 'party',
    before: null,
    after: { name: 'A', partyNumber: 100_001, userType: 'Vendor' },
  },
  updateUser: {
    call: () =>
      admin.updateUser({
        user: { partyID: 1, name: 'C', connectionGroups: [{ connectionGroupLabel: 'L' }] },
      }),
    subject: 'party',
    before: { name: 'A', connectionGroups: [] },
    after: { name: 'C', connectionGroups: ['L'] },
  },
  createService: {
    call: () => admin.createService({ service: smallService }),
    subject: 'pricing context',
    before: null,
    after: { serviceCode: 'ELEC', version: 1 },
  },
  updateService: {
    call: () => admin.updateService({ service: { code: 'ELEC', dueDateOffset: 7 } }),
    subject: 'pricing context',
    before: { dueDateOffset: 0, version: 1 },
    after: { dueDateOffset: 7, version: 2 },
  },
  createTariff: {
    call: () => admin.createTariff({ tariff: smallTariff }),
    subject: 'plan',
    before: null,
    after: { tariffCode: 'DOM', version: 1 },
  },
  updateTariff: {
    call: () => admin.updateTariff({ tariff: { serviceCode: 'ELEC', code: 'DOM', name: 'Homes' } }),
    subject: 'plan',
    before: { name: 'Domestic', version: 1 },
    after: { name: 'Homes', version: 2 },
  },
  makeConnections: {
    call: () => {
      const offer = { serviceCode: 'ELEC', tariffCode: 'DOM', postType: 'Post Subscription' };
      return admin.makeConnections({ connection: { ...offer, users: [{ partyID: 1 }] } });
    },
    subject: 'subscription',
    before: null,
    after: { connectionNumber: 'ELEC-00000001', tariffCode: 'DOM', partyID: 1, status: 'Active' },
  },
  updateConnection: {
    call: () => admin.updateConnection({ data: { connectionNumber, paymentMethod: 'Bank' } }),
    subject: 'subscription',
    before: { paymentMethod: null },
    after: { paymentMethod: 'Bank' },
  },
  changeTariff: {
    call: async () => {
      const second = { ...smallTariff, code: 'DOM-2', uniqueLabel: 'Second' };
      await admin.createTariff({ tariff: second });
      return admin.changeTariff({ data: { connectionNumber, tariffCode: 'DOM-2' } });
    },
    subject: 'subscription',
    before: { planID: 1 },
    after: { planID: 2 },
  },
  transferConnection: {
    call: () => admin.transferConnection({ data: { connectionNumber, toPartyID: 2 } }),
    subject: 'subscription',
    before: { partyID: 1, transfers: [] },
    after: { partyID: 2 },
  },
  disconnectConnection: {
    call: () => admin.disconnectConnection({ data: { connectionNumber } }),
    subject: 'subscription',
    before: { status: 'Active' },
    after: { status: 'Disconnected' },
  },
  reconnectConnection: {
    call: () => admin.reconnectConnection({ data: { connectionNumber } }),
    subject: 'subscription',
    before: { status: 'Disconnected' },
    after: { status: 'Active' },
  },
  closeConnection: {
    call: async () => {
      await admin.disconnectConnection({ data: { connectionNumber } });
      return admin.closeConnection({ data: { connectionNumber } });
    },
    subject: 'subscription',
    before: { status: 'Disconnected' },
    after: { status: 'Closed' },
  },
  makePeriods: {
    call: () =>
      admin.makePeriods({
        periods: [{ name: 'Ten days', unit: 'Day', count: 10, months: '0.33' }],
      }),
    subject: 'billing period',
    before: null,
    after: { name: 'Ten days' },
  },
  makeTemplates: {
    call: () => admin.makeTemplates({ templates: [{ type: 'SMS', name: 'Short', body: 'x' }] }),
    subject: 'template',
    before: null,
    after: { name: 'Short' },
  },
  updateTemplate: {
    call: () => admin.updateTemplate({ data: { templateID: 3, body: 'y' } }),
    subject: 'template',
    before: { body: 'x', version: 1 },
    after: { body: 'y', version: 2 },
  },
  addBillingGroup: {
    call: () => admin.addBillingGroup({ name: 'North' }),
    subject: 'billing group',
    before: null,
    after: { name: 'North' },
  },
  assignBillingAccounts: {
    call: () =>
      admin.assignBillingAccounts({ data: { billingGroupID: 1, connectionGroupIDs: [1] } }),
    subject: 'billing account',
    before: { billingGroupID: null },
    after: { billingGroupID: 1 },
  },
  removeBillingAccounts: {
    call: () =>
      admin.removeBillingAccounts({ data: { billingGroupID: 1, connectionGroupIDs: [1] } }),
    subject: 'billing account',
    before: { billingGroupID: 1 },
    after: { billingGroupID: null },
  },
  makeMeterTypes: {
    call: () => {
      const registers = [{ register: 'R', unit: 'U', kind: 'Demand' as const, digits: 4 }];
      return admin.makeMeterTypes({ meterTypes: [{ name: 'Steam', utility: 'Heat', registers }] });
    },
    subject: 'meter type',
    before: null,
    after: { name: 'Steam', utility: 'Heat', prepaid: false },
  },
  makeMeters: {
    call: () => {
      const facts = { brand: 'Itron', meterType: 6, purchaseDate: '15/01/2024', mf: 2 };
      return admin.makeMeters({ meters: [{ number: 7, ...facts }] });
    },
    subject: 'meter',
    before: null,
    after: { number: 7, brand: 'Itron', meterType: 'Steam', purchaseDate: '15/01/2024', mf: 2 },
  },
  updateMeter: {
    call: () => admin.updateMeter({ data: { number: 7, mf: 3, meterHealth: 'lost' } }),
    subject: 'meter',
    before: { brand: 'Itron', mf: 2, meterHealth: 'ok' },
    after: { brand: 'Itron', mf: 3, meterHealth: 'lost' },
  },
  makeTerm: {
    call: () => {
      const days = { startDate: '01/01/2026', endDate: '31/01/2026', dueDate: '15/02/2026' };
      const data = { serviceCode: 'ELEC', label: 'Jan', ...days };
      return admin.makeTerm({ operation: 'schedule', data });
    },
    subject: 'term',
    before: null,
    after: { label: 'Jan', serviceCode: 'ELEC', batchCode: 'DEFAULT', endDate: '31/01/2026' },
  },
  updateTerm: {
    call: () => admin.updateTerm({ data: { termID: 1, dueDate: '20/02/2026' } }),
    subject: 'term',
    before: { label: 'Jan', dueDate: '15/02/2026' },
    after: { label: 'Jan', dueDate: '20/02/2026' },
  },
  uploadMeterReadings: {
    call: () => admin.uploadMeterReadings(upload('readings')),
    subject: 'job',
    before: null,
    after: { operation: 'upload-meter-readings', termID: 1, readings: 0 },
  },
  postMeterReadings: {
    call: () =>
      admin.postMeterReadings({ operation: 'schedule', data: { termID: 1, reading: 'current' } }),
    subject: 'job',
    before: null,
    after: { operation: 'post-meter-readings', termID: 1, reading: 'current' },
  },
  unpostMeterReadings: {
    call: () => admin.unpostMeterReadings({ data: { termID: 1 } }),
    subject: 'job',
    before: null,
    after: { operation: 'unpost-meter-readings', termID: 1 },
  },
  postManualComponentValues: {
    call: () => admin.postManualComponentValues(upload('compsData')),
    subject: 'job',
    before: null,
    after: { operation: 'post-manual-component-values', termID: 1, values: 0 },
  },
  uploadUsage: {
    call: () => admin.uploadUsage(upload('usage', tomorrow)),
    subject: 'job',
    before: null,
    after: { operation: 'upload-usage', termID: 1, dueAt: tomorrow.replace('T', ' ') },
  },
  cancelJob: {
    call: async () => {
      const { data } = await admin.getJobs({ status: 'Scheduled' });
      return admin.cancelJob({ data: { jobID: data.jobs[0]?.jobID ?? 0 } });
    },
    subject: 'job',
    before: { status: 'Scheduled' },
    after: { status: 'Cancelled' },
  },
  cancelTerm: {
    call: () => admin.cancelTerm({ data: { termID: 1, reason: 'over' } }),
    subject: 'job',
    before: null,
    after: { operation: 'cancel-term', termID: 1, reason: 'over' },
  },
  assignMeter: {
    call: async () => {
      const offer = { serviceCode: 'ELEC', tariffCode: 'DOM', postType: 'Post Subscription' };
      await admin.makeConnections({ connection: { ...offer, users: [{ partyID: 1 }] } });
      const facts = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
      await admin.makeMeters({ meters: [8, 9].map((number) => ({ number, ...facts })) });
      const initialReadings = [{ register: 'kWh', value: '5' }];
      const data = { connectionNumber: metered, number: 8, installDate: today, initialReadings };
      return admin.assignMeter({ data });
    },
    subject: 'meter',
    before: { status: 'InActive', connectionNumber: null },
    after: { status: 'Active', connectionNumber: metered, meteredInputs: ['energy'] },
  },
  makeReadings: {
    call: () =>
      admin.makeReadings({
        readings: [{ number: 8, value: '6', readingDate: today, readingType: 'Check' }],
      }),
    subject: 'reading',
    before: null,
    after: { readings: 1 },
  },
  reviewReading: {
    call: async () => {
      const { data } = await admin.getReadings({ number: 8 });
      const readingID = data.readings.find((one) => one.readingType === 'Check')?.readingID ?? 0;
      return admin.reviewReading({ data: { readingID, decision: 'Reject', remark: 'Not ours' } });
    },
    subject: 'reading',
    before: { status: 'Accepted' },
    after: { status: 'Rejected', remark: 'Not ours' },
  },
  replaceMeter: {
    call: () =>
      admin.replaceMeter({
        data: {
          connectionNumber: metered,
          oldNumber: 8,
          newNumber: 9,
          replaceDate: today,
          finalReadings: [{ register: 'kWh', value: '6' }],
          initialReadings: [{ register: 'kWh', value: '0' }],
          reason: 'Old',
        },
      }),
    subject: 'meter',
    before: { status: 'Active', connectionNumber: metered },
    after: { status: 'InActive', connectionNumber: null, reason: 'Old' },
  },
  removeMeter: {
    call: () => {
      const finalReadings = [{ register: 'kWh', value: '0' }];
      const data = { connectionNumber: metered, number: 9, removeDate: today, finalReadings };
      return admin.removeMeter({ data: { ...data, reason: 'Gone' } });
    },
    subject: 'meter',
    before: { status: 'Active', connectionNumber: metered },
    after: { status: 'InActive', reason: 'Gone' },
  },
  importData: {
    call: () =>
      admin.importData({
        kind: 'Meters',
        content: 'number,brand,meterType,purchaseDate,mf\r\n70,Itron,Water,15/01/2024,1\r\n',
        fileName: 'meters.csv',
      }),
    subject: 'import',
    before: null,
    after: { kind: 'Meters', rows: 1, fileName: 'meters.csv' },
  },
  generateBills: {
    call: async () => {
      const days = { startDate: today, endDate: today, dueDate: today };
      const data = { serviceCode: 'ELEC', label: 'Today', ...days };
      await admin.makeTerm({ operation: 'schedule', data });
      const posting = { termID: 2, reading: 'previous' };
      await admin.postMeterReadings({ operation: 'schedule', data: posting });
      return admin.generateBills(billed);
    },
    subject: 'job',
    before: null,
    after: { operation: 'generate-bills', termID: 2 },
  },
  ...auditedOwn(scene, admin, firstBill),
  holdBill: {
    call: async () => {
      const billID = await firstBill();
      await admin.holdBill({ data: { billID, hold: true, reason: 'Look' } });
      return admin.holdBill({ data: { billID, hold: false, reason: 'Looked' } });
    },
    subject: 'bill',
    before: { hold: true, reason: 'Look' },
    after: { hold: false },
  },
  postBills: {
    call: () => admin.postBills({ ...billed, data: { ...billed.data, skipErrors: true } }),
    subject: 'job',
    before: null,
    after: { operation: 'post-bills', termID: 2, skipErrors: true },
  },
  unpostBills: {
    call: () => admin.unpostBills({ operation: 'schedule', data: { termID: 2, reason: 'Wrong' } }),
    subject: 'job',
    before: null,
    after: { operation: 'unpost-bills', termID: 2, reason: 'Wrong' },
  },
  publishBills: {
    call: async () => {
      await admin.postBills({ ...billed, data: { ...billed.data, skipErrors: true } });
      return admin.publishBills(billed);
    },
    subject: 'job',
    before: null,
    after: { operation: 'publish-bills', termID: 2 },
  },
  distributeBills: {
    call: () => admin.distributeBills({ ...billed, billId: null }),
    subject: 'job',
    before: null,
    after: { operation: 'distribute-bills', termID: 2 },
  },
  resolveDeliveries: {
    call: async () => {
      await scene.sql.query("update deliveries set status = 'Uncertain', channel = 'Email'");
      const { data } = await admin.getDeliveries({ termID: 2 });
      const deliveryIDs = [data.deliveries[0]?.deliveryID ?? 0];
      const resolved = { termID: 2, deliveryIDs, resolution: 'Sent' as const, reason: 'Seen' };
      return admin.resolveDeliveries({ data: resolved });
    },
    subject: 'delivery',
    before: { status: 'Uncertain' },
    after: { status: 'Sent' },
  },
  ...auditedPayments(admin),
  ...auditedOutside(scene, admin),
  ...auditedDesks(admin, () => scene.loginAs(admin, ['Billing Manager'])),
  ...auditedBooks(admin),
  ...auditedWaiver(scene, admin, firstBill),
  cancelBill: {
    call: async () => {
      return admin.cancelBill({ data: { billID: await firstBill(), reason: 'Misread' } });
    },
    subject: 'job',
    before: null,
    after: { operation: 'cancel-bill', termID: 2, reason: 'Misread', rebill: false },
  },
  billConnection: {
    call: async () => {
      const offer = { serviceCode: 'ELEC', tariffCode: 'DOM', postType: 'Post Subscription' };
      const gone = { connectionNumber: 'GONE-1', connectionDate: '01012024' };
      const users = [{ partyID: 1 }];
      await admin.makeConnections({ connection: { ...offer, ...gone, users }, batchUpload: true });
      const data = { connectionNumber: 'GONE-1' };
      await admin.disconnectConnection({ data: { ...data, effectiveDate: '11/01/2024' } });
      return admin.billConnection({ data });
    },
    subject: 'job',
    before: null,
    after: {
      operation: 'bill-connection',
      connectionNumber: 'GONE-1',
      term: 'Final Jan-2024',
      isNew: true,
    },
  },
  makeLogins: {
    call: () =>
      admin.makeLogins({
        logins: [
          {
            username: 'Ops',
            name: 'O',
            password: adminPassword,
            roles: ['Auditor'],
            partyNumber: 100_001,
          },
        ],
      }),
    subject: 'login',
    before: null,
    after: { username: 'ops', roles: ['Auditor'], partyId: 1 },
  },
  updateLogin: {
    call: () =>
      admin.updateLogin({
        data: { username: 'ops', roles: ['Cashier'], password: 'another long password' },
      }),
    subject: 'login',
    before: { roles: ['Auditor'], status: 'ACTIVE' },
    after: { roles: ['Cashier'], status: 'ACTIVE', passwordChanged: true },
  },
  makeClients: {
    call: () =>
      admin.makeClients({
        clients: [
          {
            clientID: 'gateway',
            clientSecret: machineSecret,
            roles: ['Cashier'],
            expiresAt: '2030-01-01T05:00:00',
            allowedAddresses: ['127.0.0.1'],
          },
        ],
      }),
    subject: 'client',
    before: null,
    after: {
      clientId: 'gateway',
      roles: ['Cashier'],
      expiresAt: '2030-01-01T00:00:00Z',
      allowedAddresses: ['127.0.0.1'],
    },
  },
  updateClient: {
    call: () =>
      admin.updateClient({
        data: { clientID: 'gateway', expiresAt: null, allowedAddresses: [], roles: ['Auditor'] },
      }),
    subject: 'client',
    before: {
      roles: ['Cashier'],
      status: 'ACTIVE',
      expiresAt: '2030-01-01T00:00:00Z',
      allowedAddresses: ['127.0.0.1'],
    },
    after: { roles: ['Auditor'], status: 'ACTIVE', expiresAt: null, allowedAddresses: [] },
  },
  login: {
    call: async () => {
      const reply = await scene
        .visitor('audit')
        .login({ username: 'admin@audit.example', password: adminPassword });
      second = reply.data;
      return reply;
    },
    subject: 'login',
    actor: 'admin@audit.example',
    before: null,
    after: { event: 'login' },
  },
  refreshToken: {
    call: async () => {
      const reply = await scene
        .visitor('audit')
        .refreshToken({ refreshToken: second.refreshToken });
      second = reply.data;
      return reply;
    },
    subject: 'session',
    actor: 'admin@audit.example',
    before: null,
    after: { event: 'renewed' },
  },
  logout: {
    call: () => scene.visitor('audit').logout({}, { token: second.accessToken }),
    subject: 'session',
    after: { event: 'logout' },
  },
  updateSettings: {
    call: () => admin.updateSettings({ data: { name: 'Renamed' } }),
    subject: 'settings',
    before: { name: 'audit' },
    after: { name: 'Renamed' },
  },
  moveClock: {
    call: () => admin.moveClock({ data: { to: '2035-01-01T00:00:00' } }),
    subject: 'clock',
    after: { now: '2035-01-01 00:00:00' },
  },
};

test('every operation of the catalogue that changes something is tried here', () => {
  const changing = operations.filter(([, one]) => !isRetrieve(one)).map(([name]) => name);
  assert.deepEqual(Object.keys(changes).sort(), [...changing].sort());
});

for (const [name, change] of Object.entries(changes)) {
  test(`${name} writes who, when, from where, what, before and after`, async () => {
    const operation = operations.find(([one]) => one === name)?.[1];
    const { headers } = await change.call();
    const [entry] = await entriesOf(headers);
    assert.ok(entry, 'no audit entry');
    assert.equal(entry.actor, change.actor ?? 'admin@audit.example');
    assert.equal(entry.actor_kind, 'Login');
    assert.equal(entry.address, '127.0.0.1');
    assert.equal(entry.operation, `${operation?.path} ${operation?.action}`);
    assert.equal(entry.subject, change.subject);
    assert.ok(Math.abs(entry.at.getTime() - Date.now()) < 60_000);
    for (const when of ['before', 'after'] as const) {
      const wanted = change[when];
      if (wanted === undefined) continue;
      if (wanted === null) assert.equal(entry[when], null);
      else assert.deepEqual({ ...entry[when], ...wanted }, entry[when], when);
    }
    if (entry.before && entry.after && change.subject !== 'login') {
      assert.deepEqual(Object.keys(entry.before).sort(), Object.keys(entry.after).sort());
    }
  });
}

test('the effect of a step on its term or bill is recorded under the login that requested it', async () => {
  const trail = async (subject: string, subjectID: number) => {
    const { entries } = (await admin.getAudit({ subject, subjectID: String(subjectID) })).data;
    return entries.toReversed().flatMap((entry) => {
      const after = entry.after as Record<string, unknown>;
      if (!('jobID' in after)) return [];
      const who = [entry.actor, entry.actorType, entry.address];
      assert.deepEqual(who, ['admin@audit.example', 'Login', '127.0.0.1']);
      const before = entry.before as Record<string, unknown>;
      const [path] = entry.operation.split(' ');
      const was = [before.status, before.stage];
      return [[path, was, [after.status, after.stage, after.reason]]];
    });
  };
  const [terms, bills] = ['/billing/terms/', '/billing/bills/'];
  assert.deepEqual(await trail('term', 1), [
    [`${terms}cancel-term`, ['Open', 'ComponentsPosted'], ['Cancelled', 'Cancelled', 'over']],
  ]);
  const posted = [`${bills}post-bills`, ['Open', 'Posting'], ['Posted', 'Posted', undefined]];
  assert.deepEqual(await trail('term', 2), [
    posted,
    [`${bills}unpost-bills`, ['Posted', 'Posted'], ['Open', 'Generated', 'Wrong']],
    posted,
    [`${bills}publish-bills`, ['Posted', 'Publishing'], ['Published', 'Published', undefined]],
  ]);
  const { creditNotes } = (await admin.getCreditNotes({})).data;
  const cancelled = creditNotes.find((one) => one.cancelsBill);
  assert.deepEqual(await trail('bill', cancelled?.billID ?? 0), [
    [`${bills}cancel-bill`, ['Published', undefined], ['Cancelled', undefined, 'Misread']],
  ]);
});

test('a batch writes one entry for each row, under the request id of the call', async () => {
  const users = Array.from({ length: 250 }, (_, i) => ({ name: `Row ${i}` }));
  const { headers } = await admin.makeUsers({ userType: 'customer', users });
  const entries = await entriesOf(headers);
  assert.deepEqual(
    entries.map((entry) => entry.after?.name),
    users.map((user) => user.name),
  );
});

test('a machine client is named as such', async () => {
  const visitor = scene.visitor('audit');
  const login = await visitor.login({ clientID: 'gateway', clientSecret: machineSecret });
  const [entry] = await entriesOf(login.headers);
  assert.deepEqual([entry?.actor, entry?.actor_kind], ['gateway', 'Client']);
  await admin.updateClient({ data: { clientID: 'gateway', roles: ['Billing Operator'] } });
  visitor.useToken(login.data.accessToken);
  const made = await visitor.makeUsers({ userType: 'customer', users: [{ name: 'M' }] });
  const [second] = await entriesOf(made.headers);
  assert.deepEqual([second?.actor, second?.actor_kind], ['gateway', 'Client']);
});

test('fields named like a secret are blanked in the audit trail at any depth', async () => {
  const letterhead = { smtp: [{ password: 'not for the trail', host: 'mail.example' }] };
  const { headers } = await admin.updateSettings({ data: { letterhead } });
  const [entry] = await entriesOf(headers);
  const blanked = { smtp: [{ password: '[secret]', host: 'mail.example' }] };
  assert.deepEqual(entry?.after?.letterhead, blanked);
  assert.deepEqual((await admin.getSettings()).data.settings.letterhead, letterhead);
});

test('a refused call and a retrieval write nothing', async () => {
  const count = async () =>
    (await scene.sql.query('select count(*)::int as count from audit_entries')).rows[0].count;
  const before = await count();
  await refuses(admin.addBillingGroup({ name: 'north' }), 'DUPLICATE');
  await refuses(admin.updateUser({ user: { partyID: 1, ts: 1 } }), 'STALE_OBJECT');
  await admin.listUsers();
  await admin.getAudit();
  assert.equal(await count(), before);
});

test('an audit entry cannot be changed or deleted, neither by the server nor by the owner of the tables', async () => {
  const { rows } = await scene.sql.query('select count(*)::int as count from audit_entries');
  const statements = [
    `update audit_entries set actor = 'another' where tenant_id = ${tenantId}`,
    `delete from audit_entries where tenant_id = ${tenantId}`,
    'truncate audit_entries',
    'truncate tenants cascade',
  ];
  const api = new pg.Client({ ...scene.cluster.api, database: scene.databaseName });
  await api.connect();
  try {
    await api.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
    for (const client of [scene.sql, api]) {
      for (const statement of statements) {
        await assert.rejects(client.query(statement), { code: '42501' }, statement);
      }
    }
  } finally {
    await api.end();
  }
  const after = await scene.sql.query('select count(*)::int as count from audit_entries');
  assert.equal(after.rows[0].count, rows[0].count);
});

test('get-audit shows entries newest first, in pages that add up to the whole', async () => {
  const whole = (await admin.getAudit()).data.entries;
  const ids = whole.map((entry) => `${entry.requestID}/${entry.subjectID}`);
  assert.ok(ids.length > 250);
  assert.deepEqual([...whole].sort((a, b) => (a.requestID < b.requestID ? 1 : -1))[0], whole[0]);
  const paged: string[] = [];
  for (let pageNumber = 0; pageNumber * 60 < ids.length; pageNumber += 1) {
    const { data, headers } = await admin.getAudit({ page: { pageNumber, size: 60 } });
    assert.equal(headers.get('x-total-count'), String(ids.length));
    paged.push(...data.entries.map((entry) => `${entry.requestID}/${entry.subjectID}`));
  }
  assert.deepEqual(paged, ids);
  const { data } = await admin.getAudit({ page: { pageNumber: 99, size: 60 } });
  assert.deepEqual(data.entries, []);
});

test('get-audit is narrowed by subject, id, actor and days of the workspace', async () => {
  const bySubject = (await admin.getAudit({ subject: 'party', subjectID: '1' })).data.entries;
  assert.deepEqual(
    bySubject.map((entry) => entry.operation.split(' ')[0]),
    ['/billing/users/update-user', '/billing/users/make-users'],
  );
  const byActor = (await admin.getAudit({ actor: 'gateway' })).data.entries;
  assert.equal(byActor.length, 2);
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const format = (day: Temporal.PlainDate) =>
    [String(day.day).padStart(2, '0'), String(day.month).padStart(2, '0'), day.year].join('/');
  const on = async (fromDate: string, toDate: string) =>
    (await admin.getAudit({ actor: 'gateway', fromDate, toDate })).data.entries.length;
  const yesterday = format(today.subtract({ days: 1 }));
  const tomorrow = format(today.add({ days: 1 }));
  assert.equal(await on(yesterday, tomorrow), 2);
  assert.equal((await on(format(today), format(today))) + (await on(yesterday, yesterday)), 2);
  assert.equal(await on('01/01/2000', '31/12/2000'), 0);
  assert.equal(await on(tomorrow, yesterday), 0);
});

test('the trail is read by auditors and administrators, and holds no secret', async () => {
  const auditor = await scene.loginAs(admin, ['Auditor']);
  const { data } = await auditor.getAudit();
  const text = JSON.stringify(data);
  for (const secret of [adminPassword, machineSecret, 'another long password']) {
    assert.ok(!text.includes(secret));
  }
  assert.ok(!text.includes(second.accessToken) && !text.includes(second.refreshToken));
  assert.doesNotMatch(text, /argon2/);
  const manager = await scene.loginAs(admin, ['Billing Manager']);
  await refuses(manager.getAudit(), 'PERMISSION_DENIED', { statusCode: 403 });
});
