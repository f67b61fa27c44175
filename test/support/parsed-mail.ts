// Reads a received mail as a mail program does. The parser is not that of the library that wrote it.
import PostalMime, { type Email } from 'postal-mime';
import type { ReceivedMail } from './mail-server.ts';

export function parseMail(mail: ReceivedMail | undefined): Promise<Email> {
  if (mail === undefined) throw new Error('no mail was received');
  return PostalMime.parse(Buffer.from(mail.text, 'latin1'));
}

/** What is seen of HTML: words between tags, on one line. */
export function wordsOf(html: string | undefined): string {
  return (html ?? '')
    .replace(/<style>.*?<\/style>|<[^>]*>/gs, ' ')
    .replaceAll('&amp;', '&')
    .replace(/[\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ');
}
