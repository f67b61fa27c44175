// Permissions of roles: each role against each operation; a refused call changes nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  permissions,
  permissionsOf,
  type RoleName,
  roleNames,
} from '../src/domain/access/roles.ts';
import { type OperationName, operations } from '../src/operations/catalogue.ts';
import { adminPassword, openScene } from './support/scene.ts';
import { root } from './support/source.ts';
import { hashRows, type Raw, rawCall } from './support/two-workspaces.ts';

const everybody: readonly RoleName[] = roleNames;
const administrator: readonly RoleName[] = ['Administrator'];
const billing: readonly RoleName[] = ['Administrator', 'Billing Manager', 'Billing Operator'];
const managers: readonly RoleName[] = ['Administrator', 'Billing Manager'];
const readers: readonly RoleName[] = [...billing, 'Accountant', 'Auditor'];
const cashiers: readonly RoleName[] = [...managers, 'Accountant', 'Cashier'];
const auditors: readonly RoleName[] = ['Administrator', 'Auditor'];

/** Written by hand: a new operation is given to roles here on purpose. */
const allowed: Record<OperationName, readonly RoleName[]> = {
  addBillingGroup: billing,
  listBillingGroups: readers,
  getBillingGroup: readers,
  updateBillingGroup: billing,
  assignBillingAccounts: billing,
  removeBillingAccounts: billing,
  makeUsers: billing,
  updateUser: billing,
  getUsers: [...readers, 'Cashier', 'Customer'],
  listUsers: [...readers, 'Cashier'],
  makeConnections: billing,
  getConnections: [...readers, 'Meter Reader', 'Customer'],
  updateConnection: billing,
  disconnectConnection: billing,
  reconnectConnection: billing,
  closeConnection: managers,
  billConnection: billing,
  transferConnection: managers,
  changeTariff: billing,
  createService: managers,
  getServices: readers,
  updateService: managers,
  getBatches: readers,
  createTariff: managers,
  updateTariff: managers,
  getTariffs: readers,
  simulateTariff: readers,
  makePeriods: managers,
  getPeriods: readers,
  makeTemplates: managers,
  getTemplates: readers,
  previewTemplate: readers,
  updateTemplate: managers,
  getLookups: readers,
  makeMeters: billing,
  getMeters: [...readers, 'Meter Reader'],
  getMeterMetaData: [...readers, 'Meter Reader'],
  makeMeterTypes: billing,
  updateMeter: billing,
  assignMeter: billing,
  replaceMeter: billing,
  removeMeter: billing,
  makeReadings: [...billing, 'Meter Reader', 'Customer'],
  getReadings: [...readers, 'Meter Reader', 'Customer'],
  reviewReading: billing,
  generateBills: billing,
  getBillTerm: [...readers, 'Cashier'],
  getBills: [...readers, 'Cashier', 'Customer'],
  holdBill: billing,
  holdBills: billing,
  eraseParty: managers,
  makeNotes: [...billing, 'Cashier', 'Accountant', 'Customer'],
  getNotes: [...readers, 'Cashier', 'Customer'],
  updateOwnDetails: [...billing, 'Customer'],
  explainBill: [...readers, 'Cashier', 'Customer'],
  compareRuns: [...readers, 'Cashier'],
  postBills: managers,
  unpostBills: managers,
  cancelBill: managers,
  getCreditNotes: [...readers, 'Cashier', 'Customer'],
  getCreditNoteDocument: [...readers, 'Cashier', 'Customer'],
  importData: [...billing, 'Accountant', 'Meter Reader'],
  uploadPart: [...billing, 'Accountant', 'Meter Reader'],
  makeMappings: [...billing, 'Accountant'],
  getMappings: readers,
  importBankFile: [...billing, 'Accountant'],
  getBankFiles: readers,
  getBankLines: readers,
  matchBankLine: [...billing, 'Accountant'],
  publishBills: managers,
  distributeBills: billing,
  getBillDocument: [...readers, 'Cashier', 'Customer'],
  getPaymentDetails: [...readers, 'Cashier', 'Customer'],
  getUsage: [...readers, 'Meter Reader', 'Customer'],
  getDeliveries: [...readers, 'Cashier'],
  getPrintFiles: [...readers, 'Cashier'],
  getPrintFile: [...readers, 'Cashier'],
  resolveDeliveries: billing,
  exportData: [...readers, 'Meter Reader'],
  getReadingTerms: [...readers, 'Meter Reader'],
  getRouteSheet: [...readers, 'Meter Reader'],
  login: everybody,
  refreshToken: everybody,
  requestLink: everybody,
  redeemLink: everybody,
  requestPasswordReset: everybody,
  resetPassword: everybody,
  enrolTotp: everybody,
  confirmTotp: everybody,
  resetTotp: administrator,
  logout: everybody,
  changePassword: everybody,
  makeLogins: administrator,
  getLogins: auditors,
  updateLogin: administrator,
  makeClients: administrator,
  getClients: auditors,
  updateClient: administrator,
  makeTerm: billing,
  getTerms: readers,
  getRunBoard: readers,
  getTermPopulation: readers,
  search: everybody,
  updateTerm: billing,
  cancelTerm: managers,
  simulateTerm: [...readers, 'Cashier'],
  uploadMeterReadings: [...billing, 'Meter Reader'],
  postMeterReadings: billing,
  unpostMeterReadings: billing,
  postManualComponentValues: billing,
  uploadUsage: billing,
  getJobs: readers,
  cancelJob: billing,
  makePayments: cashiers,
  getPayments: [...readers, 'Cashier', 'Customer'],
  getReceiptDocument: [...readers, 'Cashier', 'Customer'],
  reversePayment: cashiers,
  refundPayment: managers,
  settleWallet: cashiers,
  transferPayment: managers,
  reallocatePayment: managers,
  clearPayment: cashiers,
  getApprovals: [...managers, 'Accountant', 'Auditor'],
  decideApproval: [...managers, 'Accountant'],
  makeCashDesks: administrator,
  getCashDesks: [...readers, 'Cashier'],
  closeDay: cashiers,
  makeAdjustments: [...managers, 'Accountant'],
  getDunning: readers,
  getReminderDocument: readers,
  makePromises: billing,
  makeInstalmentPlans: billing,
  endArrangement: billing,
  makeCreditNotes: [...managers, 'Accountant'],
  waiveSurcharge: [...managers, 'Accountant'],
  demandDeposit: [...managers, 'Accountant'],
  refundDeposit: [...managers, 'Accountant'],
  getDeposits: [...readers, 'Cashier'],
  makeDisputes: [...managers, 'Billing Operator'],
  getDisputes: readers,
  resolveDispute: [...managers, 'Accountant'],
  getStatement: [...readers, 'Cashier', 'Customer'],
  getStatementDocument: [...readers, 'Cashier', 'Customer'],
  getTrialBalance: [...managers, 'Accountant', 'Auditor'],
  getReport: [...managers, 'Accountant', 'Auditor'],
  getJournals: [...managers, 'Accountant', 'Auditor'],
  getLedgerAccounts: [...managers, 'Accountant', 'Auditor'],
  makeLedgerAccounts: [...managers, 'Accountant'],
  updateLedgerAccount: [...managers, 'Accountant'],
  closeMonth: [...managers, 'Accountant'],
  reopenMonth: [...managers, 'Accountant'],
  exportMonth: [...managers, 'Accountant', 'Auditor'],
  getSettings: readers,
  updateSettings: administrator,
  moveClock: administrator,
  getAudit: [...auditors, 'Accountant'],
  getEvents: [...auditors, 'Accountant'],
  makeGateways: administrator,
  getGateways: readers,
  updateGateway: administrator,
  makeWebhooks: administrator,
  getWebhooks: [...auditors, 'Accountant'],
  updateWebhook: administrator,
  redeliverEvent: administrator,
  getWebhookMessages: [...auditors, 'Accountant'],
};

