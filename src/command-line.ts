// The command line: what the program can be asked to do, and how it says that it cannot.
import { AppError } from './base/errors.ts';
import { DataFolderInUse } from './base/postgres/embedded.ts';
import { demoCommand, demoUsage } from './commands/demo.ts';
import { writeErrorsPage } from './commands/errors-page.ts';
import { exportCommand, exportUsage, routeSheetCommand } from './commands/export.ts';
import { importCommand, importUsage } from './commands/import.ts';
import { migrateOnly } from './commands/migrate.ts';
import { writeSchema } from './commands/schema.ts';
import { writeSdk } from './commands/sdk.ts';
import { serve } from './commands/serve.ts';
import { start } from './commands/start.ts';
import { UsageError } from './commands/usage.ts';
import { verifyCommand, verifyUsage } from './commands/verify.ts';
import { work } from './commands/work.ts';
import { workspaceCommand, workspaceUsage } from './commands/workspace.ts';
import { type Config, ConfigError, readConfig } from './config.ts';

type Command = (config: Config, args: readonly string[]) => Promise<void>;

const commands = new Map<string, Command>([
  ['start', start],
  ['serve', serve],
  ['work', work],
  ['migrate', migrateOnly],
  ['workspace', workspaceCommand],
  ['demo', demoCommand],
  ['verify', verifyCommand],
  ['import', importCommand],
  ['export', exportCommand],
  ['route-sheet', routeSheetCommand],
  ['schema', writeSchema],
  ['sdk', writeSdk],
  ['errors-page', writeErrorsPage],
]);

const usage = `Usage:
  billwright start     API, worker and, unless DATABASE_URL is set, PostgreSQL, all in one
  billwright serve     the API alone
  billwright work      a worker alone
  billwright migrate   brings the database up to date
  ${workspaceUsage}
  ${demoUsage}
      makes a workspace with sample data: electricity, water, a housing society
  ${verifyUsage}
      checks that nothing is lost, doubled or changed; the exit code is 1 if something is
  ${importUsage}
      takes in a CSV file: all of its rows, or none
  ${exportUsage}

For developers:
  billwright schema    writes migrations/schema.sql from a migrated database
  billwright sdk       writes sdk/routes.ts from the catalogue
  billwright errors-page   writes docs/errors.md from the table of codes

Configuration is by environment: see docs/configuration.md.`;

async function main(): Promise<void> {
  const [name = 'start', ...args] = process.argv.slice(2);
  if (name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const command = commands.get(name);
  if (!command) throw new UsageError(`There is no command '${name}'.\n\n${usage}`);
  await command(readConfig(process.env), args);
}

main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
  // What a person can mend is told in a sentence; a fault of the program with its whole story.
  const isPlain =
    error instanceof ConfigError || error instanceof DataFolderInUse || error instanceof AppError;
  const text = error instanceof Error ? (isPlain ? error.message : describe(error)) : String(error);
  process.stderr.write(`billwright: ${text}\n`);
  process.exit(1);
});

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
