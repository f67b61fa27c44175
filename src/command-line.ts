// The command line: finds and runs the command, and reports what went wrong with an exit code.
import { flushCompileCache } from 'node:module';
import { BackupError } from './base/db/backup/format.ts';
import { AppError } from './base/errors.ts';
import { DkimKeyError } from './base/mail/dkim-key.ts';
import { DataFolderInUse } from './base/postgres/claim.ts';
import { isClone, programVersion } from './base/program-version.ts';
import {
  backupUsage,
  billUsage,
  citusUsage,
  demoUsage,
  exportUsage,
  importBankFileUsage,
  importUsage,
  ledgerUsage,
  listenUsage,
  startUsage,
  UsageError,
  verifyUsage,
  workspaceUsage,
} from './commands/usage.ts';
import { type Config, ConfigError, readConfig } from './config.ts';

type Command = (config: Config, args: readonly string[]) => Promise<void>;

/** The code of a command is loaded when it runs: a worker, for example, loads no HTTP server. */
const commands = new Map<string, () => Promise<Command>>([
  ['start', async () => (await import('./commands/start.ts')).start],
  ['serve', async () => (await import('./commands/serve.ts')).serve],
  ['work', async () => (await import('./commands/work.ts')).work],
  ['migrate', async () => (await import('./commands/migrate.ts')).migrateOnly],
  ['workspace', async () => (await import('./commands/workspace.ts')).workspaceCommand],
  ['demo', async () => (await import('./commands/demo.ts')).demoCommand],
  ['verify', async () => (await import('./commands/verify.ts')).verifyCommand],
  ['doctor', async () => (await import('./commands/doctor.ts')).doctorCommand],
  ['backup', async () => (await import('./commands/backup.ts')).backupCommand],
  ['restore', async () => (await import('./commands/backup.ts')).restoreCommand],
  ['import', async () => (await import('./commands/import.ts')).importCommand],
  [
    'import-bank-file',
    async () => (await import('./commands/import-bank-file.ts')).importBankFileCommand,
  ],
  ['export', async () => (await import('./commands/export.ts')).exportCommand],
  ['bill', async () => (await import('./commands/bill.ts')).billCommand],
  ['ledger', async () => (await import('./commands/ledger.ts')).ledgerCommand],
  ['route-sheet', async () => (await import('./commands/export.ts')).routeSheetCommand],
  ['citus', async () => (await import('./commands/citus.ts')).citusCommand],
  ['version', async () => printVersion],
  ['listen', async () => (await import('./commands/listen-events/command.ts')).listenCommand],
  ['schema', async () => (await import('./commands/schema.ts')).writeSchema],
  ['sdk', async () => (await import('./commands/sdk.ts')).writeSdk],
  ['errors-page', async () => (await import('./commands/errors-page.ts')).writeErrorsPage],
]);

/** They write files of the sources. */
const forDevelopers = ['schema', 'sdk', 'errors-page'];

/**
 * Commands without arguments: ignoring extra ones would let the user believe that they had an
 * effect.
 */
const withoutArguments = ['serve', 'work', 'migrate', 'doctor', 'version', ...forDevelopers];

const usage = `Usage:
  ${startUsage}
  billwright serve     the API alone
  billwright work      a worker alone
  billwright migrate   brings the database up to date
  ${backupUsage}
  ${workspaceUsage}
  ${demoUsage}
  ${verifyUsage}
      checks that nothing is lost, doubled or changed; the exit code is 1 if something is
  billwright doctor    looks at settings, database, disk, clocks, workers and mail, and says what
                       to do; the exit code is 1 if there is a problem
  ${importUsage}
      takes in a CSV file: all of its rows, or none
  ${importBankFileUsage}
      takes in the file of a bank, of any size, and posts its lines as payments
  ${exportUsage}
  ${ledgerUsage}
  ${billUsage}
  ${listenUsage}
  ${citusUsage}
  billwright version   prints its version

For developers, in a clone:
  billwright schema    writes migrations/schema.sql from a migrated database
  billwright sdk       writes sdk/routes.ts from the catalogue
  billwright errors-page   writes docs/errors.md from the tables of codes

The exit code is 0 when all went well, 2 when the command line was not understood, 1 otherwise.
Configuration is by environment: see docs/configuration.md.`;

async function main(): Promise<void> {
  const [name = 'start', ...args] = process.argv.slice(2);
  const load = commands.get(name === '--version' ? 'version' : name);
  if (name === 'help' || isHelp(name) || (load && args.some(isHelp))) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  if (!load) throw new UsageError(`There is no command '${name}'.\n\n${usage}`);
  if (args.length > 0 && withoutArguments.includes(name)) {
    throw new UsageError(`'${name}' takes no arguments, not '${args.join(' ')}'.\n\n${usage}`);
  }
  if (forDevelopers.includes(name) && !isClone) {
    throw new UsageError(`'${name}' writes files of the sources, so it runs in a clone only.`);
  }
  const config = readConfig(process.env);
  const command = await load();
  // Now, because a server may run for months, and may be killed in the end.
  flushCompileCache();
  await command(config, args);
}

async function printVersion(): Promise<void> {
  process.stdout.write(`${programVersion}\n`);
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

// The reader may end first, as `head` does. Output after that is lost; the work goes on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const plainErrors = [ConfigError, DataFolderInUse, DkimKeyError, AppError, BackupError];

main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
  // A problem that the user can fix is reported in a sentence; a fault of the program with its
  // stack.
  const isPlain = plainErrors.some((kind) => error instanceof kind);
  const text = error instanceof Error ? (isPlain ? error.message : describe(error)) : String(error);
  process.stderr.write(`billwright: ${text}\n`);
  process.exit(1);
});

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `: ${describe(error.cause)}` : '';
  // Of a host with several addresses, what became of each.
  const parts = error instanceof AggregateError ? error.errors.map(String).join(', ') : '';
  return `${error.message || parts}${cause}`;
}