/** May call for its own party only, and only as a login that has one. */
const ownOnly: Partial<Record<OperationName, RoleName>> = {
  getUsers: 'Customer',
  getUsage: 'Customer',
  getPaymentDetails: 'Customer',
  updateOwnDetails: 'Customer',
  makeNotes: 'Customer',
  getNotes: 'Customer',
  getConnections: 'Customer',
  makeReadings: 'Customer',
  getReadings: 'Customer',
  getBillDocument: 'Customer',
  getCreditNotes: 'Customer',
  getCreditNoteDocument: 'Customer',
  getBills: 'Customer',
  explainBill: 'Customer',
  getPayments: 'Customer',
  getReceiptDocument: 'Customer',
  getStatement: 'Customer',
  getStatementDocument: 'Customer',
};

// No worker runs here, and no call waits for a job.
const scene = await openScene({ scheduleWaitSeconds: 0 });
const admin = await scene.workspace('roles', { sandbox: true });
await admin.makeUsers({ userType: 'customer', users: [{ name: 'Own' }, { name: 'Other' }] });
const tenantId = await scene.tenantOf(admin);
const clientSecret = 'a secret of at least thirty-two characters';

test('every operation is in the table of roles', () => {
  assert.deepEqual(Object.keys(allowed).sort(), operations.map(([name]) => name).sort());
});

/** What a role may do with things of a kind; with those of its own party, where not with all. */
function mayDo(role: RoleName, resource: string): string {
  const held = permissionsOf([role]);
  const verbs = (kind: string) =>
    permissions
      .filter((name) => name.startsWith(`${kind}:`) && held.has(name))
      .map((name) => name.slice(kind.length + 1))
      .join(', ');
  const own = verbs(resource === 'parties' ? 'own-party' : `own-${resource}`);
  return verbs(resource) || (own && `own: ${own}`);
}

