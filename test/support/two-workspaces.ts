// Two workspaces with equal ids and numbers. The second holds more rows, and whatever of it is not
// used to look for it carries a mark, so that any byte of it in an answer can be told.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { RequestOf } from '../../sdk/client.ts';
import { routes } from '../../sdk/routes.ts';
import { blockSizes } from '../../src/domain/tenants/numbers-store.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { seedBills } from './bill-rows.ts';
import type { TestClient } from './client.ts';
import { send } from './http.ts';
import { adminPassword, type Scene } from './scene.ts';
import { inTenant } from './spread-client.ts';
import type { Connection } from './subscriptions.ts';

export type Two = {
  a: TestClient;
  b: TestClient;
  tenantA: number;
  tenantB: number;
  /** In every row of B that can carry text, and in nothing that is ever sent. */
  mark: string;
};

/** What a stranger may know of B and look for. */
export const known = {
  party: 'Bilal Ahmed',
  email: 'bilal@example.com',
  contact: '+92 300 7654321',
  label: 'Shop 9',
  group: 'East side',
  username: 'b-clerk',
  clientId: 'b-gateway',
  subscription: 'ELEC-00000009',
} as const;

export async function openTwoWorkspaces(scene: Scene): Promise<Two> {
  const mark = `mark${randomBytes(6).toString('hex')}`;
  const a = await scene.workspace('alpha', { sandbox: true });
  const b = await scene.workspace('beta', { sandbox: true });
  const tenantA = await tenantOf(scene, 'alpha');
  const tenantB = await tenantOf(scene, 'beta');
  await seed(a, { mark: 'plain', isKnown: false });
  await seed(b, { mark, isKnown: true });
  await seedMore(b, mark);
  await seedNeighbour(b, mark);
  await seedBills(scene, a, 'plain');
  await seedBills(scene, b, mark);
  await nameAccounts(scene, tenantB, mark);
  await b.updateSettings({ data: { name: mark, letterhead: { text: mark } } });
  await b.getSettings();
  return { a, b, tenantA, tenantB, mark };
}

async function tenantOf(scene: Scene, workspace: string): Promise<number> {
  const { rows } = await scene.sql.query<{ id: string }>('select find_workspace($1) as id', [
    workspace,
  ]);
  return Number(rows[0]?.id);
}

/** Ids 1 and number 100001 in both workspaces. */
async function seed(
  client: TestClient,
  { mark, isKnown }: { mark: string; isKnown: boolean },
): Promise<void> {
  const own = (name: keyof typeof known, other: string) => (isKnown ? known[name] : other);
  await client.makeUsers({
    userType: 'customer',
    users: [
      {
        name: own('party', 'Asma Khan'),
        email: own('email', 'asma@example.com'),
        contacts: [
          { contactType: 'Mobile', contactValue: own('contact', '+92 300 1111111') },
          { contactType: 'Other', contactValue: mark },
        ],
        identityNumber: mark,
        taxNumber: mark,
        address: { city: mark },
        competencies: [{ name: mark }],
      },
    ],
  });
  await client.updateUser({
    user: {
      partyNumber: 100001,
      connectionGroups: [{ connectionGroupLabel: own('label', 'House 1') }],
    },
  });
  await client.addBillingGroup({ name: own('group', 'West side'), description: mark });
  await client.assignBillingAccounts({ data: { billingGroupID: 1, connectionGroupIDs: [1] } });
  const login = { username: own('username', 'a-clerk'), name: mark, password: adminPassword };
  await client.makeLogins({ logins: [{ ...login, roles: ['Billing Operator'] }] });
  const secret = `a secret of thirty-two characters ${isKnown}`;
  await client.makeClients({
    clients: [
      { clientID: own('clientId', 'a-gateway'), clientSecret: secret, roles: ['Meter Reader'] },
    ],
  });
  await seedPrices(client, mark);
  await seedMeter(client, mark);
  const number = own('subscription', 'ELEC-00000001');
  await seedSubscription(client, number, own('label', 'House 1'), mark);
  await seedTerm(client, mark);
}

