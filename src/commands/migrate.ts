import type { Config } from '../config.ts';
import { prepareDatabase } from '../context.ts';
import { openForCommand } from './shutdown.ts';

/** Brings the database up to date and checks its settings; nothing is served. */
export async function migrateOnly(config: Config): Promise<void> {
  const context = await openForCommand(config, { quiet: false });
  try {
    await prepareDatabase(context);
    process.stdout.write('The database is up to date.\n');
  } finally {
    await context.close();
  }
}
