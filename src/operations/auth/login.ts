import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { verifySecret } from '../../base/secrets.ts';
import { isAllowed, isLoopback } from '../../domain/access/addresses.ts';
import { type ClientRow, findClient } from '../../domain/access/clients-store.ts';
import { demoLogin } from '../../domain/access/demo-login.ts';
import { nameKey } from '../../domain/access/names.ts';
import { passwordLengthMax } from '../../domain/access/passwords.ts';
import {
  assertNotLocked,
  failureKey,
  openSession,
  recordFailure,
} from '../../domain/access/sessions.ts';
import { clearLoginFailures, type Owner } from '../../domain/access/sessions-store.ts';
import { findLoginByName } from '../../domain/access/store.ts';
import type { Actor, AuditEntry } from '../../domain/audit/store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { maybe, text } from '../fields.ts';
import { operation, type PublicCall } from '../operation.ts';
import {
  cookieOf,
  type Holder,
  holderOf,
  issuedTokens,
  presentTokens,
  sessionKind,
} from './login-fields.ts';
import { assertFactor } from './second-factor-fields.ts';

type Credentials = { kind: 'login' | 'client'; name: string; secret: string };
type Candidate = { owner: Owner; holder: Holder; actor: Actor; hash: string; usable: boolean };

export const login = operation({
  path: '/billing/auth/login',
  method: 'Login',
  action: 'Login User',
  access: 'public',
  summary: 'Exchanges user name and password, or clientID and clientSecret, for a token.',
  request: Type.Object({
    username: maybe(text({ max: 254 })),
    password: maybe(text({ max: passwordLengthMax })),
    clientID: maybe(text({ max: 120 })),
    clientSecret: maybe(text({ max: passwordLengthMax })),
    code: maybe(text({ max: 40 })),
    session: sessionKind,
  }),
  response: issuedTokens,
  errors: ['LOGIN_FAILED', 'LOGIN_LOCKED', 'CODE_REQUIRED', 'CODE_WRONG', 'DEFAULT_PASSWORD'],
  example: { username: demoLogin.username, password: demoLogin.password },
  async handle(call, body) {
    const credentials = credentialsOf(body);
    const { tenantId } = call.tenant;
    // By the name that was sent, whether or not it exists. If the user name and the e-mail address
    // of a login had one count, two names that are locked together would be known to exist.
    const key = failureKey(`${credentials.kind}/${nameKey(credentials.name)}`);
    const candidate = await call.write(async (tx) => {
      await assertNotLocked(tx, tenantId, key, { at: call.realNow, lock: false });
      return findCandidate(tx, call, credentials);
    });
    // Outside any transaction: it takes tens of milliseconds, and as long for an unknown name.
    const matches = await verifySecret(credentials.secret, candidate?.hash, tenantId);
    if (!matches || !candidate?.usable) {
      throw await call.write(async (tx, audit) => {
        const refusal = await recordFailure(tx, tenantId, key, call.realNow);
        if (candidate && refusal.code === 'LOGIN_LOCKED') {
          audit(candidate.actor, lockEntry(credentials.kind, candidate));
        }
        return refusal;
      });
    }
    assertNotDefault(credentials.secret, call.address);
    const { owner } = candidate;
    if ('loginId' in owner) await assertFactor(call, { ...owner, key, code: body.code ?? null });
    const { issued, locale } = await call.write(async (tx, audit) => {
      // Again, because many guesses sent at once pass the first look together.
      await assertNotLocked(tx, tenantId, key, { at: call.realNow, lock: true });
      await clearLoginFailures(tx, tenantId, key);
      const settings = await findSettings(tx, tenantId);
      const { access_token_seconds: lifetimeSeconds, locale } = settings;
      const { holder } = candidate;
      audit(candidate.actor, {
        subject: credentials.kind,
        subjectId: holder.userID,
        before: null,
        after: { event: 'login', roles: holder.roles },
      });
      const session = { owner, address: call.address, at: call.realNow, lifetimeSeconds };
      return { locale, issued: await openSession(tx, tenantId, session) };
    });
    const inCookie = body.session === 'Cookie';
    return {
      message: 'Logged in',
      data: presentTokens(issued, candidate.holder, {
        tenant: call.tenant,
        locale,
        inCookie,
        at: call.realNow,
      }),
      ...(inCookie ? { cookie: cookieOf(issued) } : {}),
    };
  },
});

/** Also if a demo is created or resumed while a server runs that the network can reach. */
function assertNotDefault(password: string, address: string): void {
  if (password !== demoLogin.password || isLoopback(address)) return;
  throw new AppError('DEFAULT_PASSWORD', {
    message:
      'The demo password works only from the machine that runs the server. ' +
      'Log in there and change it with auth/change-password.',
  });
}

/** Unknown user names are not stored: one of them may be a password typed into the wrong box. */
function lockEntry(subject: string, candidate: Candidate): AuditEntry {
  const after = { event: 'locked after failed logins' };
  return { subject, subjectId: candidate.holder.userID, before: null, after };
}

function credentialsOf(body: {
  username?: string | null;
  password?: string | null;
  clientID?: string | null;
  clientSecret?: string | null;
}): Credentials {
  if (body.username && body.password) {
    return { kind: 'login', name: body.username, secret: body.password };
  }
  if (body.clientID && body.clientSecret) {
    return { kind: 'client', name: body.clientID, secret: body.clientSecret };
  }
  throw new AppError('REQUIRED_FIELD', {
    message: 'Send username and password, or clientID and clientSecret',
    field: body.username ? 'password' : body.clientID ? 'clientSecret' : 'username',
  });
}

async function findCandidate(
  tx: Parameters<Parameters<PublicCall['write']>[0]>[0],
  call: PublicCall,
  credentials: Credentials,
): Promise<Candidate | undefined> {
  if (credentials.kind === 'login') {
    const found = await findLoginByName(tx, call.tenant.tenantId, credentials.name);
    if (!found) return undefined;
    return {
      owner: { loginId: found.login_id },
      holder: holderOf(found),
      actor: { name: found.username, kind: 'Login' },
      hash: found.password_hash,
      usable: found.status === 'ACTIVE',
    };
  }
  const client = await findClient(tx, call.tenant.tenantId, credentials.name);
  if (!client) return undefined;
  return {
    owner: { clientNumber: client.client_number },
    holder: holderOfClient(client),
    actor: { name: client.client_id, kind: 'Client' },
    hash: client.secret_hash,
    usable: isUsable(client, call),
  };
}

/** A machine client may log in and renew its tokens where and while it may use them. */
export function isUsable(client: ClientRow, call: PublicCall): boolean {
  const isExpired =
    client.expires_at !== null && Temporal.Instant.compare(client.expires_at, call.realNow) <= 0;
  const isHere = isAllowed(call.address, client.allowed_addresses);
  return client.status === 'ACTIVE' && !isExpired && isHere;
}

export function holderOfClient(client: ClientRow): Holder {
  return {
    userID: client.client_number,
    partyID: null,
    partyNumber: null,
    name: client.client_id,
    email: null,
    userType: 'Client',
    roles: client.roles,
  };
}
