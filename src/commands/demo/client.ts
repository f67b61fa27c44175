// The typed client on a server that listens nowhere: the command line asks what any client asks.
import { type Client, createClient } from '../../../sdk/client.ts';
import type { Database } from '../../base/db/pool.ts';
import type { Context } from '../../context.ts';
import { createServer } from '../../http/server.ts';
import { operations } from '../../operations/catalogue.ts';

export type Asked = { billing: Client; close(): Promise<void> };

export async function askAs(
  context: Context,
  database: Database,
  login: { workspace: string; username: string; password: string },
): Promise<Asked> {
  const { config, clock, log } = context;
  // Jobs are watched, not waited for.
  const scheduleWaitSeconds = 0;
  const server = createServer({ ...config, scheduleWaitSeconds, database, operations, clock, log });
  const billing = inProcess(server, `http://${login.workspace}.${config.domain}`);
  const { username, password } = login;
  const { data } = await billing.login({ username, password });
  billing.useToken(data.accessToken);
  return {
    billing,
    async close() {
      await billing.logout();
      await server.close();
    },
  };
}

function inProcess(server: ReturnType<typeof createServer>, baseUrl: string): Client {
  return createClient({
    baseUrl,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      const answer = await server.inject({
        method: 'POST',
        url: url.pathname,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), host: url.host },
        payload: String(init?.body ?? ''),
      });
      const headers = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
      return new Response(answer.body, { status: answer.statusCode, headers });
    },
  });
}
