// The wall between workspaces, attacked by host names, sent as bytes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { createLog } from '../src/base/log.ts';
import { createServer } from '../src/http/server.ts';
import { operations } from '../src/operations/catalogue.ts';
import { openScene } from './support/scene.ts';
import { hashRows, openTwoWorkspaces } from './support/two-workspaces.ts';

const scene = await openScene({ ownDatabase: true });
const { a, b, mark } = await openTwoWorkspaces(scene);

const hosts = createServer({
  database: scene.api,
  operations,
  clock: scene.clock,
  log: createLog({ level: 'silent' }),
  domain: 'localhost',
  workspaceHeader: false,
  trustedProxies: ['127.0.0.1'],
  scheduleWaitSeconds: 20,
  rateLimits: {
    token: { perSecond: 1e9, burst: 1e9 },
    tenant: { perSecond: 1e9, burst: 1e9 },
    loginName: { perSecond: 1e9, burst: 1e9 },
    loginAddress: { perSecond: 1e9, burst: 1e9 },
    wrongToken: { perSecond: 1e9, burst: 1e9 },
  },
});
await hosts.listen({ port: 0, host: '127.0.0.1' });
after(() => hosts.close());

async function send(headers: string[], target = '/billing/users/list-users'): Promise<string> {
  const address = hosts.server.address();
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  const body = '{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}';
  const lines = [
    `POST ${target} HTTP/1.1`,
    ...headers,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'utf8'));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('utf8');
}

const atB: Record<string, string> = {
  'beta.localhost': 'TOKEN_WORKSPACE_MISMATCH',
  'beta.localhost:8080': 'TOKEN_WORKSPACE_MISMATCH',
  'BETA.LOCALHOST': 'TOKEN_WORKSPACE_MISMATCH',
  'Beta.LocalHost.': 'TOKEN_WORKSPACE_MISMATCH',
  'beta.localhost.:80': 'TOKEN_WORKSPACE_MISMATCH',
  'beta.localhost..': 'WORKSPACE_NOT_FOUND',
  'beta.localhost:80:80': 'WORKSPACE_NOT_FOUND',
  'beta.localhost:': 'WORKSPACE_NOT_FOUND',
  beta: 'WORKSPACE_NOT_FOUND',
  '.localhost': 'WORKSPACE_NOT_FOUND',
  localhost: 'WORKSPACE_NOT_FOUND',
  '127.0.0.1': 'WORKSPACE_NOT_FOUND',
  '[::1]:8080': 'WORKSPACE_NOT_FOUND',
  'alpha.beta.localhost': 'WORKSPACE_NOT_FOUND',
  'beta.localhost.evil.example': 'WORKSPACE_NOT_FOUND',
  'alpha.localhost, beta.localhost': 'WORKSPACE_NOT_FOUND',
  'alpha.localhost@beta.localhost': 'WORKSPACE_NOT_FOUND',
  'beta%2elocalhost': 'WORKSPACE_NOT_FOUND',
  'bеta.localhost': 'WORKSPACE_NOT_FOUND', // a Cyrillic е
  'ｂeta.localhost': 'WORKSPACE_NOT_FOUND', // a full-width b
  'xn--bta-7sd.localhost': 'WORKSPACE_NOT_FOUND',
  '': 'WORKSPACE_NOT_FOUND',
};

test("A's token opens nothing at B's host, however the host is written", async () => {
  const before = await hashRows(scene.sql);
  for (const [host, code] of Object.entries(atB)) {
    const answer = await send([`Host: ${host}`, `Authorization: ${a.token}`]);
    assert.match(answer, new RegExp(`"code":"${code}"`), `Host: ${host}`);
    assert.ok(!answer.includes(mark), host);
  }
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('forwarded host headers of a proxy or a caller are ignored', async () => {
  const claims = [
    'X-Forwarded-Host: beta.localhost',
    'Forwarded: host=beta.localhost',
    'X-Workspace: beta',
    'X-Original-Host: beta.localhost',
    'X-Host: beta.localhost',
  ];
  for (const claim of claims) {
    const own = await send(['Host: alpha.localhost', claim, `Authorization: ${a.token}`]);
    assert.match(own, /"success":true/, claim);
    assert.match(own, /Asma Khan/, claim);
    assert.ok(!own.includes(mark), claim);
    const foreign = await send(['Host: alpha.localhost', claim, `Authorization: ${b.token}`]);
    assert.match(foreign, /"code":"TOKEN_WORKSPACE_MISMATCH"/, claim);
    const nowhere = await send(['Host: localhost', claim, `Authorization: ${b.token}`]);
    assert.match(nowhere, /"code":"WORKSPACE_NOT_FOUND"/, claim);
  }
});

test('requests that name two hosts, or none, reach no workspace', async () => {
  const token = `Authorization: ${a.token}`;
  const two = await send(['Host: alpha.localhost', 'Host: beta.localhost', token]);
  const none = await send([token]);
  const absolute = await send(
    ['Host: alpha.localhost', token],
    'http://beta.localhost/billing/users/list-users',
  );
  const twoTokens = await send(['Host: beta.localhost', token, `Authorization: ${b.token}`]);
  for (const answer of [two, none, absolute, twoTokens]) {
    assert.match(answer, /^HTTP\/1\.1 \d{3} /);
    assert.ok(!answer.includes(mark), answer.slice(0, 200));
  }
  assert.match(none, /^HTTP\/1\.1 400 /);
});
