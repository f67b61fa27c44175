// Random calls of every operation by every role: valid, nearly valid and hostile ones. No call may
// fail, every answer is one that its operation declares, and the server keeps no call waiting long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roleNames } from '../src/domain/access/roles.ts';
import type { OperationName } from '../src/operations/catalogue.ts';
import { operations } from '../src/operations/catalogue.ts';
import { checkAnswer, type Envelope } from './support/client.ts';
import { send } from './support/http.ts';
import { guest, type RandomCall, randomCall, type Sources } from './support/random-calls.ts';
import { Harvest, randomFrom, Values } from './support/random-values.ts';
import { adminPassword, openScene } from './support/scene.ts';
import { startServerProcess } from './support/server-process.ts';
import { makeStagedTerms } from './support/staged-terms.ts';
import { prepareSubscriptions } from './support/working-requests.ts';

const callsWanted = Number(process.env.RANDOM_CALLS ?? 450);
/** If chance left too many operations without a success, more calls are made, up to so many. */
const callsMax = 4 * callsWanted;
/** An administrator may call everything, and calls so many times as often as any other role. */
const administratorsShare = 16;
const seed = Number(process.env.RANDOM_CALLS_SEED ?? 1);
const lanes = 6;
/** For so long the server may keep others waiting, at the 99.9th percentile, in processor time. */
const workMsMax = 200;

const scene = await openScene({ ownDatabase: true });
const workspace = 'random';
const root = await scene.workspace(workspace, { sandbox: true });
await root.makeUsers({ userType: 'customer', users: [{ name: 'First' }, { name: 'Second' }] });
await root.addBillingGroup({ name: 'First' });
const connectionGroups = [{ connectionGroupLabel: 'House 12-B' }];
await root.updateUser({ user: { partyNumber: 100001, connectionGroups } });
await prepareSubscriptions(root);
scene.runJobs();
await makeStagedTerms(root);
await root.makeLogins({ logins: [{ ...guest, name: 'Guest', roles: ['Auditor'] }] });
await callExamples();

/** So that what examples name is there. */
async function callExamples(): Promise<void> {
  for (const [name, operation] of operations) {
    if (operation.access === 'public' || /^(logout|moveClock|updateSettings)$/.test(name)) continue;
    const { method, action } = operation;
    const words = { method, action, apiVersion: 'v2' };
    await send(new URL(operation.path, scene.baseUrl), {
      headers: {
        'Content-Type': 'application/json',
        'X-Workspace': workspace,
        Authorization: root.token ?? '',
      },
      body: JSON.stringify({ ...words, ...(operation.example as object) }),
    });
  }
}

/** Logins that this test itself needs are not to be found by its calls. */
const ownLogin = /^role-|^admin@/;

type Caller = { role: string | null; username: string; token: string | null };

async function newCaller(role: string, index: number): Promise<Caller> {
  const username = `role-${index}`;
  const login = { username, name: username, password: adminPassword, roles: [role] as never };
  const party = role === 'Customer' ? { partyNumber: 100001 } : {};
  await root.makeLogins({ logins: [{ ...login, ...party }] });
  return { role, username, token: await tokenFor(username) };
}

async function tokenFor(username: string): Promise<string> {
  const { data } = await root.login({ username, password: adminPassword });
  return data.accessToken;
}

/** A token that was logged out is replaced, once. */
async function renew(caller: Caller, spent: string | null): Promise<void> {
  if (caller.token !== spent || caller.role === null) return;
  caller.token = null;
  caller.token = await tokenFor(caller.username);
}

type Fault = { call: string; role: string | null; reason: string; body: string };
type Tally = { calls: number; successes: Map<OperationName, number>; codes: Map<string, number> };

const faults = new Map<string, Fault>();

function noteFault(call: RandomCall, caller: Caller, error: unknown): void {
  const reason = error instanceof Error ? error.message.slice(0, 400) : String(error);
  const key = `${call.name} ${reason.slice(0, 60)}`;
  const body = call.body.slice(0, 1_500);
  if (faults.size < 40) faults.set(key, { call: call.name, role: caller.role, reason, body });
}

