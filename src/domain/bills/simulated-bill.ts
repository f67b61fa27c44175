// A bill that is rated and not stored, in the form of one that is.
import { type Bill, type BillLine, inMajorUnits } from '../rating/bill.ts';
import type { PresentedLine } from './bill-forms.ts';

/** A rated bill that is not stored: it has no number, no owner, and nothing is paid of it. */
export function presentSimulatedBill(rated: Bill, of: { serviceLabel: string; isHeld: boolean }) {
  const { currencyScale: _, segments: _segments, explanation, ...bill } = inMajorUnits(rated);
  const lines = (items: readonly BillLine[]): PresentedLine[] =>
    items.map(({ basis: _basis, ...line }) => ({ ...line, details: [...line.details] }));
  const presented = {
    billNumber: null,
    billRefNo: null,
    batchCode: null,
    connectionRefNo: null,
    connectionGroupLabel: null,
    partyName: null,
    address: null,
    issueDate: null,
    history: [],
    bankAccounts: [],
    documents: [],
    deliveries: [],
    billType: 'Regular',
    paymentStatus: 'Unpaid',
    serviceLabel: of.serviceLabel,
    sections: [],
    previousBalance: bill.arrears,
    paymentsReceived: 0,
    adjustments: 0,
    paidAmount: 0,
    outstandingAmount: bill.status === 'Error' ? 0 : bill.billAmount,
    ...bill,
    meterReadings: [...bill.meterReadings],
    usage: [...bill.usage],
    lines: lines(bill.lines),
    surcharges: lines(bill.surcharges),
    errors: [...bill.errors],
    hold: of.isHeld ? 1 : 0,
  };
  return { bill: presented, explanation };
}
