// billwright citus: what an operator does on a cluster of several machines.
import pg from 'pg';
import { isCoordinator } from '../base/db/citus/cluster.ts';
import { settle } from '../base/db/citus/settle.ts';
import { rethrowUnconnected } from '../base/db/faults.ts';
import type { Config } from '../config.ts';
import { openForCommand } from './shutdown.ts';
import { citusUsage, UsageError } from './usage.ts';

export async function citusCommand(config: Config, args: readonly string[]): Promise<void> {
  if (args.length !== 1 || args[0] !== 'settle') throw new UsageError(`Usage:\n  ${citusUsage}`);
  const context = await openForCommand(config);
  const { connection } = context.owner;
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : connection),
    application_name: 'billwright settle',
  });
  try {
    await client.connect().catch(rethrowUnconnected);
    if (!(await isCoordinator(client))) {
      process.stdout.write('This database is on one machine: there is nothing to settle.\n');
      return;
    }
    const shards = await settle(client);
    process.stdout.write(`${shards} shards were new on their machine and are settled.\n`);
  } finally {
    await client.end();
    await context.close();
  }
}
