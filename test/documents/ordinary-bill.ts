// An ordinary bill for the tests of documents.
import { PNG } from 'pngjs';
import type { PresentedLine } from '../../src/domain/bills/bill-forms.ts';
import type { BillDocument, BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { readLetterhead } from '../../src/domain/documents/letterhead.ts';

/** A disc on a transparent ground, with a bolt left out of it. */
function drawnLogo(side: number): string {
  const picture = new PNG({ width: side, height: side });
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [u, v] = [(2 * x) / side - 1, (2 * y) / side - 1];
      const isDisc = u * u + v * v < 1;
      const isBolt = Math.abs(u + v * 0.35) < 0.14 + 0.1 * Math.abs(v) && Math.abs(v) < 0.7;
      picture.data.set([11, 110, 79, isDisc && !isBolt ? 255 : 0], (y * side + x) * 4);
    }
  }
  return PNG.sync.write(picture).toString('base64');
}

export const smallLogo = drawnLogo(120);

export function line(
  over: Partial<PresentedLine> & { label: string; amount: number },
): PresentedLine {
  return {
    lineNo: 1,
    component: 'energyCharge',
    type: 'Charge',
    lineType: 'Normal',
    source: 'Computed',
    fromDate: '01/07/2025',
    toDate: '31/07/2025',
    days: 31,
    quantity: null,
    unit: null,
    rate: null,
    computedAmount: over.amount,
    details: [],
    tariffCode: 'RES-A1',
    tariffVersion: 3,
    description: null,
    ...over,
  };
}

const months = 'Jul Aug Sep Oct Nov Dec Jan Feb Mar Apr May Jun'.split(' ');

export const ordinaryBill: BillDocument = {
  billID: 991,
  billNumber: 'ELEC-2025-000991',
  billRefNo: '1000009910',
  replacesBillNumber: null,
  replacedByBillNumber: null,
  creditNoteNumber: null,
  billType: 'Regular',
  status: 'Published',
  paymentStatus: 'Unpaid',
  termID: 12,
  termLabel: 'Jul-2025',
  serviceCode: 'ELEC',
  serviceLabel: 'Electricity',
  batchCode: 'B01',
  tariffCode: 'RES-A1',
  tariffLabel: 'Residential A-1',
  connectionID: 501,
  connectionNumber: 'E-000101',
  connectionRefNo: null,
  connectionGroupID: 77,
  connectionGroupLabel: 'House 12-B',
  partyID: 9,
  partyNumber: 100009,
  partyName: 'A. Khan',
  address: {
    title: null,
    shopNo: null,
    buildingNo: '12-B',
    buildingName: null,
    street: 'Street 4',
    block: 'Block C',
    society: 'Gulberg III',
    city: 'Lahore',
    countryId: 586,
  },
  currency: 'PKR',
  issueDate: '02/08/2025',
  startDate: '01/07/2025',
  endDate: '31/07/2025',
  dueDate: '15/08/2025',
  billedFrom: '01/07/2025',
  billedTo: '31/07/2025',
  days: 31,
  meterReadings: [
    {
      meterNumber: 700101,
      register: 'kWh',
      mf: 1,
      previousDate: '30/06/2025',
      previousReading: '48210',
      currentDate: '14/07/2025',
      currentReading: '48352',
      readingType: 'Removal',
      estimated: 0,
      rollover: 0,
      consumption: '142',
    },
    {
      meterNumber: 700455,
      register: 'kWh',
      mf: 1,
      previousDate: '14/07/2025',
      previousReading: '0',
      currentDate: '31/07/2025',
      currentReading: '262',
      readingType: 'Actual',
      estimated: 0,
      rollover: 0,
      consumption: '262',
    },
  ],
  usage: [{ input: 'energy', unit: 'kWh', quantity: '404' }],
  lines: [
    line({
      label: 'Energy charges',
      quantity: '404',
      unit: 'kWh',
      amount: 9988.12,
      details: [
        { quantity: '100', rate: '16.48', amount: '1648' },
        { quantity: '100', rate: '22.95', amount: '2295' },
        { quantity: '100', rate: '27.14', amount: '2714' },
        { quantity: '104', rate: '32.03', amount: '3331.12' },
      ],
    }),
    line({
      lineNo: 2,
      label: 'Fixed charges',
      quantity: '5',
      unit: 'kW',
      rate: '200',
      amount: 1000,
    }),
    line({
      lineNo: 3,
      label: 'Fuel price adjustment',
      quantity: '404',
      unit: 'kWh',
      rate: '0.9461',
      amount: 382.22,
    }),
    line({
      lineNo: 4,
      label: 'General sales tax',
      type: 'Tax',
      rate: '17',
      unit: '%',
      amount: 1932.96,
    }),
    line({ lineNo: 5, label: 'Electricity duty', type: 'Tax', amount: 149.82 }),
    line({ lineNo: 6, label: 'TV licence fee', type: 'Tax', amount: 138.88 }),
  ],
  previousBalance: 1249.6,
  paymentsReceived: 0,
  arrears: 1249.6,
  currentCharges: 13592,
  taxAmount: 2221.66,
  adjustments: 0,
  roundingAdjustment: 0.4,
  billAmount: 13592.4,
  totalAmount: 14842,
  walletApplied: 0,
  payableWithinDueDate: 14842,
  latePaymentSurcharge: 1359,
  payableAfterDueDate: 16201,
  paidAmount: 0,
  outstandingAmount: 13592.4,
  creditBalance: 0,
  surcharges: [],
  sections: [],
  history: months.map((month, index) => ({
    label: `${month}-${index < 6 ? 2024 : 2025}`,
    quantity: String(310 + ((index * 137) % 260)),
    amount: 9000 + ((index * 1370) % 6000),
    paidAmount: 9000 + ((index * 1370) % 6000),
  })),
  bankAccounts: [
    {
      title: 'City Power Collections',
      bankName: 'National Bank',
      branch: 'Main Boulevard',
      accountNumber: '0021-778812-01',
      iban: 'PK36SCBL0000001123456702',
      swift: null,
      currency: 'PKR',
      isDefault: 1,
      collectionCode: '48213',
    },
    {
      title: 'City Power Limited',
      bankName: 'Union Bank',
      branch: null,
      accountNumber: '55-100-220',
      iban: null,
      swift: 'UNBKPKKA',
      currency: 'PKR',
      isDefault: 0,
      collectionCode: null,
    },
  ],
};

export const letterhead = readLetterhead({
  name: 'Demo workspace',
  country: 'PK',
  letterhead: {
    name: 'City Power & Light Company Limited',
    addressLines: ['22 Canal Road', 'Lahore 54000, Pakistan'],
    phone: '+92 42 111 000 222',
    email: 'care@citypower.example',
    website: 'www.citypower.example',
    taxNumber: '1234567-8',
    logo: smallLogo,
    color: '#0b6e4f',
  },
});

export const ordinary: BillDocumentInput = {
  bill: ordinaryBill,
  letterhead,
  locale: 'en-PK',
  template: {
    body: 'Dear {{bill.partyName}}, please pay {{bill.currency}} {{bill.payableWithinDueDate}} by {{bill.dueDate}}.\nQuestions? {{letterhead.phone}}',
  },
};
