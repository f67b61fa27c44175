// Bills for the tests of documents: an ordinary one, and others that are hard to print.
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

const longWords =
  'The Honourable Society for the Preservation of Unusually Long Names, Addresses and Inscriptions';

export const crowded: BillDocumentInput = {
  ...ordinary,
  bill: {
    ...ordinaryBill,
    partyName: `${longWords} ${longWords} (Northern Division)`,
    connectionGroupLabel: `${longWords}/Account`,
    tariffLabel: `${longWords} Plan`,
    address: {
      buildingName: `${longWords} House, 3rd Floor, Entrance from the Courtyard behind the Station`,
      street:
        'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftsweg 7',
      block: 'Block AA',
      society: `${longWords} Cooperative Housing Scheme`,
      city: 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch',
    },
    lines: Array.from({ length: 40 }, (_, index) =>
      line({
        lineNo: index + 1,
        label: index % 7 === 3 ? `${longWords} charge ${index + 1}` : `Charge number ${index + 1}`,
        description: index % 9 === 4 ? 'As agreed in the letter of the 3rd of March' : null,
        fromDate: index % 5 === 0 ? '15/07/2025' : '01/07/2025',
        days: index % 5 === 0 ? 17 : 31,
        type: index > 34 ? 'Tax' : 'Charge',
        quantity: '1234.5678',
        unit: 'kWh',
        rate: '12.3456',
        amount: 15241.58 + index,
        details:
          index % 10 === 0
            ? [
                { quantity: '100', rate: '16.48', amount: '1648' },
                { quantity: '1134.5678', rate: '11.98', flat: '50', amount: '13592.1222' },
              ]
            : [],
      }),
    ),
    payableWithinDueDate: 123456789012.34,
    payableAfterDueDate: 123456789012.34,
  },
};

export const urdu: BillDocumentInput = {
  ...ordinary,
  locale: 'ur-PK',
  letterhead: {
    ...letterhead,
    name: 'لاہور سٹی بجلی کمپنی لمیٹڈ',
    addressLines: ['22 کینال روڈ', 'لاہور 54000، پاکستان'],
  },
  bill: {
    ...ordinaryBill,
    serviceLabel: 'بجلی',
    partyName: 'محمد احمد خان ولد عبدالرحمٰن',
    connectionGroupLabel: 'مکان 12-B',
    tariffLabel: 'رہائشی A-1',
    address: {
      buildingNo: '12-B',
      street: 'گلی نمبر 4',
      block: 'بلاک سی',
      society: 'گلبرگ III',
      city: 'لاہور',
    },
    lines: ordinaryBill.lines.map((one, index) => ({
      ...one,
      label:
        [
          'بجلی کے نرخ',
          'مقررہ چارجز',
          'فیول پرائس ایڈجسٹمنٹ',
          'جنرل سیلز ٹیکس',
          'بجلی ڈیوٹی',
          'ٹی وی لائسنس فیس',
        ][index] ?? one.label,
    })),
  },
  template: {
    body: 'محترم {{bill.partyName}}، براہ کرم {{bill.dueDate}} تک {{bill.payableWithinDueDate}} روپے ادا کریں۔',
  },
};

export const hindi: BillDocumentInput = {
  ...ordinary,
  locale: 'hi-IN',
  letterhead: {
    ...letterhead,
    name: 'नगर विद्युत वितरण निगम लिमिटेड',
    addressLines: ['22 नहर मार्ग', 'लखनऊ 226001, भारत'],
  },
  bill: {
    ...ordinaryBill,
    currency: 'INR',
    serviceLabel: 'बिजली',
    partyName: 'श्रीमती लक्ष्मी विश्वकर्मा',
    connectionGroupLabel: 'मकान 12-ब',
    tariffLabel: 'घरेलू ए-1',
    address: { buildingNo: '12-ब', street: 'गली नं. 4', society: 'गोमती नगर', city: 'लखनऊ' },
    lines: ordinaryBill.lines.map((one, index) => ({
      ...one,
      label:
        [
          'ऊर्जा शुल्क',
          'नियत शुल्क',
          'ईंधन अधिभार समायोजन',
          'वस्तु एवं सेवा कर',
          'विद्युत शुल्क',
          'टीवी लाइसेंस शुल्क',
        ][index] ?? one.label,
    })),
    payableWithinDueDate: 1484200.5,
  },
  template: {
    body: 'प्रिय {{bill.partyName}}, कृपया {{bill.dueDate}} तक {{bill.payableWithinDueDate}} रुपये का भुगतान करें।',
  },
};

export const letterSize: BillDocumentInput = {
  ...ordinary,
  locale: 'en-US',
  pageSize: 'Letter',
  letterhead: { ...letterhead, logo: null, color: '#f2c500', name: 'Prairie Water District' },
  bill: {
    ...ordinaryBill,
    serviceLabel: 'Water',
    currency: 'USD',
    partyName: 'Jane Müller-O’Neill',
    address: { buildingNo: '1200', street: 'N Main St', city: 'Wichita, KS 67203' },
    meterReadings: ordinaryBill.meterReadings.slice(0, 1),
    usage: [{ input: 'water', unit: 'm3', quantity: '142' }],
    bankAccounts: [],
    history: ordinaryBill.history.slice(-3),
    arrears: 0,
    previousBalance: 88.1,
    paymentsReceived: 88.1,
    latePaymentSurcharge: 0,
    payableAfterDueDate: 14842,
  },
  template: null,
};

const connection = (number: string) => ({
  connectionNumber: number,
  tariffCode: 'RES-A1',
  tariffLabel: 'Residential A-1',
  meterReadings: ordinaryBill.meterReadings.slice(1),
  usage: [{ input: 'energy', unit: 'kWh', quantity: '262' }],
  subtotal: 4530.67,
});

/** Of an account with three subscriptions. */
export const sectioned: BillDocumentInput = {
  ...ordinary,
  bill: {
    ...ordinaryBill,
    connectionID: null,
    connectionNumber: null,
    tariffCode: null,
    tariffLabel: null,
    meterReadings: [],
    usage: [],
    sections: ['E-000101', 'E-000102', 'E-000103'].map(connection),
    lines: ['E-000101', 'E-000102', 'E-000103'].flatMap((connectionNumber) =>
      ordinaryBill.lines.map((one) => ({ ...one, connectionNumber })),
    ),
  },
};

const draft: BillDocumentInput = {
  ...ordinary,
  bill: { ...ordinaryBill, status: 'Draft', billNumber: null, issueDate: null },
};

const credit: BillDocumentInput = {
  ...ordinary,
  bill: {
    ...ordinaryBill,
    payableWithinDueDate: 0,
    latePaymentSurcharge: 0,
    creditBalance: 250.75,
    arrears: -13843.15,
  },
};

const arabic: BillDocumentInput = {
  ...urdu,
  locale: 'ar-EG',
  bill: { ...urdu.bill, serviceLabel: 'الكهرباء', currency: 'EGP' },
  template: { body: 'عزيزي {{bill.partyName}}، يرجى الدفع قبل {{bill.dueDate}}.' },
};

export const allBills: Readonly<Record<string, BillDocumentInput>> = {
  ordinary,
  crowded,
  urdu,
  hindi,
  letterSize,
  sectioned,
  draft,
  credit,
  arabic,
};
