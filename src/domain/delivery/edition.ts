// Which renderer made a document. A change of its layout, of a font or of a library changes the
// bytes of documents; by the hash of bills that never change this can be told from a document that
// was tampered with.
import { hash } from 'node:crypto';
import type { BillDocumentInput, DocumentLine } from '../documents/bill-document.ts';
import { readLetterhead } from '../documents/letterhead.ts';
import { renderBill } from '../documents/render-bill.ts';

const line: DocumentLine = {
  lineNo: 1,
  component: 'energyCharge',
  label: 'Energy – انرجی',
  type: 'Charge',
  lineType: 'Normal',
  source: 'Computed',
  fromDate: '01/07/2025',
  toDate: '31/07/2025',
  days: 31,
  quantity: '404',
  unit: 'kWh',
  rate: '24.5',
  amount: 9898,
  computedAmount: 9898,
  details: [{ quantity: '404', rate: '24.5', amount: '9898' }],
  tariffCode: 'A',
  tariffVersion: 1,
  description: null,
};

const fixedBill: BillDocumentInput = {
  bill: {
    billID: 1,
    billNumber: 'B-1',
    billRefNo: '10000000018',
    billType: 'Regular',
    status: 'Published',
    paymentStatus: 'Unpaid',
    termID: 1,
    termLabel: 'Jul-2025',
    serviceCode: 'E',
    serviceLabel: 'Electricity',
    batchCode: null,
    tariffCode: 'A',
    tariffLabel: 'A-1',
    connectionID: 1,
    connectionNumber: 'E-1',
    connectionRefNo: null,
    connectionGroupID: 1,
    connectionGroupLabel: 'House',
    partyID: 1,
    partyNumber: 100001,
    partyName: 'A. Khan',
    address: { street: 'Mall Road', city: 'Lahore' },
    currency: 'PKR',
    issueDate: '02/08/2025',
    startDate: '01/07/2025',
    endDate: '31/07/2025',
    dueDate: '15/08/2025',
    days: 31,
    meterReadings: [],
    usage: [{ input: 'energy', unit: 'kWh', quantity: '404' }],
    lines: [line],
    previousBalance: 0,
    paymentsReceived: 0,
    arrears: 0,
    currentCharges: 9898,
    taxAmount: 0,
    adjustments: 0,
    roundingAdjustment: 0,
    billAmount: 9898,
    totalAmount: 9898,
    walletApplied: 0,
    payableWithinDueDate: 9898,
    latePaymentSurcharge: 100,
    payableAfterDueDate: 9998,
    paidAmount: 0,
    outstandingAmount: 9898,
    creditBalance: 0,
    surcharges: [],
    sections: [],
    history: [{ label: 'Jun', quantity: '380', amount: 0, paidAmount: 0 }],
    bankAccounts: [{ title: 'Collection', bankName: 'Bank', iban: 'PK00' }],
  },
  letterhead: readLetterhead({ name: 'Utility', country: 'PK', letterhead: {} }),
  locale: 'en',
  template: { body: 'Payable by {{bill.dueDate}}' },
};

const letterhead = readLetterhead({
  name: 'بجلی',
  country: 'US',
  letterhead: { addressLines: ['12 Mall Road'], phone: '+92 42 1', email: 'a@b.c', taxNumber: '7' },
});
const section = { tariffCode: 'A', tariffLabel: 'A-1', meterReadings: [], subtotal: 9898 };

/** With what is laid out otherwise: right to left, in sections, nothing to pay, paid by us. */
const fixedBills: readonly BillDocumentInput[] = [
  fixedBill,
  {
    ...fixedBill,
    letterhead,
    locale: 'ur-PK',
    bill: {
      ...fixedBill.bill,
      connectionNumber: null,
      usage: [],
      lines: [{ ...line, connectionNumber: 'E-1', fromDate: '15/07/2025', days: 17 }],
      sections: [{ ...section, connectionNumber: 'E-1', usage: fixedBill.bill.usage }],
      history: [{ label: 'Jun', quantity: null, amount: 1234, paidAmount: 0 }],
    },
  },
  {
    ...fixedBill,
    locale: 'bn-BD',
    bill: {
      ...fixedBill.bill,
      lines: [{ ...line, toDate: '01/07/2025', days: 1 }],
      history: [
        { label: 'May', quantity: '-20', amount: 0, paidAmount: 0 },
        { label: 'Jun', quantity: '0.75', amount: 0, paidAmount: 0 },
      ],
      arrears: -10_000,
      adjustments: -10_000,
      payableWithinDueDate: 0,
      payableAfterDueDate: 100,
      creditBalance: 102,
    },
  },
  { ...fixedBill, isOwedByUs: true },
];

let known: string | undefined;

export function rendererEdition(): string {
  known ??= sha256(Buffer.concat(fixedBills.map((bill) => renderBill(bill)))).slice(0, 16);
  return known;
}

export function sha256(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex');
}
