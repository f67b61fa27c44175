// Clients of one workspace that do the worst they are allowed to do, in a process of their own:
// the largest bodies, imports, whole lists, simulations, hashing and documents, in turn.
import { once } from 'node:events';
import { request } from 'node:http';
import { adminPassword } from '../test/support/scene.ts';

export type HostileOrder = {
  port: number;
  workspace: string;
  /** Subscriptions, parties and bills of the workspace. */
  size: number;
  termID: number;
  clients: number;
};

/** By kind of call: how often it ended how, and the longest of them in milliseconds. */
export type HostileReport = Record<string, Record<string, number>>;

type Hostile = { name: string; path: string; body(order: HostileOrder): string };

const largest = 10 * 1024 * 1024 - 200;

function words(method: string, action: string, rest: object): string {
  return JSON.stringify({ method, action, apiVersion: 'v2', ...rest });
}

let made = 0;

/** A text that is as long as a body may be, made once. */
function keptText(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}

const zeros = keptText(() => {
  const head =
    '{"method":"Create","action":"Create Meter Readings","apiVersion":"v2","readings":[0';
  return `${head}${',0'.repeat((largest - head.length - 2) / 2)}]}`;
});

const readings = keptText(() => {
  const one = { number: 700_001, value: '123456', readingDate: '31/07/2025', source: 'Phone app' };
  const count = Math.min(5_000, Math.floor(largest / (JSON.stringify(one).length + 1)));
  const many = Array.from({ length: count }, (_, index) => ({ ...one, number: 700_001 + index }));
  return words('Create', 'Create Meter Readings', { readings: many });
});

const file = keptText(() => {
  const lines = ['number,brand,meterType,purchaseDate,mf'];
  for (let bytes = 0, number = 1; bytes < largest * 0.9; number += 1) {
    const line = `${90_000_000 + number},Itron,Electric single phase,15/01/2024,1`;
    lines.push(line);
    bytes += line.length + 4;
  }
  return words('Create', 'Import Data', {
    kind: 'Meters',
    content: lines.join('\r\n'),
    dryRun: true,
  });
});

/** Values that build on each other, up to the text that formulas may have together. */
const simulation = keptText(() => {
  const sum = (before: string) => Array(400).fill(before).join(' + ');
  const values = Array.from({ length: 32 }, (_, index) => ({
    name: `v${index}`,
    type: 'Number',
    default: index === 0 ? '1' : `MIN(${sum(`v${index - 1}`)}, 9)`,
  }));
  return words('Retrieve', 'Simulate Plan', {
    service: {
      code: 'HOSTILE',
      name: 'Hostile',
      serviceType: 'Sale',
      chargingType: 'Postpaid',
      postType: 'Post Subscription',
      values,
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
    },
    tariffs: [
      { code: 'P', uniqueLabel: 'P', componentRules: [{ component: 'fee', formula: 'v31 + 1' }] },
    ],
    tariffCode: 'P',
    scenario: { term: { startDate: '01/06/2031', endDate: '30/06/2031' } },
    explain: true,
  });
});

const logins = () => {
  made += 1;
  const many = Array.from({ length: 50 }, (_, index) => ({
    username: `hostile-${process.pid}-${made}-${index}`,
    name: 'Hostile',
    password: adminPassword,
    roles: ['Auditor'],
  }));
  return words('Create', 'Create Logins', { logins: many });
};

const parties = () => {
  made += 1;
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    name: `Party ${made} ${index} ${'x'.repeat(100)}`,
    country: 'PK',
  }));
  return words('Create', 'Create Parties', { userType: 'customer', users: many });
};

const hostile: readonly Hostile[] = [
  { name: 'largest body', path: '/billing/meters/make-readings', body: zeros },
  { name: 'readings', path: '/billing/meters/make-readings', body: readings },
  { name: 'import', path: '/billing/imports/import-data', body: file },
  {
    name: 'whole list',
    path: '/billing/connections/get-connections',
    body: () => words('Retrieve', 'Retrieve Subscriptions', { page: null }),
  },
  { name: 'simulation', path: '/billing/tariffs/simulate-tariff', body: simulation },
  { name: 'hashing', path: '/billing/auth/make-logins', body: logins },
  {
    name: 'document',
    path: '/billing/bills/get-bill-document',
    body: ({ size }) =>
      words('Retrieve', 'Retrieve Bill Document', { billID: 1 + Math.floor(Math.random() * size) }),
  },
  {
    name: 'bills of a term',
    path: '/billing/bills/get-bill-term',
    body: ({ termID }) => words('Retrieve', 'Retrieve Bill Term', { billTermID: termID }),
  },
  {
    name: 'term simulation',
    path: '/billing/terms/simulate-term',
    body: ({ termID }) =>
      words('Retrieve', 'Simulate Term', {
        termID,
        tariffs: [{ code: 'RES', uniqueLabel: 'RES', componentRules: [] }],
      }),
  },
  {
    name: 'large page',
    path: '/billing/users/list-users',
    body: () => words('Retrieve', 'List Parties', { page: { pageNumber: 1, size: 1_000 } }),
  },
  { name: 'parties', path: '/billing/users/make-users', body: parties },
];

type Ended = { code: string; ms: number };

/** Answers are read as fast as they come, and not kept. */
function call(order: HostileOrder, token: string, one: Hostile): Promise<Ended> {
  const body = Buffer.from(one.body(order));
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (code: string) => resolve({ code, ms: Math.round(performance.now() - began) });
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-Workspace': order.workspace,
      Authorization: token,
    };
    const options = { port: order.port, path: one.path, method: 'POST', headers };
    const sent = request(options, (response) => {
      let head = '';
      response.on('data', (chunk: Buffer) => {
        if (head.length < 2_000) head += chunk.toString('latin1', 0, 2_000);
      });
      response.on('end', () => end(codeOf(head)));
      response.on('error', () => end('cut off'));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'failed'));
    sent.end(body);
  });
}

function codeOf(head: string): string {
  if (head.startsWith('{"success":true')) return 'ok';
  return /"code":"([A-Z_]+)"/.exec(head)?.[1] ?? 'unreadable';
}

async function logIn(order: HostileOrder): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${order.port}/billing/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Workspace': order.workspace },
    body: words('Login', 'Login User', {
      username: `admin@${order.workspace}.example`,
      password: adminPassword,
    }),
  });
  const { data } = (await answer.json()) as { data: { accessToken: string } };
  return data.accessToken;
}

const [order] = (await once(process, 'message')) as [HostileOrder];
const tokens: string[] = [];
// Logins are limited by name: two clients share a token.
for (let client = 0; client < order.clients; client += 2) {
  const token = await logIn(order);
  tokens.push(token, token);
}
let isOver = false;
const report: HostileReport = {};
const working = tokens.map(async (token, client) => {
  for (let round = client; !isOver; round += 1) {
    const one = hostile[round % hostile.length] as Hostile;
    const { code, ms } = await call(order, token, one);
    const outcomes = report[one.name] ?? {};
    report[one.name] = outcomes;
    outcomes[code] = (outcomes[code] ?? 0) + 1;
    outcomes.longestMs = Math.max(outcomes.longestMs ?? 0, ms);
  }
});
process.send?.('started');
await once(process, 'message');
isOver = true;
await Promise.race([
  Promise.all(working),
  new Promise((resolve) => setTimeout(resolve, 30_000).unref()),
]);
process.send?.(report);
