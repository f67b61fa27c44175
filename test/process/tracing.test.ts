// What the program sends to a collector of traces: calls with their statements, and chunks of jobs.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createClient } from '../../sdk/client.ts';
import { demoLogin as demo } from '../../src/domain/access/demo-login.ts';
import { type CollectedSpan, openCollector } from '../support/collector.ts';
import { makeFlatOffer, makeFlatTerm } from '../support/flat-offer.ts';
import { demoClient, finish, openPlace, takePort } from '../support/program.ts';

const place = await openPlace();
const collector = await openCollector();
after(() => collector.close());
const { spans } = collector;

const callerTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpan = '00f067aa0ba902b7';
const secretName = 'A name for the eyes of the utility';

const childrenOf = (span: CollectedSpan | undefined) =>
  spans.filter((one) => one.parentId === span?.spanId && one.traceId === span?.traceId);

test('calls, their statements and chunks of jobs arrive at the collector', async () => {
  const program = place.run(['start'], {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'billing of the north',
    LOG_LEVEL: 'debug',
  });
  const base = await program.ready();
  const client = await demoClient(base);
  await makeParty(base, secretName);
  await assert.rejects(client.getUsers({ partyNumber: 1 }));
  await makeFlatOffer(client);
  const termID = await makeFlatTerm(client, '01');
  await client.generateBills({ operation: 'schedule', data: { termID, sheduleTime: null } });
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null });

  assert.deepEqual([...new Set(spans.map(({ service }) => service))], ['billing of the north']);
  const made = spans.find(({ parentId }) => parentId === callerSpan);
  assert.equal(made?.traceId, callerTrace);
  assert.equal(made?.name, 'POST /billing/users/make-users');
  assert.equal(made?.attributes['billwright.workspace'], demo.workspace);
  assert.equal(made?.attributes['billwright.action'], 'Create Parties');
  const inserts = childrenOf(made).filter(({ name }) => name === 'INSERT');
  assert.ok(inserts.length > 0, 'its statements belong to it');
  assert.match(String(inserts[0]?.attributes['db.query.text']), /^\s*insert into/);

  const refused = spans.find(({ attributes }) => attributes['error.type'] === 'PARTY_NOT_FOUND');
  assert.equal(refused?.name, 'POST /billing/users/get-users');
  assert.equal(refused?.failed, false, 'a refused call is no failure of the server');

  const chunks = spans.filter(({ name }) => name === 'job generate-bills');
  assert.ok(chunks.length >= 3, 'the job began, worked on a chunk and ended');
  assert.ok(chunks.every((chunk) => childrenOf(chunk).length > 0));
  assert.ok(chunks.every(({ attributes }) => Number(attributes['billwright.job_id']) > 0));

  const logged = program.output().split('\n');
  const line = logged.find((one) => one.includes(callerTrace));
  assert.match(line ?? '', /"msg":"call"/, 'lines of the log name the trace');
});

test('no value that a customer sent is in a trace', () => {
  assert.ok(!JSON.stringify(spans).includes(secretName));
  assert.ok(!JSON.stringify(spans).includes(demo.password));
});

test('the program serves and ends in time when the collector is away', async () => {
  const { port, free } = await takePort();
  await free();
  const program = place.run(['serve'], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'info',
  });
  await demoClient(await program.ready());
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null });
  assert.match(program.output(), /the last traces could not be sent/);
});

test('an address that is none is refused at the start', async () => {
  const program = place.run(['serve'], { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' });
  const { code, output } = await finish(program);
  assert.equal(code, 1);
  assert.match(output, /OTEL_EXPORTER_OTLP_ENDPOINT must be a url such as/);
});

async function makeParty(baseUrl: string, name: string): Promise<void> {
  const traceparent = `00-${callerTrace}-${callerSpan}-01`;
  const visitor = { 'X-Workspace': demo.workspace };
  const client = createClient({ baseUrl, headers: { ...visitor, traceparent } });
  const { username, password } = demo;
  const { data } = await createClient({ baseUrl, headers: visitor }).login({ username, password });
  client.useToken(data.accessToken);
  await client.makeUsers({ userType: 'customer', users: [{ name }] });
}
