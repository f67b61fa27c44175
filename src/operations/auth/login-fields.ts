// What login and refresh answer, and the rules for roles, passwords and addresses.
import { isIP } from 'node:net';
import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { formatTimestamp } from '../../base/calendar.ts';
import { passwordLengthMax, passwordLengthMin } from '../../domain/access/passwords.ts';
import { permissionsOf, roleNames } from '../../domain/access/roles.ts';
import type { Issued } from '../../domain/access/sessions.ts';
import type { LoginRow } from '../../domain/access/store.ts';
import { usernameLengthMax } from '../../domain/access/workspaces.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { filledText, maybe, nullable, oneOf, timestamp } from '../fields.ts';

Format.Set('address-range', (range) => {
  const [base = '', bits, ...rest] = range.split('/');
  const family = isIP(base);
  if (family === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
  );
});

export const username = filledText({ max: usernameLengthMax });
export const password = Type.String({
  minLength: passwordLengthMin,
  maxLength: passwordLengthMax,
  'x-code': 'INVALID_FORMAT',
});
export const clientId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{2,119}$',
  maxLength: 120,
  'x-code': 'INVALID_FORMAT',
  description: '3 to 120 letters, digits, dots, hyphens and underscores',
});
export const clientSecret = Type.String({
  minLength: 32,
  maxLength: passwordLengthMax,
  'x-code': 'INVALID_FORMAT',
});
export const roles = Type.Array(oneOf(roleNames), { minItems: 1, maxItems: roleNames.length });
/** A machine has no party of its own, which is all that a Customer may see. */
const clientRoleNames = roleNames.filter((name) => name !== 'Customer');
export const clientRoles = Type.Array(oneOf(clientRoleNames), {
  minItems: 1,
  maxItems: clientRoleNames.length,
});
export const allowedAddresses = Type.Array(
  Type.String({
    format: 'address-range',
    maxLength: 49,
    'x-code': 'INVALID_FORMAT',
    description: 'an address such as 203.0.113.7 or a range such as 203.0.113.0/24',
  }),
  { maxItems: 100 },
);
export const loginStatus = oneOf(['ACTIVE', 'INACTIVE']);

/** Cookie is for pages of this server: no script of theirs can read the refresh token. */
export const sessionKind = maybe(oneOf(['Token', 'Cookie']));

/** Programs always get it, so their type has it; a browser that asked for a cookie does not. */
const shownRefreshToken = Type.Optional(
  Type.String({ description: 'absent if the session is a cookie of a browser' }),
) as unknown as Type.TString;

export const issuedTokens = Type.Object({
  accessToken: Type.String(),
  expiresIn: Type.Integer({ description: 'seconds' }),
  expiresAt: timestamp,
  refreshToken: shownRefreshToken,
  refreshExpiresIn: Type.Integer({ description: 'seconds' }),
  scope: Type.Array(Type.String()),
  user: Type.Object({
    userID: Type.Integer(),
    partyID: nullable(Type.Integer()),
    partyNumber: nullable(Type.Integer({ description: 'of a login that belongs to a party' })),
    name: Type.String(),
    email: nullable(Type.String()),
    userType: Type.String({ description: 'kind of the party, or Operator, or Client' }),
    roles: Type.Array(Type.String()),
  }),
  workspace: Type.String(),
  currency: Type.String({ description: 'of the workspace, with its decimals' }),
  currencyDecimals: Type.Integer(),
  locale: Type.String({ description: 'of the workspace: how amounts are grouped, such as en-PK' }),
  now: Type.String({ description: 'the present time of the workspace; a sandbox has its own' }),
});

export type Holder = {
  userID: number;
  partyID: number | null;
  partyNumber: number | null;
  name: string;
  email: string | null;
  userType: string;
  roles: readonly string[];
};

export function holderOf(login: LoginRow): Holder {
  return {
    userID: login.login_id,
    partyID: login.party_id,
    partyNumber: login.party_number,
    name: login.name,
    email: login.email,
    userType: login.party_kind ?? 'Operator',
    roles: login.roles,
  };
}

/** What a browser keeps of new tokens. */
export function cookieOf(issued: Issued): { token: string; seconds: number } {
  return { token: issued.refreshToken, seconds: issued.refreshExpiresIn };
}

export function presentTokens(
  issued: Issued,
  holder: Holder,
  {
    tenant,
    locale,
    inCookie,
    at,
  }: { tenant: Tenant; locale: string; inCookie: boolean; at: Temporal.Instant },
) {
  const now = at.add({ milliseconds: tenant.clockOffsetMs });
  return {
    accessToken: issued.accessToken,
    expiresIn: issued.expiresIn,
    expiresAt: formatTimestamp(issued.expiresAt, tenant.timezone),
    ...((inCookie ? {} : { refreshToken: issued.refreshToken }) as { refreshToken: string }),
    refreshExpiresIn: issued.refreshExpiresIn,
    scope: [...permissionsOf(holder.roles)],
    user: { ...holder, roles: [...holder.roles] },
    workspace: tenant.workspace,
    currency: tenant.currency,
    currencyDecimals: tenant.currencyDecimals,
    locale,
    now: formatTimestamp(now, tenant.timezone),
  };
}
