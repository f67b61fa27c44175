// Credit notes are booked and numbered here, whether they credit lines of a bill or cancel it.

import type { Tx } from '../../../base/db/pool.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { book } from '../../ledger/book.ts';
import { componentAccounts } from '../../ledger/component-accounts.ts';
import { fillFormat, printNumber, seriesKey } from '../../tenants/number-format.ts';
import { takeFromSeries } from '../../tenants/number-series-store.ts';
import { takeNumbers } from '../../tenants/numbers-store.ts';
import { findParts } from '../billed-parts.ts';
import { findTermComponents, listPartedBills } from '../components-store.ts';
import type { CreditNote } from '../credit-notes-store.ts';
import { type Besides, type Creditable, type CreditLine, creditBooking } from './credit-bill.ts';
import { type CreditableRow, listCreditableRows, listPaid } from './creditable-store.ts';

/** By id. Their wallets and the bills must be locked, so that nothing of them is paid meanwhile. */
export async function findCreditable(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Map<number, Creditable>> {
  const rows = await listCreditableRows(tx, tenantId, billIds);
  const bills = await listPartedBills(tx, tenantId, billIds);
  const [parts, rules, paid] = [
    await findParts(tx, tenantId, bills),
    await findTermComponents(tx, tenantId, [...new Set(rows.map((row) => row.term_id))]),
    Map.groupBy(await listPaid(tx, tenantId, billIds), (row) => row.bill_id),
  ];
  return new Map(
    rows.map((row) => {
      const { bill_id: billId } = row;
      const creditable = {
        ...headOf(row),
        rules: rules.get(row.term_id) ?? { components: new Map(), method: 'Chronology' as const },
        parts: parts.get(billId) ?? [],
        paid: paid.get(billId) ?? [],
      };
      return [billId, creditable];
    }),
  );
}

function headOf(row: CreditableRow) {
  return {
    billId: row.bill_id,
    billNumber: row.bill_number,
    termId: row.term_id,
    partyId: row.party_id,
    posting: row.posting,
    status: row.status,
    contextType: row.context_type,
    businessUnitId: row.business_unit_id,
  };
}

export type WantedNote = {
  bill: Creditable;
  lines: readonly CreditLine[];
  reason: string;
  reference: string | null;
  cancelsBill: boolean;
  /** What is taken back with the bill. */
  besides?: Besides;
};

const creditNoteFormat = 'CN-{year}-{number:6}';

/** Books credit notes and gives them their numbers; `insertCreditNotes` stores what is returned. */
export async function bookCreditNotes(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedNote[],
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<CreditNote[]> {
  const accountOf = await accountsOf(tx, tenantId, wanted);
  const firstId = await takeNumbers(tx, tenantId, 'credit-note', wanted.length);
  const format = fillFormat(creditNoteFormat, { serviceCode: '', batchCode: '', date: today });
  const series = { kind: 'CreditNote', key: seriesKey(format) } as const;
  const { seriesId, first } = await takeFromSeries(tx, tenantId, series, wanted.length);
  const made = wanted.map((note, index) => {
    const creditNoteId = firstId + index;
    const number = printNumber(format, first + index);
    const head = {
      sourceId: creditNoteId,
      termId: note.bill.termId,
      businessUnitId: note.bill.businessUnitId,
      postingDate: today,
      description: `Credit note ${number}: ${note.reason}`,
    };
    const options = { accountOf, reference: number, besides: note.besides };
    const credit = creditBooking(head, note.bill, note.lines, options);
    return { note, creditNoteId, number, seriesNumber: first + index, ...credit };
  });
  const booked = made.filter(({ booking }) => {
    return booking.entries.length > 0 || booking.against?.length;
  });
  const journalIds = await book(
    tx,
    tenantId,
    booked.map((one) => one.booking),
    stamp,
  );
  return made.map(({ note, creditNoteId, number, seriesNumber, toWallet, ...one }) => ({
    ...{ creditNoteId, number, seriesId, seriesNumber, toWallet },
    reference: note.reference,
    billId: note.bill.billId,
    partyId: note.bill.partyId,
    amount: note.lines.reduce((sum, line) => sum + line.amount, 0),
    lines: note.lines,
    issueDate: today.toString(),
    reason: note.reason,
    journalId: journalIds[booked.findIndex((other) => other.booking === one.booking)] ?? null,
    rebillTermId: null,
    cancelsBill: note.cancelsBill,
  }));
}

function accountsOf(tx: Tx, tenantId: number, wanted: readonly WantedNote[]) {
  const components = wanted.flatMap(({ bill, lines }) =>
    lines.map(({ component, type }) => ({
      account: bill.rules.components.get(component ?? '')?.account,
      type,
      contextType: bill.contextType,
    })),
  );
  return componentAccounts(tx, tenantId, components);
}
