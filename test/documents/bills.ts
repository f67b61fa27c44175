// Bills for the tests of documents that are hard to print, or of another kind.

import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { letterhead, line, ordinary, ordinaryBill } from './ordinary-bill.ts';

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
