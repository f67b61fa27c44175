// billwright ledger: the trial balance, and the journals of a closed month as a file.
import { parseArgs } from 'node:util';
import { dateIn, formatDate } from '../base/calendar.ts';
import { tenantTransact } from '../base/db/pool.ts';
import { writeNamedFile } from '../base/whole-file.ts';
import type { Config } from '../config.ts';
import type { Read } from '../domain/exports/export-lines.ts';
import { monthFile, monthFormats } from '../domain/exports/month-file.ts';
import { parseMonth } from '../domain/ledger/months.ts';
import { findLastClosedMonth } from '../domain/ledger/months-store.ts';
import { findTrialBalance } from '../domain/ledger/trial-balance.ts';
import { dateOption } from './date-option.ts';
import { inWorkspace } from './in-workspace.ts';
import { trialBalanceLines } from './trial-balance.ts';
import { ledgerUsage, refuseMore, UsageError } from './usage.ts';

export async function ledgerCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const [what] = positionals;
  if (what !== 'trial-balance' && what !== 'export-month') {
    const message = `'ledger' needs the word 'trial-balance' or 'export-month'.`;
    throw new UsageError(`${message}\n\n${ledgerUsage}`);
  }
  refuseMore(positionals, 1, ledgerUsage);
  const { workspace: name } = values;
  if (!name) throw new UsageError(`--workspace is needed.\n\n${ledgerUsage}`);
  const command = what === 'trial-balance' ? printTrialBalance : exportMonth;
  await command(config, name, values);
}

type Values = ReturnType<typeof parse>['values'];

async function exportMonth(config: Config, name: string, values: Values): Promise<void> {
  const month = parseMonth(values.month ?? '');
  if (!month) throw new UsageError(`--month is needed, as MM/YYYY.\n\n${ledgerUsage}`);
  const wanted = (values.format ?? 'CSV').toUpperCase();
  const format = monthFormats.find((one) => one === wanted);
  if (!format) throw new UsageError(`--format is CSV or IIF.\n\n${ledgerUsage}`);
  await inWorkspace(config, name, async ({ database, tenant }) => {
    const read: Read = (work) => tenantTransact(database, tenant.tenantId, work);
    const last = await read((tx) => findLastClosedMonth(tx, tenant.tenantId));
    if (!last || Temporal.PlainDate.compare(month, last) > 0) {
      throw new Error(`${values.month} is still open: close it first.`);
    }
    const pieces = monthFile(read, tenant, { month, format });
    if (values.to) await writeNamedFile(values.to, pieces);
    else for await (const piece of pieces) process.stdout.write(piece);
  });
}

async function printTrialBalance(config: Config, name: string, values: Values): Promise<void> {
  const { account } = values;
  const [from, until] = [dateOption(values.from, '--from'), dateOption(values.until, '--until')];
  await inWorkspace(config, name, async ({ database, tenant, now }) => {
    const { tenantId, timezone, currency, currencyDecimals: decimals } = tenant;
    const to = until ?? dateIn(now, timezone);
    if (from && Temporal.PlainDate.compare(from, to) > 0) {
      throw new UsageError(`--from is ${formatDate(from)}, after ${formatDate(to)}.`);
    }
    const query = { from, to, accountCode: account ?? null };
    const balance = await tenantTransact(database, tenantId, (tx) =>
      findTrialBalance(tx, tenantId, query),
    );
    if (account !== undefined && balance.accounts.length === 0) {
      throw new Error(`${name} has no ledger account with the code ${account}.`);
    }
    const days = from ? `from ${formatDate(from)} to ${formatDate(to)}` : `as of ${formatDate(to)}`;
    const lines = trialBalanceLines(balance, { decimals, withEmpty: account !== undefined });
    process.stdout.write(
      [`Trial balance of ${name}, ${days}, in ${currency}`, ...lines, ''].join('\n'),
    );
  });
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const days = { from: text, until: text, month: text };
  const options = { workspace: text, ...days, account: text, format: text, to: text };
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${ledgerUsage}`);
  }
}
