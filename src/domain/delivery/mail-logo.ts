// The logo of a letterhead inside a mail. It travels with the mail: nothing is fetched.
import type { MailPicture } from '../../base/mail/message.ts';
import { logoType } from '../documents/html.ts';
import type { Letterhead } from '../documents/letterhead.ts';

const id = 'logo@letterhead';

/** How the HTML names it; null without a logo. */
export function logoSource({ logo }: Letterhead): string | null {
  return logoType(logo) === null ? null : `cid:${id}`;
}

export function mailPictures({ logo }: Letterhead): MailPicture[] {
  const contentType = logoType(logo);
  return contentType === null || logo === null ? [] : [{ id, contentType, content: logo }];
}
