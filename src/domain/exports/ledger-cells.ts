// Bills, journals and the audit trail as cells of a CSV file.
import { formatTimestamp } from '../../base/calendar.ts';
import type { Cell } from '../../base/csv/write.ts';
import { wireDay } from '../../base/days.ts';
import { amountText } from '../../base/money.ts';
import type { AuditRow } from '../audit/store.ts';
import { billReference } from '../bills/reference.ts';
import type { JobTenant } from '../tenants/tenant.ts';
import type { BillExportRow, JournalExportRow } from './ledger-store.ts';

const billAmounts = [
  ...['currentCharges', 'taxAmount', 'roundingAdjustment', 'billAmount', 'arrears'],
  ...['walletApplied', 'payableWithinDueDate', 'paidAmount', 'outstandingAmount'],
];

export const ledgerColumns = {
  Bills: [
    ...['billID', 'billNumber', 'billRefNo', 'billType', 'status', 'paymentStatus', 'serviceCode'],
    ...['batchCode', 'termID', 'termLabel', 'startDate', 'endDate', 'billedFrom', 'billedTo'],
    ...['days', 'postingDate', 'issueDate', 'dueDate', 'connectionNumber', 'partyNumber'],
    ...['partyName', 'tariffCode', 'currency', ...billAmounts],
    ...['creditNoteNumber', 'creditNoteDate'],
  ],
  Journals: [
    ...['journalID', 'lineNo', 'postingDate', 'valueDate', 'sourceType', 'sourceID', 'termID'],
    ...['description', 'accountCode', 'accountName', 'component', 'debit', 'credit', 'currency'],
    ...['reversesJournalID', 'createdAt', 'createdBy'],
  ],
  Audit: [
    ...['at', 'requestID', 'actor', 'actorType', 'address', 'operation', 'subject', 'subjectID'],
    ...['before', 'after'],
  ],
} as const;

type Cells = Record<string, Cell>;

export function billCells({ currency, currencyDecimals }: JobTenant) {
  return (row: BillExportRow): Cells => ({
    ...row,
    billRefNo: billReference(row.bill_id),
    currency,
    ...Object.fromEntries(
      billAmounts.map((name) => [name, amountText(BigInt(row[name] ?? 0), currencyDecimals)]),
    ),
  });
}

export function journalCells({ currency, currencyDecimals, timezone }: JobTenant) {
  return (row: JournalExportRow): Cells => {
    const amount = BigInt(row.amount);
    const shown = amountText(amount < 0n ? -amount : amount, currencyDecimals);
    return {
      journalID: row.journal_id,
      lineNo: row.line_number,
      postingDate: wireDay(row.posting_date),
      valueDate: wireDay(row.value_date),
      sourceType: row.source_type,
      sourceID: row.source_id,
      termID: row.term_id,
      description: row.description,
      accountCode: row.account_code,
      accountName: row.account_name,
      component: row.component,
      debit: amount > 0n ? shown : null,
      credit: amount < 0n ? shown : null,
      currency,
      reversesJournalID: row.reverses_journal_id,
      createdAt: formatTimestamp(row.created_at, timezone),
      createdBy: row.created_by,
    };
  };
}

export function auditCells({ timezone }: JobTenant) {
  return (row: AuditRow): Cells => ({
    at: formatTimestamp(row.at, timezone),
    requestID: row.request_id,
    actor: row.actor,
    actorType: row.actor_kind,
    address: row.address,
    operation: row.operation,
    subject: row.subject,
    subjectID: row.subject_id,
    before: row.before && JSON.stringify(row.before),
    after: row.after && JSON.stringify(row.after),
  });
}
