import * as Type from 'typebox';
import { hashToken } from '../../base/secrets.ts';
import { findLinkOwner, spendLink } from '../../domain/access/links-store.ts';
import { failureKey, openSession } from '../../domain/access/sessions.ts';
import { findLoginById } from '../../domain/access/store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { linkInvalid, linkText } from './link-fields.ts';
import { cookieOf, holderOf, issuedTokens, presentTokens, sessionKind } from './login-fields.ts';
import { assertFactor } from './second-factor-fields.ts';

export const redeemLink = operation({
  path: '/billing/auth/redeem-link',
  method: 'Login',
  action: 'Redeem Link',
  access: 'public',
  summary: 'Logs in by a link that was mailed; it works once.',
  request: Type.Object({
    link: linkText,
    code: maybe(text({ max: 40 })),
    session: sessionKind,
  }),
  response: issuedTokens,
  errors: ['LINK_INVALID', 'CODE_REQUIRED', 'CODE_WRONG', 'LOGIN_LOCKED'],
  example: { link: '1.Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbg' },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const { realNow: at, address } = call;
    const link = { hash: hashToken(body.link.trim()), purpose: 'Login' as const };
    const owner = await call.write((tx) => findLinkOwner(tx, tenantId, link, at));
    if (owner === undefined) throw linkInvalid();
    const key = failureKey(`link/${owner}`);
    await assertFactor(call, { loginId: owner, key, code: body.code ?? null });
    const opened = await call.write(async (tx, audit) => {
      const loginId = await findLinkOwner(tx, tenantId, link, at);
      const login = loginId && (await findLoginById(tx, tenantId, loginId));
      if (!loginId || !login || login.status !== 'ACTIVE') throw linkInvalid();
      if (!(await spendLink(tx, tenantId, { ...link, loginId }, at))) throw linkInvalid();
      const settings = await findSettings(tx, tenantId);
      const { access_token_seconds: lifetimeSeconds, locale } = settings;
      const after = { event: 'login by link', roles: login.roles };
      const actor = { name: login.username, kind: 'Login' as const };
      audit(actor, { subject: 'login', subjectId: loginId, before: null, after });
      const session = { owner: { loginId }, address, at, lifetimeSeconds };
      return { login, locale, issued: await openSession(tx, tenantId, session) };
    });
    const inCookie = body.session === 'Cookie';
    const { issued, login, locale } = opened;
    return {
      message: 'Logged in',
      data: presentTokens(issued, holderOf(login), {
        tenant: call.tenant,
        locale,
        inCookie,
        at: call.realNow,
      }),
      ...(inCookie ? { cookie: cookieOf(issued) } : {}),
    };
  },
});
