// billwright ledger trial-balance: what was debited and credited on each ledger account.
import { parseArgs } from 'node:util';
import { dateIn, formatDate } from '../base/calendar.ts';
import { tenantTransact } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { findTrialBalance } from '../domain/ledger/trial-balance.ts';
import { dateOption } from './date-option.ts';
import { inWorkspace } from './in-workspace.ts';
import { trialBalanceLines } from './trial-balance.ts';
import { ledgerUsage, refuseMore, UsageError } from './usage.ts';

export async function ledgerCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  if (positionals[0] !== 'trial-balance') {
    throw new UsageError(`Say 'trial-balance'.\n\n${ledgerUsage}`);
  }
  refuseMore(positionals, 1, ledgerUsage);
  const { workspace: name, account } = values;
  if (!name) throw new UsageError(`--workspace is needed.\n\n${ledgerUsage}`);
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
  const options = { workspace: text, from: text, until: text, account: text };
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${ledgerUsage}`);
  }
}
