// billwright import: imports a CSV file of any size.
import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { dateIn } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Encoding } from '../base/csv/decode.ts';
import { csvLines, lineEnd } from '../base/csv/write.ts';
import { tenantTransact } from '../base/db/pool.ts';
import { newRequestId } from '../base/request-id.ts';
import type { Config } from '../config.ts';
import { insertAuditEntries } from '../domain/audit/store.ts';
import { type Imported, importFile } from '../domain/imports/import-file.ts';
import type { LineProblem } from '../domain/imports/import-rows.ts';
import { type ImportKind, importKinds, loaders } from '../operations/imports/kind-fields.ts';
import { inWorkspace, type Workspace } from './in-workspace.ts';
import { importUsage, UsageError } from './usage.ts';

const encodings: readonly string[] = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'];

/** Problems that are printed; --errors writes all of them. */
const printedMax = 20;

type Wanted = {
  kind: ImportKind;
  path: string;
  workspace: string;
  isDryRun: boolean;
  isAgain: boolean;
  encoding: Encoding | null;
  errors: string | undefined;
};

export async function importCommand(config: Config, args: readonly string[]): Promise<void> {
  const wanted = parse(args);
  await assertIsFile(wanted.path);
  const began = performance.now();
  const done = await inWorkspace(config, wanted.workspace, (workspace) => take(workspace, wanted));
  const seconds = Math.max(0.001, (performance.now() - began) / 1000);
  if (done.problems.length > 0) {
    await tell(done.problems, wanted);
    process.exitCode = 1;
    return;
  }
  const what = wanted.isDryRun ? 'can be imported' : 'imported';
  const rate = Math.round(done.rows / seconds);
  process.stdout.write(
    `${counted(done.rows, 'row')} ${what}, in ${seconds.toFixed(1)} s (${rate} rows/s)\n`,
  );
}

export async function assertIsFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${path}.`) : error;
  });
  if (found.isDirectory()) throw new Error(`${path} is a folder, not a file.`);
}

function take({ database, tenant, now, realNow }: Workspace, wanted: Wanted): Promise<Imported> {
  const stamp = { at: now, by: 'command line' };
  const { tenantId } = tenant;
  return tenantTransact(database, tenantId, async (tx) => {
    const today = dateIn(now, tenant.timezone);
    const loader = loaders[wanted.kind]({ tx, tenant, today, stamp });
    const name = basename(wanted.path);
    const file = {
      kind: wanted.kind,
      name,
      encoding: wanted.encoding,
      bytes: () => createReadStream(wanted.path) as AsyncIterable<Uint8Array>,
    };
    const { isDryRun, isAgain } = wanted;
    const options = { isDryRun, isAgain, onProgress: showProgress };
    const done = await importFile(tx, tenant, file, loader, options, stamp);
    if (done.importId === null) return done;
    const trail = {
      requestId: newRequestId(),
      at: realNow,
      actor: stamp.by,
      actorKind: 'System' as const,
      address: null,
      operation: `import ${wanted.kind}`,
    };
    const after = { kind: wanted.kind, rows: done.rows, fileName: name };
    const entry = { subject: 'import', subjectId: done.importId, before: null, after };
    await insertAuditEntries(tx, tenantId, trail, [entry]);
    return done;
  });
}

/** In a terminal, as one line that is overwritten. */
function showProgress(rows: number, problems: number): void {
  if (!process.stderr.isTTY) return;
  const bad = problems === 0 ? '' : `, ${counted(problems, 'problem')}`;
  process.stderr.write(`\r${counted(rows, 'row')}${bad} `);
}

async function tell(problems: readonly LineProblem[], { path, errors }: Wanted): Promise<void> {
  const bad = new Set(problems.map((problem) => problem.line)).size;
  process.stderr.write(`\nNothing was imported: ${path} has ${counted(bad, 'bad row')}.\n`);
  for (const { line, column, code, message } of problems.slice(0, printedMax)) {
    const place = column === null ? `line ${line}` : `line ${line}, ${column}`;
    process.stderr.write(`  ${place}: ${message} (${code})\n`);
  }
  if (problems.length > printedMax) {
    process.stderr.write(`  and ${problems.length - printedMax} more\n`);
  }
  if (errors === undefined) return;
  const header = ['line', 'column', 'code', 'message', 'value'];
  const rows = problems.map(({ line, column, code, message, rejectedValue }) => {
    const value = rejectedValue === undefined ? null : String(rejectedValue);
    return [line, column, code, message, value];
  });
  await writeFile(errors, `\ufeff${csvLines([header, ...rows]).join(lineEnd)}${lineEnd}`);
  process.stderr.write(`All of them are in ${errors}.\n`);
}

function parse(args: readonly string[]): Wanted {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        workspace: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        again: { type: 'boolean', default: false },
        encoding: { type: 'string' },
        errors: { type: 'string' },
      },
    });
    const [word = '', path] = positionals;
    const kind = importKinds.find((one) => one.toLowerCase() === word.toLowerCase());
    if (!kind || !path) throw new Error('Say what to import, and from which file.');
    if (positionals.length > 2) throw new Error(`'${positionals[2]}' is one argument too many.`);
    if (!values.workspace) throw new Error('--workspace is needed.');
    if (values.encoding !== undefined && !encodings.includes(values.encoding)) {
      throw new Error(`--encoding is one of ${encodings.join(', ')}.`);
    }
    return {
      kind,
      path,
      workspace: values.workspace,
      isDryRun: values['dry-run'],
      isAgain: values.again,
      encoding: (values.encoding as Encoding | undefined) ?? null,
      errors: values.errors,
    };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${importUsage}`);
  }
}
