// billwright import-bank-file: takes in the file of a bank, of any size, and posts its lines. If it
// is interrupted, a worker of the server goes on, or the same command does.
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { Encoding } from '../base/csv/decode.ts';
import { tenantTransact } from '../base/db/pool.ts';
import { createLog } from '../base/log.ts';
import { newRequestId } from '../base/request-id.ts';
import { importBankFile, tryBankFile } from '../billrun/import-bank-file.ts';
import { postBankLinesStep } from '../billrun/post-bank-lines.ts';
import type { Config } from '../config.ts';
import { insertAuditEntries } from '../domain/audit/store.ts';
import type { SentFile } from '../domain/bank-files/accept.ts';
import { countsText } from '../domain/bank-files/counts.ts';
import { countLines } from '../domain/bank-files/files-store.ts';
import { type BankFormat, bankFormats } from '../domain/bank-files/statement.ts';
import { advanceJob, type Conductor } from '../jobs/advance-job.ts';
import { findJob, type JobRow } from '../jobs/jobs-store.ts';
import { assertIsFile } from './import.ts';
import { inWorkspace, type Workspace } from './in-workspace.ts';
import { importBankFileUsage, UsageError } from './usage.ts';

type Wanted = { path: string; workspace: string; isDryRun: boolean; file: SentFile };

const by = 'command line';
const encodings: readonly string[] = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'];

export async function importBankFileCommand(
  config: Config,
  args: readonly string[],
): Promise<void> {
  const wanted = parse(args);
  await assertIsFile(wanted.path);
  const began = performance.now();
  const message = await inWorkspace(config, wanted.workspace, (workspace) =>
    wanted.isDryRun ? tryFile(workspace, wanted) : takeFile(workspace, wanted),
  );
  const seconds = (performance.now() - began) / 1_000;
  process.stdout.write(`${message}, in ${seconds.toFixed(1)} s\n`);
}

async function tryFile({ database, tenant, now }: Workspace, { file }: Wanted): Promise<string> {
  const options = { tenant, now, by, onProgress: showRead };
  const { counts, isRepeated } = await tenantTransact(database, tenant.tenantId, (tx) =>
    tryBankFile(tx, file, options),
  );
  const again = isRepeated ? 'The file was imported before: ' : 'Nothing is stored: ';
  return again + countsText(counts);
}

async function takeFile(workspace: Workspace, { file }: Wanted): Promise<string> {
  const { database, tenant, now, realNow } = workspace;
  const { tenantId } = tenant;
  const options = { tenant, now, by, onProgress: showRead };
  const done = await tenantTransact(database, tenantId, async (tx) => {
    const imported = await importBankFile(tx, file, options);
    if (imported.isRepeated) return imported;
    const about = { requestId: newRequestId(), at: realNow, actor: by, address: null };
    const trail = { ...about, actorKind: 'System' as const, operation: 'import-bank-file' };
    const { bankAccountId: bankAccountID, format, name: fileName } = file;
    const after = { bankAccountID, format, fileName };
    const entry = { subject: 'bank file', subjectId: imported.bankFileId, before: null, after };
    await insertAuditEntries(tx, tenantId, trail, [entry]);
    return imported;
  });
  if (done.jobId !== null) await postLines(workspace, done.jobId);
  const counts = await tenantTransact(database, tenantId, (tx) =>
    countLines(tx, tenantId, done.bankFileId),
  );
  return (done.isRepeated ? 'The file was imported before: ' : '') + countsText(counts);
}

/** Beside the workers of a server that runs, if there is one. */
async function postLines({ database, tenant, realNow }: Workspace, jobId: number): Promise<void> {
  const { tenantId } = tenant;
  const conductor = {
    database,
    log: createLog({ level: 'error' }),
    worker: `command line ${process.pid}`,
    trying: new Map(),
    unnoted: new Map(),
    steps: new Map([[postBankLinesStep.operation, postBankLinesStep]]),
    // Posting lines needs nothing but the database.
    tools: { isStopping: () => false } as unknown as Conductor['tools'],
  };
  const look = () => tenantTransact(database, tenantId, (tx) => findJob(tx, tenantId, jobId));
  for (let job = await look(); job && isOpen(job); job = await look()) {
    showPosted(job);
    const clock = { now: () => realNow };
    const open = { job_id: jobId, status: job.status as 'Scheduled' | 'Running' };
    const hasWorked = await advanceJob(conductor, tenant, clock, open);
    if (!hasWorked) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  const ended = await look();
  if (ended?.status !== 'Succeeded') {
    const reason = ended?.error?.message ?? 'the job was cancelled';
    throw new Error(`The file is stored, but not all lines are posted: ${reason}.`);
  }
}

/** While workers of a server do what is left. */
const pauseMs = 200;

function isOpen({ status }: JobRow): boolean {
  return status === 'Scheduled' || status === 'Running';
}

/** In a terminal, as one line that is overwritten. */
function showRead(lines: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${lines} lines read `);
}

function showPosted({ done, total }: JobRow): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total} lines posted `);
}

function parse(args: readonly string[]): Wanted {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        workspace: { type: 'string' },
        account: { type: 'string' },
        format: { type: 'string' },
        mapping: { type: 'string' },
        encoding: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
      },
    });
    const [path, more] = positionals;
    const { workspace, account = '', encoding } = values;
    if (!path) throw new Error('Name the file.');
    if (more) throw new Error(`'${more}' is one argument too many.`);
    if (!workspace) throw new Error('--workspace is needed.');
    if (!/^[1-9]\d{0,14}$/.test(account)) throw new Error('--account is the id of a bank account.');
    const format = bankFormats.find((one) => one === values.format?.toUpperCase());
    if (!format) throw new Error(`--format is one of ${bankFormats.join(', ')}.`);
    if (encoding !== undefined && !encodings.includes(encoding)) {
      throw new Error(`--encoding is one of ${encodings.join(', ')}.`);
    }
    const file = fileOf(path, format, { account, mapping: values.mapping, encoding });
    return { path, workspace, isDryRun: values['dry-run'], file };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${importBankFileUsage}`);
  }
}

function fileOf(
  path: string,
  format: BankFormat,
  given: { account: string; mapping: string | undefined; encoding: string | undefined },
): SentFile {
  return {
    bankAccountId: Number(given.account),
    format,
    name: basename(path),
    mappingName: given.mapping ?? null,
    encoding: (given.encoding as Encoding | undefined) ?? null,
    bytes: () => createReadStream(path) as AsyncIterable<Uint8Array>,
  };
}
