// The session of a browser: its refresh token lives in a cookie that no script can read.
import type { Incoming } from './prepared.ts';

const sessionCookieName = 'billwright_session';
/** The browser sends it to login, refresh and log-out, and to nothing else. */
const cookiePath = '/billing/auth';

export function readSessionCookie(headers: Incoming['headers']): string | null {
  const { cookie } = headers;
  if (typeof cookie !== 'string') return null;
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    if (name === sessionCookieName && value !== '') return value;
  }
  return null;
}

/** With no seconds left the browser forgets it. */
export function sessionCookie(token: string, seconds: number, isSecure: boolean): string {
  const parts = [
    `${sessionCookieName}=${token}`,
    `Path=${cookiePath}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ];
  return parts.join('; ');
}

/** Whether a page of this very address asks. A browser always names the origin of a POST. */
export function isFromOwnPage({ headers, host }: Pick<Incoming, 'headers' | 'host'>): boolean {
  const { origin } = headers;
  if (typeof origin !== 'string' || !URL.canParse(origin)) return false;
  return new URL(origin).host === host?.toLowerCase();
}
