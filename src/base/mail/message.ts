// A mail as bytes. Same message, same bytes: what differs from mail to mail comes from the caller.
import MailComposer from 'nodemailer/lib/mail-composer';

export type MailAttachment = {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
};

/** A picture that the HTML of a mail names by `cid:`. */
export type MailPicture = {
  readonly id: string;
  readonly contentType: string;
  readonly content: Buffer;
};

export type MailSender = { readonly address: string; readonly name?: string | null };

export type MailMessage = {
  /** Where the mail is kept if there is no server to hand it to. */
  readonly key: { readonly tenantId: number; readonly deliveryId: number };
  /** `<…@…>`, the same whenever this very mail is sent again, so that a reader sees one. */
  readonly messageId: string;
  /** A plain address. */
  readonly to: string;
  /** Unless given, that of the configuration, from which the address always comes. */
  readonly senderName?: string | null;
  /** A plain address for answers; left out if it is not a valid address. */
  readonly replyTo?: string | null;
  readonly subject: string;
  readonly text: string;
  /** The same as the text, for programs that show HTML. */
  readonly html?: string;
  readonly pictures?: readonly MailPicture[];
  readonly attachments: readonly MailAttachment[];
  readonly date: Temporal.Instant;
  /** Goes into the folder even where there is a server. */
  readonly staysHere?: boolean;
};

const messageIdForm = /^<[A-Za-z0-9._-]+@[A-Za-z0-9.-]+>$/;
/** Of a header: more than any client shows. */
const subjectCharactersMax = 250;

export async function composeMail(message: MailMessage, sender: MailSender): Promise<Buffer> {
  if (!messageIdForm.test(message.messageId)) {
    throw new Error(`${message.messageId} is not a message id of this program`);
  }
  const composer = new MailComposer({
    from: { name: headerText(sender.name ?? ''), address: sender.address },
    to: { name: '', address: message.to },
    ...(message.replyTo ? { replyTo: { name: '', address: message.replyTo } } : {}),
    subject: headerText(message.subject),
    text: message.text.replace(/\r\n?/g, '\n'),
    ...(message.html === undefined ? {} : { html: message.html }),
    // Programs that answer for an absent reader do not answer these.
    headers: { 'Auto-Submitted': 'auto-generated' },
    messageId: message.messageId,
    date: new Date(message.date.epochMilliseconds),
    attachments: [
      ...message.attachments.map(({ filename, contentType, content }) => ({
        filename: fileName(filename),
        contentType,
        content,
      })),
      ...(message.pictures ?? []).map(({ id, contentType, content }) => ({
        cid: id,
        filename: fileName(`logo.${contentType.split('/')[1]}`),
        contentType,
        content,
        contentDisposition: 'inline' as const,
      })),
    ],
    // Texts of others pass through here; none may name a file or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: message.messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, 40),
    newline: 'windows',
  });
  return composer.compile().build();
}

/** One line, without anything that could end a header or turn the line around. */
function headerText(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  const characters = [...line];
  if (characters.length <= subjectCharactersMax) return line;
  return `${characters.slice(0, subjectCharactersMax - 1).join('')}…`;
}

function fileName(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 80) || 'attachment'
  );
}
