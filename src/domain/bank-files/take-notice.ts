// The notice of a gateway becomes a line of a bank file, and is posted at once: as a payment if it
// names its payer for certain, else to Suspense and into the work list, as a line of a bank does.

import { createHash } from 'node:crypto';
import { dateIn } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { minorUnitsFrom } from '../../base/money.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeIds, takeNumbers } from '../tenants/numbers-store.ts';
import type { Tenant } from '../tenants/tenant.ts';
import { insertLines, listFingerprints } from './files-store.ts';
import { countLine, insertDayFile, lockDayFile } from './gateways-store.ts';
import type { Notice } from './notice.ts';
import { postLines } from './post-lines.ts';

export type Gateway = { adapter: string; bankAccountId: number };
export type Taken =
  | { outcome: 'Posted' | 'Repeated'; bankLineId: number | null }
  | { outcome: 'WrongCurrency' | 'WrongAmount' };

export async function takeNotice(
  tx: Tx,
  tenant: Tenant,
  gateway: Gateway,
  notice: Notice,
  stamp: Stamp,
): Promise<Taken> {
  const { tenantId, timezone, currency, currencyDecimals } = tenant;
  if (notice.currency !== currency) return { outcome: 'WrongCurrency' };
  const amount = minorUnitsFrom(notice.amount, currencyDecimals);
  if (amount === undefined || amount <= 0) return { outcome: 'WrongAmount' };
  const today = dateIn(stamp.at, timezone);
  const bankFileId = await openDayFile(tx, tenantId, gateway, today, stamp);
  const fingerprint = hashed(['gateway', gateway.adapter, notice.kind, notice.id]);
  const known = await listFingerprints(tx, tenantId, [fingerprint]);
  if (known.has(fingerprint)) return { outcome: 'Repeated', bankLineId: null };
  const { bank_file_id: fileId, lines } = bankFileId;
  const id = await takeIds(tx, tenantId, 'bank-line', 1);
  const isReversal = notice.kind === 'Reversal';
  const line = {
    ...{ id, number: lines + 1, account: gateway.bankAccountId, content: null, fingerprint },
    date: dayOf(notice, today, timezone).toString(),
    amount: isReversal ? -amount : amount,
    ...{ isReversal, payer: notice.payer, payerAccount: null, text: notice.text },
    ...{ reference: notice.reference, bankId: notice.id, status: 'Received' as const },
  };
  await insertLines(tx, tenantId, fileId, [line]);
  await countLine(tx, tenantId, fileId);
  const range = { firstId: line.number, lastId: line.number };
  await postLines(tx, tenantId, { bankFileId: fileId, range }, { today, stamp });
  return { outcome: 'Posted', bankLineId: id };
}

/** A gateway's clock may be ahead of ours: no payment is dated after today. */
function dayOf(
  { paidAt }: Notice,
  today: Temporal.PlainDate,
  timezone: string,
): Temporal.PlainDate {
  const day = paidAt === null ? today : dateIn(paidAt, timezone);
  return Temporal.PlainDate.compare(day, today) > 0 ? today : day;
}

async function openDayFile(
  tx: Tx,
  tenantId: number,
  { adapter, bankAccountId }: Gateway,
  today: Temporal.PlainDate,
  stamp: Stamp,
): Promise<{ bank_file_id: number; lines: number }> {
  const fileName = `${adapter} ${today}`;
  const sha256 = createHash('sha256').update(`gateway ${fileName}`).digest('hex');
  const file = { bankAccountId, sha256, fileName };
  const found = await lockDayFile(tx, tenantId, file);
  if (found) return found;
  const bankFileId = await takeNumbers(tx, tenantId, 'bank-file', 1);
  await insertDayFile(tx, tenantId, { ...file, bankFileId }, stamp);
  const made = await lockDayFile(tx, tenantId, file);
  if (!made) throw new Error('the file of the day is neither there nor can it be made');
  return made;
}

/** As long as the fingerprints of lines of banks. */
const hashBytes = 16;

function hashed(parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return digest.subarray(0, hashBytes).toString('hex');
}
