// Sends mails through the mail server of the configuration, or puts them into a folder.
import { join, relative } from 'node:path';
import { traced } from '../tracing.ts';
import { isPlainAddress } from './address.ts';
import type { DkimSigner } from './dkim.ts';
import type { MailMessage, MailSender } from './message.ts';
import { writeToOutbox } from './outbox.ts';
import type { MailResult } from './result.ts';
import type { Smtp } from './smtp.ts';

export type MailerOptions = {
  readonly smtpUrl: string | undefined;
  readonly smtpConnections: number;
  readonly mailFrom: MailSender;
  readonly dataFolder: string;
  /** Mails are not signed without it. */
  readonly dkim?: DkimSigner | undefined;
  /** How long a server may be silent. Left out in all but tests. */
  readonly silenceMs?: number;
};

export type Mailer = {
  send(message: MailMessage): Promise<MailResult>;
  close(): void;
};

export function createMailer(options: MailerOptions): Mailer {
  const { smtpUrl, smtpConnections, silenceMs } = options;
  // What makes and sends mails is loaded with the first one: most processes send none.
  let opened: Promise<Smtp> | undefined;
  const openServer = async (url: string) => {
    const { openSmtp } = await import('./smtp.ts');
    const silence = silenceMs === undefined ? {} : { silenceMs };
    return openSmtp({ url, connectionsMax: smtpConnections, ...silence });
  };
  /** One that could not be opened is not kept, or no mail after it would go. */
  const opening = async (url: string) => {
    opened ??= openServer(url);
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
  const outbox = join(options.dataFolder, 'outbox');
  return {
    async send(message) {
      if (!isPlainAddress(message.to)) {
        return { outcome: 'Permanent', detail: 'The address is not of the form name@domain' };
      }
      const { mailFrom } = options;
      const sender = { ...mailFrom, name: message.senderName ?? mailFrom.name ?? null };
      const isReplyPlain = isPlainAddress(message.replyTo ?? '');
      const replyTo = isReplyPlain ? (message.replyTo ?? null) : null;
      const { composeMail } = await import('./message.ts');
      const unsigned = await composeMail({ ...message, replyTo }, sender);
      const bytes = (await options.dkim?.sign(unsigned)) ?? unsigned;
      if (smtpUrl !== undefined && !message.staysHere) {
        const smtp = await opening(smtpUrl);
        return traced({ name: 'send mail', kind: 'client' }, () =>
          smtp.send({ from: sender.address, to: message.to }, bytes),
        );
      }
      const path = await writeToOutbox(outbox, message.key, bytes);
      return { outcome: 'Sent', detail: `Written to ${relative(options.dataFolder, path)}` };
    },
    close: () => void opened?.then((smtp) => smtp.close()),
  };
}
