// A bill in each language, for contact sheets and mails to be looked at.
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { readLetterhead } from '../../src/domain/documents/letterhead.ts';
import { allBills, hindi, urdu } from './bills.ts';
import { ordinary, smallLogo } from './ordinary-bill.ts';

const letterheadOf = (name: string) =>
  readLetterhead({
    name,
    country: 'PK',
    letterhead: {
      addressLines: ['22 Canal Road'],
      phone: '+92 42 111 000 222',
      email: 'care@citypower.example',
      complaintPhone: '0800 12345',
      complaintEmail: 'complaints@citypower.example',
      officeHours: '9:00–17:00',
      logo: smallLogo,
    },
  });

const arabicLabels = [
  'رسوم الطاقة',
  'رسوم ثابتة',
  'تعديل سعر الوقود',
  'ضريبة المبيعات العامة',
  'رسم الكهرباء',
  'رسم رخصة التلفاز',
];

const arabicBill = allBills.arabic ?? urdu;

const arabic: BillDocumentInput = {
  ...arabicBill,
  letterhead: letterheadOf('شركة كهرباء المدينة'),
  bill: {
    ...arabicBill.bill,
    partyName: 'محمد أحمد عبد الرحمن',
    connectionGroupLabel: 'منزل 12',
    tariffLabel: 'سكني أ-1',
    address: { buildingNo: '12', street: 'شارع النيل 4', society: 'الدقي', city: 'القاهرة' },
    lines: arabicBill.bill.lines.map((line, index) => ({
      ...line,
      label: arabicLabels[index] ?? line.label,
    })),
  },
};

export const languages: Readonly<Record<string, BillDocumentInput>> = {
  en: { ...ordinary, letterhead: letterheadOf('City Power & Light') },
  ur: { ...urdu, letterhead: letterheadOf(urdu.letterhead.name) },
  ar: arabic,
  hi: {
    ...hindi,
    bill: { ...hindi.bill, payableWithinDueDate: 14_842 },
    letterhead: letterheadOf(hindi.letterhead.name),
  },
  'en-ur': {
    ...ordinary,
    letterhead: letterheadOf('City Power & Light'),
    secondLocale: 'ur',
    template: { body: 'Please pay in time.', secondBody: 'براہ کرم وقت پر ادائیگی کریں۔' },
  },
  'ur-en': { ...urdu, letterhead: letterheadOf(urdu.letterhead.name), secondLocale: 'en' },
};