async function makeCall(
  baseUrl: string,
  sources: Sources,
  caller: Caller,
  tally: Tally,
): Promise<void> {
  const { token } = caller;
  const call = randomCall(sources);
  const url = new URL(call.operation.path, baseUrl);
  const headers = {
    'Content-Type': 'application/json',
    'X-Workspace': workspace,
    ...(token ? { Authorization: token } : {}),
    ...call.headers,
  };
  tally.calls += 1;
  let code = '';
  try {
    const answer = await send(url, { headers, body: call.body });
    const envelope = JSON.parse(answer.text) as Envelope;
    const { method, action } = call.operation;
    checkAnswer(String(url), { method, action }, answer, envelope);
    assert.ok(envelope.statusCode < 500, `answered ${envelope.error?.code}`);
    if (envelope.success) {
      tally.successes.set(call.name, (tally.successes.get(call.name) ?? 0) + 1);
      sources.harvest.take(envelope.data);
      takeIds(sources.harvest, answer.headers);
    }
    code = envelope.error?.code ?? 'success';
    tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
  } catch (error) {
    noteFault(call, caller, error);
  }
  const isOut = /^TOKEN_(REVOKED|EXPIRED)$/.test(code) && call.operation.access !== 'public';
  if (isOut) await renew(caller, token);
}

function takeIds(harvest: Harvest, headers: Headers): void {
  for (const [header, name] of [
    ['x-term-id', 'termID'],
    ['x-job-id', 'jobID'],
    ['x-connection-number', 'connectionNumber'],
    ['x-party-number', 'partyNumber'],
  ] as const) {
    const ids = headers.get(header)?.split(',') ?? [];
    const isNumber = name !== 'connectionNumber';
    harvest.take({ [name]: ids.map((id) => (isNumber ? Number(id) : id)) });
  }
}

test(`no operation fails in ${callsWanted} random calls`, async (t) => {
  const server = await startServerProcess(scene);
  const callers: Caller[] = [{ role: null, username: '', token: null }];
  for (const role of roleNames) {
    const caller = await newCaller(role, callers.length);
    callers.push(...Array(role === 'Administrator' ? administratorsShare : 1).fill(caller));
  }
  const tally: Tally = { calls: 0, successes: new Map(), codes: new Map() };
  const unreached = () => operations.filter(([name]) => !tally.successes.has(name));
  const areMostReached = () => unreached().length < operations.length / 2;
  const random = randomFrom(seed);
  const harvest = new Harvest(random, (text) => ownLogin.test(text));
  const sources = { random, harvest, values: new Values(random, harvest) };
  server.watch();
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (tally.calls < callsWanted || (!areMostReached() && tally.calls < callsMax)) {
        const caller = random.pick(callers);
        await makeCall(server.baseUrl, sources, caller, tally);
      }
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const watched = await server.watched();
  const codes = [...tally.codes].sort((a, b) => b[1] - a[1]).map(([code, n]) => `${code} ${n}`);
  t.diagnostic(`seed ${seed}: ${tally.calls} calls in ${seconds.toFixed(0)} s`);
  t.diagnostic(codes.join(', '));
  const names = unreached().map(([name]) => name);
  t.diagnostic(`without a success: ${names.length} of ${operations.length}: ${names.join(', ')}`);
  t.diagnostic(
    `delay of the event loop: 99.9th percentile ${watched.p999Ms.toFixed(0)} ms, at most ` +
      `${watched.maxMs.toFixed(0)} ms; in processor time ${watched.workP999Ms.toFixed(0)} and ` +
      `${watched.workMaxMs.toFixed(0)} ms; memory at most ${watched.rssMb.toFixed(0)} MB`,
  );
  // A long delay with little work is one of the machine: other programs had the processor.
  const byWork = watched.longTurns.sort((a, b) => b.cpuMs - a.cpuMs);
  const worked = byWork.filter(({ cpuMs }) => cpuMs >= 50).length;
  t.diagnostic(
    `${byWork.length} delays above 100 ms, ${worked} of them with 50 ms of work or more`,
  );
  for (const { delayMs, cpuMs, calls } of byWork.slice(0, 20)) {
    const short = calls.map((path) => path.replace('/billing/', ''));
    t.diagnostic(`${delayMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of work): ${short.join(' ')}`);
  }
  assert.equal(server.output(), '', 'the log tells of no error');
  assert.deepEqual([...faults.values()], []);
  assert.ok(watched.workP999Ms <= workMsMax, `${watched.workP999Ms} ms`);
  assert.ok(areMostReached(), 'most operations succeed now and then');
});
