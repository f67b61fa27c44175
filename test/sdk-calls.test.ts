// What the typed client sends, and how it handles answers that are not from the service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../sdk/client.ts';

const envelope = { success: true, statusCode: 200, message: '0 found', error: null, data: [] };

/** A client whose calls are kept and all get this text. */
function clientOf(baseUrl: string, text = JSON.stringify(envelope), status = 200) {
  const sent: { url: string; token: string | null }[] = [];
  const client = createClient({
    baseUrl,
    token: 'own',
    fetch: async (input, init) => {
      const token = new Headers(init?.headers).get('Authorization');
      sent.push({ url: String(input), token });
      return new Response(text, { status });
    },
  });
  return { client, sent };
}

test('paths are added to the base address, whatever it ends with', async () => {
  for (const base of ['https://acme.example.com', 'https://example.com/gate', 'http://a.b:1/c/d']) {
    for (const end of ['', '/']) {
      const { client, sent } = clientOf(base + end);
      await client.listBillingGroups();
      assert.equal(sent[0]?.url, `${base}/billing/billing-groups`);
    }
  }
});

test('a call takes the token of the client, another one, or none', async () => {
  const { client, sent } = clientOf('http://a.localhost');
  await client.listBillingGroups();
  await client.listBillingGroups({}, { token: 'other' });
  await client.listBillingGroups({}, { token: null });
  client.useToken(null);
  await client.listBillingGroups();
  assert.deepEqual(
    sent.map(({ token }) => token),
    ['own', 'other', null, null],
  );
});

test('an answer that is not from the service is reported as such, with the status', async () => {
  for (const text of ['<html>Bad Gateway</html>', '', 'null', '7', '{}', '{"success":false}']) {
    const { client } = clientOf('http://a.localhost', text, 502);
    await assert.rejects(client.listBillingGroups(), {
      message: 'not an answer of the billing service: 502',
    });
  }
});
