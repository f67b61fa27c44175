// What link by mail and forgotten password share.
import { setTimeout as wait } from 'node:timers/promises';
import type * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { isPlainAddress } from '../../base/mail/address.ts';
import { hashToken, newToken } from '../../base/secrets.ts';
import { countLinks, insertLink, type LinkPurpose } from '../../domain/access/links-store.ts';
import { findLoginByName, type LoginRow } from '../../domain/access/store.ts';
import { queueAccessMail } from '../../domain/delivery/access-mails.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { filledText } from '../fields.ts';
import type { PublicCall } from '../operation.ts';

export const linkText = filledText({ max: 100, description: 'the token of the link' });
export const linkedName = filledText({ max: 254 });

const linkMinutes: Record<LinkPurpose, number> = { Login: 15, Reset: 30 };
const paths: Record<LinkPurpose, string> = { Login: '/portal?link=', Reset: '/?reset=' };
/** Links of one login within an hour; further requests send nothing. */
const linksMax = 5;
/** Every request takes as long, whether or not the name exists. */
const answerMs = 250;

/** Always succeeds: the answer does not show whether there is such a login. */
export async function requestLink(
  call: PublicCall,
  username: string,
  purpose: LinkPurpose,
): Promise<{ message: string; data: Type.Static<ReturnType<typeof Type.Object>> }> {
  const [done] = await Promise.allSettled([sendLink(call, username, purpose), wait(answerMs)]);
  if (done.status === 'rejected') {
    call.log.error({ err: done.reason }, 'a link could not be mailed');
  }
  return { message: 'If the login exists and has an address, a mail is on its way', data: {} };
}

async function sendLink(call: PublicCall, username: string, purpose: LinkPurpose): Promise<void> {
  const { tenant, realNow } = call;
  const { tenantId } = tenant;
  await call.write(async (tx, audit) => {
    const login = await findLoginByName(tx, tenantId, username);
    const settings = await findSettings(tx, tenantId);
    const recipient = login && addressOf(login);
    if (!login || !recipient || !mayUse(login, purpose)) return;
    if (settings.portal_address === null) {
      call.log.warn('a link was asked for, and the setting portalAddress is empty');
      return;
    }
    const { login_id: loginId, party_id: partyId, name } = login;
    const since = realNow.subtract({ hours: 1 });
    if ((await countLinks(tx, tenantId, { loginId, since })) >= linksMax) return;
    const token = newToken(tenantId);
    const minutes = linkMinutes[purpose];
    const expiresAt = realNow.add({ minutes });
    await insertLink(
      tx,
      tenantId,
      { hash: hashToken(token), loginId, purpose, expiresAt },
      realNow,
    );
    const link = `${settings.portal_address}${paths[purpose]}${token}`;
    const locale = login.party_language ?? settings.locale;
    const person = { recipient, partyId, name, locale };
    const mail = { purpose, ...person, workspaceName: settings.name, link, minutes };
    await queueAccessMail(tx, tenantId, mail, realNow);
    const after = { event: `${purpose === 'Login' ? 'link' : 'password reset'} requested` };
    const actor = { name: login.username, kind: 'Login' as const };
    audit(actor, { subject: 'login', subjectId: loginId, before: null, after });
  });
}

function addressOf({ email, username }: LoginRow): string | null {
  return email ?? (isPlainAddress(username) ? username : null);
}

/** A link by mail leads to the portal, which is for customers. Others reset their password. */
function mayUse({ status, roles }: LoginRow, purpose: LinkPurpose): boolean {
  const isCustomer = roles.every((role) => role === 'Customer');
  return status === 'ACTIVE' && (purpose === 'Reset' || isCustomer);
}

export function linkInvalid(): AppError {
  return new AppError('LINK_INVALID', { field: 'link' });
}
