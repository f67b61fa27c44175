// The demo as `npm start` makes it, with few customers, in the middle of a month.
import { createClient } from '../../sdk/client.ts';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { putToWork } from './demo-at-work.ts';
import { until } from './program.ts';
import { startProgram } from './running-program.ts';
import { type Found, findInWorkspace } from './screens.ts';

export type DemoProgram = { baseUrl: string; found: Found; stop(): Promise<void> };

const yearMs = 300_000;

export async function startDemo(): Promise<DemoProgram> {
  const program = await startProgram({
    logLevel: 'info',
    env: { DEMO_SUBSCRIPTIONS: '60', BILLWRIGHT_WORKSPACE_HEADER: '1' },
  });
  const baseUrl = `http://127.0.0.1:${program.port}`;
  try {
    const hasYear = () => program.output().includes('the demo has a year of bills');
    await until(hasYear, 'the demo has its year', yearMs);
    const headers = { 'X-Workspace': demoLogin.workspace };
    const client = createClient({ baseUrl, headers });
    await client.login(demoLogin).then(({ data }) => client.useToken(data.accessToken));
    await putToWork(client);
    return { baseUrl, found: await findInWorkspace(client), stop: program.stop };
  } catch (error) {
    await program.stop();
    throw error;
  }
}