test('docs/api.md says of each role what it may do', () => {
  const kinds = new Set(permissions.map((name) => name.replace(/:.*/, '')));
  const resources = [...kinds].filter((name) => !name.startsWith('own-'));
  const rows = resources.map((resource) => [
    `\`${resource}\``,
    ...roleNames.map((role) => mayDo(role, resource)),
  ]);
  const lines = [['', ...roleNames], ...rows].map((cells) =>
    `| ${cells.join(' | ')} |`.replaceAll(/ +\|/g, ' |'),
  );
  const ruled = [lines[0], `|${'---|'.repeat(roleNames.length + 1)}`, ...lines.slice(1)];
  const docs = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const table = docs.split('\n').filter((line) => line.startsWith('|'));
  const start = table.indexOf(ruled[0] ?? '');
  assert.deepEqual(table.slice(start, start + ruled.length), ruled);
});

async function loginOf(role: RoleName): Promise<string> {
  const partyNumber = role === 'Customer' ? { partyNumber: 100001 } : {};
  return (await scene.loginAs(admin, [role], partyNumber)).token ?? '';
}

async function clientOf(role: RoleName): Promise<string> {
  const clientID = `client-${role.replaceAll(' ', '-')}`;
  const made = role === 'Customer' ? 'Auditor' : role;
  await admin.makeClients({ clients: [{ clientID, clientSecret, roles: [made] }] });
  // No such client is made any more, but there may be one.
  await scene.enter(admin);
  await scene.sql.query('update clients set roles = $1 where client_id = $2', [[role], clientID]);
  const { data } = await scene.visitor('roles').login({ clientID, clientSecret });
  return data.accessToken;
}

const call = (name: OperationName, body: object, token: string): Promise<Raw> =>
  rawCall(scene, name, body, { workspace: 'roles', token });

for (const role of roleNames) {
  for (const [kind, enter] of [
    ['login', loginOf],
    ['machine client', clientOf],
  ] as const) {
    test(`a ${kind} with the role ${role} may do what the table says and no more`, async () => {
      const token = await enter(role);
      const may = ([name]: readonly [OperationName, unknown]) =>
        allowed[name].includes(role) &&
        !(
          kind === 'machine client' &&
          (ownOnly[name] === role || ['changePassword', 'enrolTotp', 'confirmTotp'].includes(name))
        );
      const before = await hashRows(scene.sql, tenantId);
      for (const [name, operation] of operations.filter((one) => !may(one))) {
        // Roles are looked at before the body, in one place for both kinds.
        for (const body of kind === 'login' ? [operation.example, {}] : [{}]) {
          const answer = await call(name, body, token);
          assert.equal(answer.code, 'PERMISSION_DENIED', name);
          assert.equal(answer.statusCode, 403);
        }
      }
      assert.deepEqual(
        await hashRows(scene.sql, tenantId),
        before,
        'a refused call changed something',
      );
      const last = (name: string) => (name === 'logout' ? 1 : 0);
      const granted = operations
        .filter(may)
        .filter(([, { access }]) => access !== 'public')
        .sort(([one], [two]) => last(one) - last(two));
      for (const [name, operation] of granted) {
        // They may bring readings or open items, and the example brings meters.
        const bringsOthers = role === 'Meter Reader' || role === 'Accountant';
        if (name === 'importData' && bringsOthers) continue;
        const answer = await call(name, operation.example, token);
        assert.doesNotMatch(answer.code ?? '', /^(PERMISSION_DENIED|TOKEN_.*)$/, name);
      }
    });
  }
}

test('a customer sees its own party, and of others not even that they exist', async () => {
  const token = await loginOf('Customer');
  const own = await call('getUsers', { partyNumber: 100001 }, token);
  assert.ok(own.success, own.text);
  const other = await call('getUsers', { partyNumber: 100002 }, token);
  const nobody = await call('getUsers', { partyNumber: 999999 }, token);
  const plain = (answer: Raw) =>
    answer.text.replace(/"requestID":"\w+"/, '').replaceAll(/100002|999999/g, 'number');
  assert.equal(other.code, 'PARTY_NOT_FOUND');
  assert.equal(plain(other), plain(nobody));
});

test('rights end and begin with the next call after a change of roles', async () => {
  const made = await scene.loginAs(admin, ['Auditor']);
  const { data } = await admin.getLogins();
  const username = data.logins.at(-1)?.username ?? '';
  const add = () => call('addBillingGroup', { name: username }, made.token ?? '');
  assert.equal((await add()).code, 'PERMISSION_DENIED');
  await admin.updateLogin({ data: { username, roles: ['Billing Operator'] } });
  assert.ok((await add()).success);
  assert.equal((await call('getAudit', {}, made.token ?? '')).code, 'PERMISSION_DENIED');
  await admin.updateLogin({ data: { username, status: 'INACTIVE' } });
  assert.equal((await add()).code, 'TOKEN_REVOKED');
  const again = await call('login', { username, password: adminPassword }, '');
  assert.equal(again.code, 'LOGIN_FAILED');
});
