// billwright export and billwright route-sheet: CSV files of any size, to a file or to the output.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import { lineEnd } from '../base/csv/write.ts';
import { tenantTransact } from '../base/db/pool.ts';
import { writeNamedFile } from '../base/whole-file.ts';
import type { Config } from '../config.ts';
import { exportKinds, exportLines, isDated, type Read } from '../domain/exports/export-lines.ts';
import { sheetLines, stopsOf } from '../domain/exports/route-sheet.ts';
import { requireStatementKey } from '../operations/statements/statement-fields.ts';
import { dateOption } from './date-option.ts';
import { inWorkspace, type Workspace } from './in-workspace.ts';
import { exportUsage, refuseMore, UsageError } from './usage.ts';

/** By which spreadsheets know that the file is UTF-8. */
const mark = '\ufeff';

export async function exportCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, ['from', 'until', 'party', 'connection', 'account']);
  const kind = exportKinds.find((one) => one.toLowerCase() === positionals[0]?.toLowerCase());
  if (!kind) throw new UsageError(`Say what to export.\n\n${exportUsage}`);
  refuseMore(positionals, 1, exportUsage);
  const days = { from: dateOption(values.from, '--from'), to: dateOption(values.until, '--until') };
  if (!isDated(kind) && (days.from ?? days.to) !== null) {
    throw new UsageError(`${kind} have no days: leave out --from and --until.\n\n${exportUsage}`);
  }
  if (kind !== 'Statement' && (values.party ?? values.connection ?? values.account)) {
    const message = 'Leave out --party, --connection and --account: they are for a statement.';
    throw new UsageError(`${message}\n\n${exportUsage}`);
  }
  await inWorkspace(config, workspaceOf(values), async (workspace) => {
    const today = dateIn(workspace.now, workspace.tenant.timezone);
    const statement = kind === 'Statement' ? await statementKey(workspace, values) : undefined;
    const wanted = { kind, days, today, statement };
    await write(exportLines(readerOf(workspace), workspace.tenant, wanted), values.to);
  });
}

export async function routeSheetCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, ['service', 'batch', 'since', 'date']);
  refuseMore(positionals, 0, exportUsage);
  const { service } = values;
  if (!service) throw new UsageError(`--service is needed.\n\n${exportUsage}`);
  const [since, date] = [dateOption(values.since, '--since'), dateOption(values.date, '--date')];
  await inWorkspace(config, workspaceOf(values), async (workspace) => {
    const { tenantId, timezone } = workspace.tenant;
    const today = dateIn(workspace.now, timezone);
    const key = { contextCode: service, batchCode: values.batch ?? null };
    const sheet = { ...key, since, date: date ?? today, today, termId: null };
    const read = readerOf(workspace);
    const stops = await stopsOf(read, tenantId, sheet);
    await write(sheetLines(read, tenantId, stops, sheet), values.to);
    process.stderr.write(`${counted(stops.length, 'register')} to be read.\n`);
  });
}

type Whose = { party?: string; connection?: string; account?: string };

/** Whose statement it is: a party, a billing account of it, or a subscription. */
async function statementKey(workspace: Workspace, { party, connection, account }: Whose) {
  const { tenant } = workspace;
  if (party === undefined && (connection === undefined || account !== undefined)) {
    throw new UsageError(`Say whose statement: --party or --connection.\n\n${exportUsage}`);
  }
  const partyNumber = party === undefined ? null : Number(party);
  if (partyNumber !== null && !Number.isSafeInteger(partyNumber)) {
    throw new UsageError(`--party is a number, such as 100001.\n\n${exportUsage}`);
  }
  const sent = {
    partyNumber,
    connectionNumber: connection ?? null,
    connectionGroupLabel: account ?? null,
  };
  return readerOf(workspace)((tx) => requireStatementKey({ tx, tenant, ownPartyId: null }, sent));
}

function readerOf({ database, tenant }: Workspace): Read {
  return (work) => tenantTransact(database, tenant.tenantId, work);
}

async function write(chunks: AsyncIterable<string[]>, path: string | undefined): Promise<void> {
  const text = async function* () {
    yield mark;
    for await (const lines of chunks) {
      if (lines.length > 0) yield `${lines.join(lineEnd)}${lineEnd}`;
    }
  };
  if (path === undefined) await print(text());
  else await writeNamedFile(path, text());
}

async function print(texts: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(texts), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    throw new Error('the program that reads the output ended before all of it was written');
  }
}

/** Each command has options of its own, besides those of both. */
function parse<Name extends string>(args: readonly string[], own: readonly Name[]) {
  try {
    const names = ['workspace', 'to', ...own] as const;
    const text = { type: 'string' } as const;
    const options = Object.fromEntries(names.map((name) => [name, text]));
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    return { values: values as Partial<Record<(typeof names)[number], string>>, positionals };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${exportUsage}`);
  }
}

function workspaceOf(values: { workspace?: string }): string {
  if (values.workspace) return values.workspace;
  throw new UsageError(`--workspace is needed.\n\n${exportUsage}`);
}
