// A statement of account as a document. It is made on request and not kept: it shows the ledger,
// which is.
import { dateIn, formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import type { Paper } from '../documents/paper.ts';
import { agingIn, agingOf } from '../receivables/aging.ts';
import { statementLine } from '../receivables/statement-line.ts';
import {
  findDisputed,
  findStatement,
  findWallet,
  listOpenAt,
  listStatement,
  type StatementKey,
} from '../receivables/statement-store.ts';
import { findSettings } from '../tenants/store.ts';
import { paperSetting } from './paper-setting.ts';
import { findPaperParty } from './papers-store.ts';

/** Some 100 pages; the CSV file of a statement has no limit. */
const statementEntriesMax = 5_000;

export type WantedStatement = {
  key: StatementKey;
  from: Temporal.PlainDate | null;
  to: Temporal.PlainDate;
  account: string | null;
  connectionNumber: string | null;
};

export async function statementPaper(
  tx: Tx,
  tenantId: number,
  wanted: WantedStatement,
  now: Temporal.Instant,
): Promise<Paper> {
  const { key, from, to, account, connectionNumber } = wanted;
  const days = { from: from?.toString() ?? null, to: to.toString() };
  const found = await findStatement(tx, tenantId, key, days);
  if (found.entries > statementEntriesMax) throw tooLong(found.entries);
  const window = { offset: 0, limit: statementEntriesMax };
  const settings = await findSettings(tx, tenantId);
  const [rows, open, wallet, disputed, party] = await Promise.all([
    listStatement(tx, tenantId, key, days, window),
    listOpenAt(tx, tenantId, key, days.to),
    findWallet(tx, tenantId, key.partyId),
    findDisputed(tx, tenantId, key),
    findPaperParty(tx, tenantId, key.partyId),
  ]);
  const setting = paperSetting(settings);
  const major = (minor: bigint) => majorUnits(minor, setting.currencyDecimals);
  const items = open.map((row) => ({ dueDate: row.due_date, open: BigInt(row.open) }));
  const amounts = rows.map((row) => BigInt(row.amount));
  return {
    setting,
    party: { ...party, connectionNumber },
    statement: {
      account,
      fromDate: from === null ? null : formatDate(from),
      toDate: formatDate(to),
      issuedOn: formatDate(dateIn(now, settings.timezone)),
      openingBalance: major(found.opening),
      entries: rows.map((row) => statementLine(row, found.opening, major)),
      debits: major(sumOf(amounts.filter((amount) => amount > 0n))),
      credits: major(-sumOf(amounts.filter((amount) => amount < 0n))),
      closingBalance: major(found.opening + found.moved),
      walletBalance: major(wallet),
      disputedBalance: major(disputed),
      aging: agingIn(agingOf(items, to), major),
    },
  };
}

function tooLong(entries: number): AppError {
  const has = `The statement has ${entries} entries, and a document at most ${statementEntriesMax}`;
  const message = `${has}. Name a later fromDate, or use export-data with kind Statement`;
  return new AppError('DOCUMENT_TOO_LONG', { message, field: 'fromDate' });
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
