import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { tenantOfToken } from '../../base/secrets.ts';
import { findClientOfSession } from '../../domain/access/clients-store.ts';
import { renewSession } from '../../domain/access/sessions.ts';
import { findLoginById } from '../../domain/access/store.ts';
import type { Actor } from '../../domain/audit/store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { filledText, maybe } from '../fields.ts';
import { operation, type PublicCall } from '../operation.ts';
import { holderOfClient, isUsable } from './login.ts';
import { cookieOf, holderOf, issuedTokens, presentTokens } from './login-fields.ts';

export const refreshToken = operation({
  path: '/billing/auth/refresh-token',
  method: 'Login',
  action: 'Refresh Token',
  access: 'public',
  summary: 'Exchanges a refresh token, once, for new tokens; the old ones end.',
  request: Type.Object({ refreshToken: maybe(filledText({ max: 200 })) }),
  response: issuedTokens,
  errors: [],
  example: { refreshToken: '1.kXv0…' },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const sent = tokenOf(call, body.refreshToken);
    const { isCookie } = sent;
    const tokenTenant = tenantOfToken(sent.refreshToken);
    if (tokenTenant === undefined) throw new AppError('TOKEN_INVALID', { field: 'refreshToken' });
    if (tokenTenant !== tenantId) {
      throw new AppError('TOKEN_WORKSPACE_MISMATCH', { field: 'refreshToken' });
    }
    const outcome = await call.write(async (tx, audit) => {
      const settings = await findSettings(tx, tenantId);
      const life = {
        at: call.realNow,
        lifetimeSeconds: settings.access_token_seconds,
        idleSeconds: settings.idle_seconds,
      };
      const renewal = await renewSession(tx, tenantId, sent, life);
      const { sessionId } = renewal;
      const login = renewal.loginId && (await findLoginById(tx, tenantId, renewal.loginId));
      const client = login ? undefined : await findClientOfSession(tx, tenantId, sessionId);
      const actor: Actor = login
        ? { name: login.username, kind: 'Login' }
        : { name: client?.client_id ?? 'unknown', kind: 'Client' };
      // A page that is loaded again goes on with the session of its browser: nothing has changed.
      if (!isCookie || renewal.kind === 'reused') {
        audit(actor, {
          subject: 'session',
          subjectId: sessionId,
          before: null,
          after: { event: renewal.kind },
        });
      }
      // The end of a stolen session must be stored: the error is thrown after the transaction.
      if (renewal.kind === 'reused') return undefined;
      const usable = login ? login.status === 'ACTIVE' : client && isUsable(client, call);
      if (!usable) throw new AppError('TOKEN_REVOKED', { field: 'refreshToken' });
      const holder = login ? holderOf(login) : client && holderOfClient(client);
      if (!holder) return undefined;
      const data = presentTokens(renewal.issued, holder, {
        tenant: call.tenant,
        locale: settings.locale,
        inCookie: isCookie,
        at: call.realNow,
      });
      return { data, ...(isCookie ? { cookie: cookieOf(renewal.issued) } : {}) };
    });
    if (!outcome) {
      throw new AppError('TOKEN_REVOKED', {
        message: 'This refresh token was used before; the session has been ended',
        field: 'refreshToken',
      });
    }
    return { message: 'Token refreshed', ...outcome };
  },
});

/** A cookie counts only for a page of our own: another site can make a browser send it. */
function tokenOf(
  call: PublicCall,
  inBody: string | null | undefined,
): { refreshToken: string; isCookie: boolean } {
  if (inBody) return { refreshToken: inBody, isCookie: false };
  if (call.cookieToken === null) {
    const message = 'Send refreshToken, or call from a page that has a session';
    throw new AppError('REQUIRED_FIELD', { message, field: 'refreshToken' });
  }
  if (!call.isFromOwnPage) {
    const message = 'The session of a browser is renewed only by pages of this server';
    throw new AppError('TOKEN_INVALID', { message, field: 'refreshToken' });
  }
  return { refreshToken: call.cookieToken, isCookie: true };
}
