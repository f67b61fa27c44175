// A bill with made-up figures, to see a letterhead and a template before there is any bill.
import type { BillDocument } from './bill-document.ts';

/** What the sample takes from the workspace. Dates are DD/MM/YYYY. */
export type SampleOf = Pick<
  BillDocument,
  | 'serviceCode'
  | 'serviceLabel'
  | 'batchCode'
  | 'termLabel'
  | 'startDate'
  | 'endDate'
  | 'issueDate'
  | 'dueDate'
  | 'currency'
  | 'bankAccounts'
>;

export function sampleBill(of: SampleOf): BillDocument {
  return {
    ...of,
    ...sampleAmounts,
    billID: 1,
    billNumber: 'SAMPLE-000001',
    billRefNo: '1000000015',
    replacesBillNumber: null,
    replacedByBillNumber: null,
    creditNoteNumber: null,
    billType: 'Regular',
    status: 'Published',
    paymentStatus: 'Unpaid',
    termID: 1,
    tariffCode: 'SAMPLE',
    tariffLabel: 'Sample plan',
    connectionID: 1,
    connectionNumber: 'SAMPLE-1',
    connectionRefNo: null,
    connectionGroupID: 1,
    connectionGroupLabel: 'Sample account',
    partyID: 1,
    partyNumber: 100_001,
    partyName: 'Sample Customer',
    address: { buildingNo: '12', street: 'Sample Street', city: 'Sample City' },
    billedFrom: of.startDate,
    billedTo: of.endDate,
    days: 30,
    meterReadings: [],
    usage: [],
    lines: [
      sampleLine(of, { lineNo: 1, label: 'Usage', quantity: '120', rate: '10', amount: 1_200 }),
      sampleLine(of, { lineNo: 2, label: 'Fixed charge', amount: 300 }),
      sampleLine(of, { lineNo: 3, label: 'Sales tax', type: 'Tax', amount: 150 }),
    ],
    surcharges: [],
    sections: [],
    history: [],
  };
}

// 1,200 + 300 + 150 = 1,650; with arrears of 350, 2,000.
const sampleAmounts = {
  previousBalance: 350,
  paymentsReceived: 0,
  arrears: 350,
  currentCharges: 1_650,
  taxAmount: 150,
  adjustments: 0,
  roundingAdjustment: 0,
  billAmount: 1_650,
  totalAmount: 2_000,
  walletApplied: 0,
  payableWithinDueDate: 2_000,
  latePaymentSurcharge: 100,
  payableAfterDueDate: 2_100,
  paidAmount: 0,
  outstandingAmount: 1_650,
  creditBalance: 0,
};

type Line = BillDocument['lines'][number];

function sampleLine(
  { startDate, endDate }: SampleOf,
  own: Pick<Line, 'lineNo' | 'label' | 'amount'> & Partial<Line>,
): Line {
  return {
    component: 'sample',
    type: 'Charge',
    lineType: 'Normal',
    source: 'Computed',
    fromDate: startDate,
    toDate: endDate,
    days: 30,
    quantity: null,
    unit: own.quantity ? 'units' : null,
    rate: null,
    computedAmount: own.amount,
    details: [],
    tariffCode: 'SAMPLE',
    tariffVersion: 1,
    description: null,
    ...own,
  };
}