/** Term 1 in both workspaces, and job 1, requested by a login of that name. */
async function seedTerm(client: TestClient, mark: string): Promise<void> {
  const days = { startDate: '01/06/2025', endDate: '30/06/2025' };
  const data = { serviceCode: 'ELEC', batchCode: 'B01', label: mark, ...days };
  await client.makeTerm({ operation: 'schedule', data });
  const username = `${mark}-operator`;
  const login = { username, name: mark, password: adminPassword };
  await client.makeLogins({ logins: [{ ...login, roles: ['Billing Operator'] }] });
  const session = await client.login({ username, password: adminPassword });
  const later = Temporal.Now.plainDateTimeISO('Asia/Karachi').add({ days: 9 });
  const sheduleTime = later.toString({ smallestUnit: 'second' });
  await client.postMeterReadings(
    { operation: 'schedule', data: { termID: 1, reading: 'current', sheduleTime } },
    { token: session.data.accessToken },
  );
}

/** Type 6 and meter 7001 in both workspaces. */
async function seedMeter(client: TestClient, mark: string): Promise<void> {
  const registers = [{ register: mark, unit: mark, kind: 'Cumulative' as const, digits: 6 }];
  await client.makeMeterTypes({ meterTypes: [{ name: mark, utility: mark, registers }] });
  const meter = { number: 7001, brand: mark, meterType: 6, purchaseDate: '01/02/2024', mf: 1 };
  const usual = { ...meter, number: 7003, meterType: 1 };
  await client.makeMeters({ meters: [meter, usual] });
}

/** The context, plan and period that the examples of operations are about. */
async function seedPrices(client: TestClient, mark: string): Promise<void> {
  const { service } = catalogue.createService.example as RequestOf<'createService'>;
  const { tariff } = catalogue.createTariff.example as RequestOf<'createTariff'>;
  const batches = [{ batchCode: 'B01', label: mark, description: mark }];
  await client.createService({ service: { ...service, name: mark, description: mark, batches } });
  await client.createTariff({ tariff: { ...tariff, name: mark, description: mark } });
  await client.makePeriods({ periods: [{ name: mark, unit: 'Day', count: 3, months: '0.1' }] });
  await client.updateTemplate({ data: { templateID: 1, body: mark } });
}

/** Subscription 1 in both workspaces, of the party and account 1, with amounts of all kinds. */
async function seedSubscription(
  client: TestClient,
  connectionNumber: string,
  connectionGroupLabel: string,
  mark: string,
): Promise<void> {
  const { connection } = catalogue.makeConnections.example as RequestOf<'makeConnections'>;
  await client.makeConnections({
    batchUpload: true,
    connection: {
      ...(connection as Connection),
      connectionNumber,
      connectionRefNo: mark,
      connectionDate: '01012024',
      billedThrough: '31012024',
      description: mark,
      projectName: mark,
      documents: [mark],
      address: { title: mark, city: mark, block: mark, society: mark },
      users: [{ partyNumber: 100001, connectionGroupLabel }],
      meters: [7003],
      accounts: [
        { title: 'Receivable', balance: 123.45 },
        { title: 'Advance', balance: 543.21 },
      ],
    },
  });
  const readingDate = '01/02/2024';
  await client.makeReadings({
    readings: [{ number: 7003, value: '9', readingDate, remark: mark }],
  });
}

/** No operation renames a ledger account yet. */
async function nameAccounts(scene: Scene, tenantId: number, mark: string): Promise<void> {
  const text = 'update ledger_accounts set name = $2 || name where tenant_id = $1';
  await inTenant(scene.sql, tenantId, () => scene.sql.query(text, [tenantId, mark]));
}

/** Rows of B under ids that A does not have, with marked names. */
async function seedMore(b: TestClient, mark: string): Promise<void> {
  await b.makeUsers({
    userType: 'vendor',
    users: [{ name: mark }, { name: `${mark} two`, email: `${mark}@example.com` }],
  });
  await b.updateUser({
    user: { partyNumber: 100002, connectionGroups: [{ connectionGroupLabel: mark }] },
  });
  await b.addBillingGroup({ name: mark });
  await b.assignBillingAccounts({ data: { billingGroupID: 2, connectionGroupIDs: [2] } });
  const registers = [{ register: mark, unit: mark, kind: 'Demand' as const, digits: 6 }];
  await b.makeMeterTypes({ meterTypes: [{ name: `${mark} two`, utility: mark, registers }] });
  const meter = { brand: mark, meterType: 7, purchaseDate: '01/02/2024', mf: 1 };
  await b.makeMeters({ meters: [{ number: 7002, ...meter }] });
  const login = { username: mark, name: mark, password: adminPassword };
  await b.makeLogins({ logins: [{ ...login, roles: ['Auditor'] }] });
  const secret = 'a secret of at least thirty-two characters';
  await b.makeClients({ clients: [{ clientID: mark, clientSecret: secret, roles: ['Auditor'] }] });
}

