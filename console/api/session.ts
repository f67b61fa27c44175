// The session of this browser. The access token lives in memory alone; the refresh token is a
// cookie that no script reads. Tabs renew one after another, and a log-out ends all of them.
import { useSyncExternalStore } from 'react';
import { BillingError, createClient, type DataOf } from '../../sdk/client.ts';
import { hasEnded } from './problem.ts';
import { NoAnswer, reach } from './reach.ts';

type Tokens = DataOf<'login'>;
export type Session = {
  token: string;
  user: Tokens['user'];
  permissions: ReadonlySet<string>;
  workspace: string;
  currency: string;
  currencyDecimals: number;
  /** How the workspace groups the digits of amounts: en-PK. */
  locale: string;
  /** How far the clock of the workspace is from that of this browser, in milliseconds. */
  aheadMs: number;
  /** The server ended it. The page stays as it is until the person has logged in again. */
  isOver: boolean;
};

let session: Session | null = null;
const listeners = new Set<() => void>();
const endListeners = new Set<() => void>();

/** What one tab says to the others: the person logged out, or logged in. */
type Message = 'ended' | { begunBy: number };
const tabs = new BroadcastChannel('billwright-session');
tabs.onmessage = ({ data }: MessageEvent<Message>) => {
  if (data === 'ended') keep(null);
  else if (session?.isOver && session.user.userID === data.begunBy) void goOn();
};

/** Login and refresh: calls without a token. */
const entrance = createClient({ baseUrl: window.location.origin, fetch: reach });

function keep(next: Session | null): void {
  const hasEnded = session !== null && next === null;
  session = next;
  for (const listener of listeners) listener();
  if (hasEnded) for (const listener of endListeners) listener();
}

function sessionOf({ accessToken: token, scope, ...tokens }: Tokens): Session {
  const { user, workspace, currency, currencyDecimals, locale } = tokens;
  const money = { currency, currencyDecimals, locale };
  const aheadMs = localMs(tokens.now) - Date.now();
  return { token, user, permissions: new Set(scope), workspace, ...money, aheadMs, isOver: false };
}

/** A local time of the workspace, as if its time zone were UTC. */
function localMs(time: string): number {
  return Date.parse(`${time.replace(' ', 'T')}Z`);
}

/** Now in the workspace, whose time zone and, in a sandbox, clock are its own: 2026-07-31T14:05. */
export function now(): string {
  return new Date(Date.now() + (session?.aheadMs ?? 0)).toISOString().slice(0, 16);
}

/** The day of `now`: 2026-07-31. */
export function today(): string {
  return now().slice(0, 10);
}

export function currentSession(): Session | null {
  return session;
}

/** Also where the person logged out in another tab; not where there was no session to begin with. */
export function whenEnded(listener: () => void): void {
  endListeners.add(listener);
}

export function useSession(): Session | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

export function mayUse(permission: string | null): boolean {
  return permission === null || session?.permissions.has(permission) === true;
}

/** A customer sees the portal, and staff the console. */
export function isCustomer(): boolean {
  return mayUse('own-bills:read') && !mayUse('bills:read');
}

/** `code` is that of the second factor, where the login has one. */
export async function logIn(username: string, password: string, code = ''): Promise<void> {
  const second = code === '' ? {} : { code };
  const { data } = await entrance.login({ username, password, session: 'Cookie', ...second });
  begin(data);
}

function begin(tokens: Tokens): void {
  keep(sessionOf(tokens));
  tabs.postMessage({ begunBy: tokens.user.userID } satisfies Message);
}

/** Whether the server asks for the code of the second factor. */
export function needsCode(error: unknown): boolean {
  return error instanceof BillingError && /^CODE_(REQUIRED|WRONG)$/.test(error.code);
}

export async function enterByLink(link: string, code: string): Promise<void> {
  const second = code === '' ? {} : { code };
  const { data } = await entrance.redeemLink({ link, session: 'Cookie', ...second });
  begin(data);
}

export async function requestLink(username: string): Promise<void> {
  await entrance.requestLink({ username });
}

export async function requestReset(username: string): Promise<void> {
  await entrance.requestPasswordReset({ username });
}

export async function resetPassword(link: string, newPassword: string): Promise<void> {
  await entrance.resetPassword({ link, newPassword });
}

/**
 * A page that is opened or loaded again goes on with the session of the browser, if it has one; or
 * returns false.
 */
export async function resumeSession(): Promise<boolean> {
  return renewSession(null);
}

/**
 * Gets a new access token. Of several tabs and calls one renews at a time, and those that waited use
 * what it got. Returns false if the session has ended: then only a login begins another.
 */
export async function renewSession(spent: string | null): Promise<boolean> {
  return oneAtATime(async () => {
    if (session?.isOver) return false;
    return (session !== null && session.token !== spent) || renew();
  });
}

/** With what another tab got. Without an answer this tab asks for the login as before. */
async function goOn(): Promise<void> {
  await oneAtATime(renew).catch(() => false);
}

/** Only a refusal of the token is the end. A server that is away or busy has not refused it. */
async function renew(): Promise<boolean> {
  try {
    const { data } = await entrance.refreshToken({});
    keep(sessionOf(data));
    return true;
  } catch (error) {
    if (!hasEnded(error) && !hasNone(error)) throw isBusy(error) ? new NoAnswer() : error;
    keep(session && { ...session, isOver: true });
    return false;
  }
}

/** The browser has no cookie of a session. */
function hasNone(error: unknown): boolean {
  return error instanceof BillingError && error.code === 'REQUIRED_FIELD';
}

function isBusy(error: unknown): boolean {
  return error instanceof BillingError && error.error.retryable;
}

/**
 * The clock, the name and the currency of the workspace come with each token: after one of them was
 * changed. Without an answer they come with the next one.
 */
export async function readWorkspaceAgain(): Promise<void> {
  await renewSession(session?.token ?? null).catch(() => false);
}

let renewing: Promise<unknown> = Promise.resolve();

/** Over all tabs. Without https a browser has no locks: then over the calls of this tab. */
function oneAtATime<Reply>(work: () => Promise<Reply>): Promise<Reply> {
  if (window.isSecureContext) return navigator.locks.request('billwright-session', work);
  const next = renewing.then(work, work);
  renewing = next.catch(() => undefined);
  return next;
}

/** Fails if the server cannot be asked: the session then goes on. */
export async function logOut(): Promise<void> {
  await endOnServer();
  tabs.postMessage('ended' satisfies Message);
  keep(null);
}

async function endOnServer(): Promise<void> {
  if (session === null || session.isOver) return;
  const { token } = session;
  try {
    await entrance.logout({}, { token });
  } catch (error) {
    if (!hasEnded(error)) throw error;
    // The token may only be old. The cookie of the session ends with a new one.
    if (await renewSession(token)) await entrance.logout({}, { token: currentSession()?.token });
  }
}
