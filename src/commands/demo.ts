// billwright demo: a workspace full of sample data, of any size.
import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { openOwnerDatabase, prepareDatabase } from '../context.ts';
import { demo, makeDemo } from './demo/workspace.ts';
import { openForCommand } from './shutdown.ts';
import { demoSubscriptions, demoUsage, UsageError } from './usage.ts';

const subscriptionsMax = 10_000_000;

export async function demoCommand(config: Config, args: readonly string[]): Promise<void> {
  if (args[0] === 'run') return runCommand(config, args.slice(1));
  const { workspace, subscriptions } = parse(args);
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      const began = performance.now();
      const tenantId = await makeDemo(context, database, {
        workspace,
        subscriptions,
        onProgress: (done) => showProgress(done, subscriptions),
      });
      const { makeYear } = await import('./demo/year.ts');
      await makeYear(context, tenantId, { onMonth: showMonths });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(
        `\nWorkspace ${workspace} has its subscriptions after ${seconds} s; ` +
          `log in as ${demo.username} with password ${demo.password}.\n`,
      );
    } finally {
      await database.close();
    }
  } finally {
    await context.close();
  }
}

async function runCommand(config: Config, args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new UsageError(demoUsage);
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    // It needs a server and a worker, which sample data alone does not.
    const { runDemo } = await import('./demo/run.ts');
    await runDemo(context);
  } finally {
    await context.close();
  }
}

function parse(args: readonly string[]): { workspace: string; subscriptions: number } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        workspace: { type: 'string', default: demo.workspace },
        subscriptions: { type: 'string', default: String(demoSubscriptions) },
      },
    });
    const subscriptions = Number(values.subscriptions);
    if (!Number.isInteger(subscriptions) || subscriptions < 1 || subscriptions > subscriptionsMax) {
      throw new Error(`--subscriptions must be a number from 1 to ${subscriptionsMax}`);
    }
    return { workspace: values.workspace.toLowerCase(), subscriptions };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${demoUsage}`);
  }
}

function showMonths(done: number, total: number): void {
  if (!process.stdout.isTTY && done < total) return;
  process.stdout.write(
    `${done === 1 ? '\n' : '\r'}Bills and payments of ${done} of ${total} months`,
  );
}

/** One line that grows; on a terminal that cannot go back it is printed once at the end. */
function showProgress(done: number, total: number): void {
  if (!process.stdout.isTTY && done < total) return;
  const percent = Math.floor((Math.min(done, total) / total) * 100);
  process.stdout.write(`\r${done.toLocaleString('en')} subscriptions, ${percent} %`);
}
