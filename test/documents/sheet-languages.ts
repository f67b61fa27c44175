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

export const languages: Readonly<Record<string, BillDocumentInput>> = {
  en: { ...ordinary, letterhead: letterheadOf('City Power & Light') },
  ur: { ...urdu, letterhead: letterheadOf(urdu.letterhead.name) },
  ar: {
    ...(allBills.arabic ?? urdu),
    letterhead: letterheadOf('شركة كهرباء المدينة'),
  },
  hi: { ...hindi, letterhead: letterheadOf(hindi.letterhead.name) },
  'en-ur': {
    ...ordinary,
    letterhead: letterheadOf('City Power & Light'),
    secondLocale: 'ur',
    template: { body: 'Please pay in time.', secondBody: 'براہ کرم وقت پر ادائیگی کریں۔' },
  },
  'ur-en': { ...urdu, letterhead: letterheadOf(urdu.letterhead.name), secondLocale: 'en' },
};
