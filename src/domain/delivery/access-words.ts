// The words of mails with a link, by language. A locale takes those of its language, otherwise
// English.
import type { LinkPurpose } from '../access/links-store.ts';

export type AccessWords = {
  subject: Record<LinkPurpose, string>;
  ask: Record<LinkPurpose, string>;
  /** With {minutes}. */
  once: string;
  otherwise: string;
};

const english: AccessWords = {
  subject: { Login: 'your link to log in', Reset: 'your new password' },
  ask: {
    Login: 'Open this link to see your bills:',
    Reset: 'Open this link to choose a new password:',
  },
  once: 'The link works once, for {minutes} minutes.',
  otherwise: 'If you did not ask for it, ignore this mail.',
};

const urdu: AccessWords = {
  subject: { Login: 'لاگ ان کا لنک', Reset: 'آپ کا نیا پاس ورڈ' },
  ask: {
    Login: 'اپنے بل دیکھنے کے لیے یہ لنک کھولیں:',
    Reset: 'نیا پاس ورڈ چننے کے لیے یہ لنک کھولیں:',
  },
  once: 'یہ لنک ایک بار، {minutes} منٹ تک کام کرتا ہے۔',
  otherwise: 'اگر آپ نے یہ نہیں مانگا تو اس ای میل کو نظر انداز کریں۔',
};

const arabic: AccessWords = {
  subject: { Login: 'رابط تسجيل الدخول', Reset: 'كلمة المرور الجديدة' },
  ask: {
    Login: 'افتح هذا الرابط لعرض فواتيرك:',
    Reset: 'افتح هذا الرابط لاختيار كلمة مرور جديدة:',
  },
  once: 'يعمل الرابط مرة واحدة، لمدة {minutes} دقيقة.',
  otherwise: 'إذا لم تطلب ذلك فتجاهل هذه الرسالة.',
};

const hindi: AccessWords = {
  subject: { Login: 'लॉग इन करने का लिंक', Reset: 'आपका नया पासवर्ड' },
  ask: {
    Login: 'अपने बिल देखने के लिए यह लिंक खोलें:',
    Reset: 'नया पासवर्ड चुनने के लिए यह लिंक खोलें:',
  },
  once: 'यह लिंक एक बार, {minutes} मिनट तक काम करता है।',
  otherwise: 'यदि आपने इसे नहीं माँगा है, तो इस मेल पर ध्यान न दें।',
};

const byLanguage = new Map([
  ['ar', arabic],
  ['en', english],
  ['hi', hindi],
  ['ur', urdu],
]);

export function accessWordsOf(locale: string): AccessWords {
  return byLanguage.get(locale.split('-')[0]?.toLowerCase() ?? '') ?? english;
}
