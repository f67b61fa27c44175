import { type ChildProcess, fork } from 'node:child_process';
import type { Config } from '../config.ts';
import { openApiDatabase, openContext, prepareDatabase } from '../context.ts';
import { demo, ensureDemo } from './demo/workspace.ts';
import { keepWorker } from './keep-worker.ts';
import { assertMayListen, hasDefaultPassword, listen } from './listen.ts';
import { forgetAddress, portOf } from './server-address.ts';
import { expectStop, stopInOrder } from './shutdown.ts';

/** Everything in one: PostgreSQL if none is given, the API here, the worker in its own process. */
export async function start(config: Config): Promise<void> {
  const requests = expectStop();
  const context = await openContext(config, { use: 'claim' });
  const database = openApiDatabase(context);
  try {
    await prepareDatabase(context);
    await ensureDemo(context);
    await assertMayListen(context);
    // Before anybody can ask for a stop, which closes the database.
    const isDemo = await hasDefaultPassword(database);
    const server = await listen(context, database);
    const worker = keepWorker(context.log, startWorker);
    stopInOrder(requests, context.log, [
      () => forgetAddress(config),
      () => server.close(),
      () => worker.stop(),
      () => database.close(),
      context.close,
    ]);
    printWelcome(config, portOf(server, config), { isDemo });
  } catch (error) {
    await database.close();
    await context.close();
    throw error;
  }
}

/**
 * A bill run makes and drops memory as fast as it can. Node begins with little room for what is
 * young and takes what is in use there for old, which costs a sixth of the speed. It also clears up
 * with several threads at once, which wait for each other where PostgreSQL keeps the processors
 * busy: at times that doubles the time of a run.
 */
const workerMemory = [
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
  '--no-parallel-scavenge',
];

function startWorker(): ChildProcess {
  return fork(new URL('../main.ts', import.meta.url), ['work'], {
    stdio: 'inherit',
    execArgv: [...process.execArgv, ...workerMemory],
  });
}

function printWelcome(config: Config, port: number, { isDemo }: { isDemo: boolean }): void {
  const workspace = isDemo ? demo.workspace : 'WORKSPACE';
  const base = `http://${workspace}.${config.domain}:${port}`;
  const { username, password } = demo;
  const login = { method: 'Login', action: 'Login User', apiVersion: 'v2', username, password };
  const trial = `  Workspace  ${demo.workspace}, login ${username} with password ${password}

Try:
  curl -s ${base}/billing/auth/login -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(login)}'
`;
  process.stdout.write(`
Billwright is ready.

  API        ${base}/billing/...
  Reference  ${base}/docs
${isDemo ? trial : ''}
Stop with Ctrl-C.
`);
}
