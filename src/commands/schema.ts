import { writeFile } from 'node:fs/promises';
import pg from 'pg';
import { dumpSchema } from '../base/db/dump-schema.ts';
import { readMigrations } from '../base/db/migrate.ts';
import type { Config } from '../config.ts';
import { prepareDatabase } from '../context.ts';
import { openForCommand } from './shutdown.ts';

/** Writes migrations/schema.sql from a database that has run every migration. */
export async function writeSchema(config: Config): Promise<void> {
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const { connection } = context.owner;
    const client = new pg.Client('url' in connection ? connection.url : connection);
    await client.connect();
    const folder = new URL('../../migrations/', import.meta.url);
    const migrations = await readMigrations(folder);
    const text = await dumpSchema(client, migrations).finally(() => client.end());
    await writeFile(new URL('schema.sql', folder), text);
  } finally {
    await context.close();
  }
}
