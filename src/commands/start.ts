import { type ChildProcess, fork } from 'node:child_process';
import { type Database, plainOpening, transact } from '../base/db/pool.ts';
import { readDkimKey } from '../base/mail/dkim-key.ts';
import { typedBefore } from '../base/program-version.ts';
import type { Config } from '../config.ts';
import {
  type Context,
  openApiDatabase,
  openContext,
  openOwnerDatabase,
  prepareDatabase,
} from '../context.ts';
import { hasDefaultPassword } from '../domain/access/default-password.ts';
import { listWorkspaces } from '../domain/tenants/store.ts';
import { demo, ensureDemo } from './demo/workspace.ts';
import { keepWorker } from './keep-worker.ts';
import { assertMayListen, listen } from './listen.ts';
import { forgetAddress, portOf } from './server-address.ts';
import { expectStop, stopInOrder } from './shutdown.ts';
import { startUsage, UsageError } from './usage.ts';

/** Everything in one: PostgreSQL if none is given, the API here, the worker in its own process. */
export async function start(config: Config, args: readonly string[]): Promise<void> {
  const isDemoWanted = args.length === 1 && args[0] === '--demo';
  if (args.length > 0 && !isDemoWanted) {
    throw new UsageError(`'start' does not take '${args.join(' ')}'.\n\n${startUsage}`);
  }
  if (config.dkim) readDkimKey(config.dkim.keyFile);
  const requests = expectStop(config);
  const context = await openContext(config, { use: 'claim' });
  let database: Database | undefined;
  try {
    await prepareDatabase(context);
    const opened = openApiDatabase(context);
    database = opened;
    const demoId = await ensureDemo(context, { isWanted: isDemoWanted });
    await assertMayListen(context);
    // Before a stop can be requested, which closes the database.
    const isDemo = await hasDefaultPassword(opened);
    const isEmpty = !isDemo && (await hasNoWorkspace(context));
    const server = await listen(context, opened);
    const worker = keepWorker(context.log, startWorker);
    const year = demoId === undefined ? undefined : makeYearBeside(context, demoId);
    stopInOrder(requests, context.log, [
      () => forgetAddress(config),
      () => server.close(),
      () => worker.stop(),
      async () => year?.stop(),
      () => opened.close(),
      context.close,
    ]);
    printWelcome(config, portOf(server, config), { isDemo, isEmpty });
  } catch (error) {
    await database?.close();
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

/** The year of the demo takes seconds: it is made while the server answers calls already. */
function makeYearBeside(context: Context, tenantId: number): { stop(): Promise<void> } {
  const { log } = context;
  let isStopping = false;
  const onMonth = (month: number, of: number) => {
    if (month < of) log.info({ month, of }, 'bills and payments of the demo');
    else log.info('the demo has a year of bills and payments');
  };
  const made = import('./demo/year.ts')
    .then(({ makeYear }) => makeYear(context, tenantId, { isStopping: () => isStopping, onMonth }))
    .catch((error) => log.error({ err: error }, 'the year of the demo could not be made'));
  return {
    stop() {
      isStopping = true;
      return made;
    },
  };
}

async function hasNoWorkspace(context: Context): Promise<boolean> {
  const owner = openOwnerDatabase(context);
  try {
    const readOnly = { opening: plainOpening, readOnly: true };
    return (await transact(owner, readOnly, (tx) => listWorkspaces(tx))).length === 0;
  } finally {
    await owner.close();
  }
}

const firstWorkspace = `
There is no workspace yet. Make one, in another terminal:
  ${typedBefore} workspace create NAME --admin EMAIL --password PASSWORD
`;

function printWelcome(
  config: Config,
  port: number,
  { isDemo, isEmpty }: { isDemo: boolean; isEmpty: boolean },
): void {
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

  Console    ${base}/
  API        ${base}/billing/...
  Reference  ${base}/docs
${isDemo ? trial : ''}${isEmpty ? firstWorkspace : ''}
Stop with Ctrl-C.
`);
}