export async function tablesOf(sql: pg.Client): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname not in ('schema_migrations', 'workers', 'operation_counts', 'workspace_jobs',
         'workspace_webhooks', 'ended_workspaces')
     order by relname`,
  );
  return rows.map((row) => row.name);
}

/**
 * A hash of every row of a tenant, or of all tenants, by table. Workers note at any moment when they
 * look at a workspace again: that is left out. So are counters of ids that a process takes in
 * blocks: a refused call may have taken one.
 */
export async function hashRows(
  sql: pg.Client,
  tenantId: number | null = null,
): Promise<Record<string, string>> {
  const tables = await tablesOf(sql);
  const those = tenantId === null ? '' : 'where tenant_id = $1';
  const blocks = Object.keys(blockSizes).map((series) => `'${series}'`);
  const parts = tables.map((name) => {
    const rows =
      name === 'counters' ? `(select * from counters where series not in (${blocks}))` : name;
    return `select '${name}' as name, count(*) || ' ' ||
      coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '') as hash
      from ${rows} t ${those}`;
  });
  const text = parts.join(' union all ');
  // By a name: to plan a hundred tables takes longer than to read their few rows.
  const { rows } = await sql.query<{ name: string; hash: string }>({
    name: `rows ${createHash('sha256').update(text).digest('base64url')}`,
    text,
    values: tenantId === null ? [] : [tenantId],
  });
  return Object.fromEntries(rows.map((row) => [row.name, row.hash]));
}

/** Of refused jobs: each is a row of its own, and it and its event are all that the work leaves. */
export async function leavesJobsOnly(sql: pg.Client, work: () => Promise<unknown>): Promise<void> {
  const rows = async () => {
    const { jobs, events, counters, audit_entries, seal_queue, workspaces, ...others } =
      await hashRows(sql);
    return others;
  };
  const before = await rows();
  await work();
  assert.deepEqual(await rows(), before);
}

export type Raw = {
  text: string;
  headers: Headers;
  success: boolean;
  code: string | undefined;
  statusCode: number;
};

/** A call as bytes, past the checks of the client: what is sent and answered is looked at raw. */
export async function rawCall(
  scene: { baseUrl: string },
  name: string,
  body: object,
  options: { workspace: string; token?: string | null; headers?: Record<string, string> },
): Promise<Raw> {
  const route = routes[name as keyof typeof routes];
  const { path, method, action } = route;
  const { headers, text } = await send(new URL(path, scene.baseUrl), {
    headers: {
      'Content-Type': 'application/json',
      'X-Workspace': options.workspace,
      ...(options.token ? { Authorization: options.token } : {}),
      ...options.headers,
    },
    body: JSON.stringify({ method, action, apiVersion: 'v2', ...body }),
  });
  const envelope = JSON.parse(text) as {
    success: boolean;
    statusCode: number;
    error: { code: string } | null;
  };
  return {
    text,
    headers,
    success: envelope.success,
    statusCode: envelope.statusCode,
    code: envelope.error?.code,
  };
}

export async function logIn(
  scene: { baseUrl: string },
  workspace: string,
  username: string,
): Promise<string> {
  const answer = await rawCall(
    scene,
    'login',
    { username, password: adminPassword },
    { workspace },
  );
  return (JSON.parse(answer.text) as { data: { accessToken: string } }).data.accessToken;
}

/** Another customer of the first batch, whose name the example of a search finds, with a note. */
async function seedNeighbour(b: TestClient, mark: string): Promise<void> {
  const name = `Khan ${mark}`;
  const { headers } = await b.makeUsers({ userType: 'customer', users: [{ name }] });
  const partyID = Number(headers.get('x-resource-id'));
  const { connection } = catalogue.makeConnections.example as RequestOf<'makeConnections'>;
  const usual = { ...(connection as Connection), batchCode: 'B01', meters: [7009], users: [] };
  const meter = { number: 7009, brand: mark, meterType: 1, purchaseDate: '01/02/2024', mf: 1 };
  await b.makeMeters({ meters: [meter] });
  await b.makeConnections({
    batchUpload: true,
    connection: { ...usual, partyID, connectionNumber: 'ELEC-09', connectionDate: '01012024' },
  });
  await b.makeNotes({ notes: [{ partyNumber: 100001, kind: 'Note', text: mark }] });
}
