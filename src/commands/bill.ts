// billwright bill preview: how bills of a workspace look with its present letterhead and template.
import { parseArgs } from 'node:util';
import { dateIn } from '../base/calendar.ts';
import { tenantTransact } from '../base/db/pool.ts';
import { writeNamedFile } from '../base/whole-file.ts';
import type { Config } from '../config.ts';
import { previewInput } from '../domain/delivery/preview.ts';
import { renderBill } from '../domain/documents/render-bill.ts';
import { inWorkspace } from './in-workspace.ts';
import { billUsage, refuseMore, UsageError } from './usage.ts';

export async function billCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const [what, path] = positionals;
  if (what !== 'preview') throw new UsageError(`'bill' needs the word 'preview'.\n\n${billUsage}`);
  if (!values.workspace) throw new UsageError(`--workspace is needed.\n\n${billUsage}`);
  if (!path) throw new UsageError(`Name the file to write.\n\n${billUsage}`);
  refuseMore(positionals, 2, billUsage);
  const billId = values.bill === undefined ? null : Number(values.bill);
  if (billId !== null && !(Number.isSafeInteger(billId) && billId > 0)) {
    throw new UsageError(`--bill is the id of a bill, such as 991.\n\n${billUsage}`);
  }
  await inWorkspace(config, values.workspace, async ({ database, tenant, now }) => {
    const wanted = { contextCode: values.service ?? null, billId };
    const today = dateIn(now, tenant.timezone);
    const { input, billNumber } = await tenantTransact(database, tenant.tenantId, (tx) =>
      previewInput(tx, tenant.tenantId, wanted, today),
    );
    await writeNamedFile(path, [renderBill(input)]);
    const shown = billNumber === null ? 'a sample bill' : `bill ${billNumber}`;
    process.stdout.write(`${path} shows ${shown} with the present letterhead and template.\n`);
  });
}

function parse(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    const options = { workspace: text, service: text, bill: text };
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${billUsage}`);
  }
}
