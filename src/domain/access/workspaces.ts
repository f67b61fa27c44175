// Making a workspace: its registry row, its settings, its first administrator.
import { isTimeZone } from '../../base/calendar.ts';
import { countryCode } from '../../base/countries.ts';
import { currencyDecimals, isCurrency } from '../../base/currencies.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { isLocale } from '../../base/locales.ts';
import { commandLine, hashSecret } from '../../base/secrets.ts';
import { insertFirstMeterTypes } from '../tenants/meter-types-store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { enterTenant, insertTenant, insertWorkspace, type NewTenant } from '../tenants/store.ts';
import { usernameFault, usernameOf } from './names.ts';
import { passwordFault, passwordLengthMax } from './passwords.ts';
import { insertLogins } from './store.ts';

/** As the operations have it that change these later. */
export const usernameLengthMax = 120;
const nameLengthMax = 200;

export type WorkspaceRequest = {
  workspace: string;
  name: string;
  timezone: string;
  currency: string;
  country: string;
  locale: string;
  sandbox: boolean;
  adminEmail: string;
  adminPassword: string;
  /** The demo has a published password. */
  isDemo?: boolean;
};

export type PreparedWorkspace = {
  workspace: string;
  facts: NewTenant;
  admin: { email: string; passwordHash: string };
};

/** Checks the request and hashes the password, before a transaction is opened. */
export async function prepareWorkspace(request: WorkspaceRequest): Promise<PreparedWorkspace> {
  const country = countryCode(request.country);
  if (!country) throw new AppError('INVALID_COUNTRY', { field: 'country' });
  if (!isTimeZone(request.timezone)) {
    throw new AppError('INVALID_ENUM', {
      message: `'${request.timezone}' is not an IANA time zone (such as Asia/Karachi)`,
      field: 'timezone',
    });
  }
  if (!isCurrency(request.currency)) {
    throw new AppError('INVALID_ENUM', {
      message: `'${request.currency}' is not an ISO 4217 currency (such as PKR)`,
      field: 'currency',
    });
  }
  if (!isLocale(request.locale)) {
    throw new AppError('INVALID_ENUM', {
      message: `'${request.locale}' is not a language tag (such as en-PK)`,
      field: 'locale',
    });
  }
  assertTexts(request);
  return {
    workspace: request.workspace,
    facts: {
      name: request.name.trim(),
      timezone: request.timezone,
      currency: request.currency,
      currencyDecimals: currencyDecimals(request.currency),
      country,
      locale: request.locale,
      sandbox: request.sandbox,
    },
    admin: {
      email: request.adminEmail,
      passwordHash: await hashSecret(request.adminPassword, commandLine),
    },
  };
}

/** Texts that the operations would refuse are refused here too: a login could not use them. */
function assertTexts({ name, adminEmail, adminPassword, ...request }: WorkspaceRequest): void {
  if (name.trim() === '') {
    throw new AppError('REQUIRED_FIELD', { message: 'The name is empty', field: 'name' });
  }
  const limits = [
    { field: 'name', what: 'name', text: name, max: nameLengthMax },
    { field: 'admin', what: 'address', text: adminEmail, max: usernameLengthMax },
    { field: 'password', what: 'password', text: adminPassword, max: passwordLengthMax },
  ];
  for (const { field, what, text, max } of limits) {
    if (text.length <= max) continue;
    const message = `The ${what} may have at most ${max} characters`;
    throw new AppError('FIELD_TOO_LONG', { message, field });
  }
  const nameFault = usernameFault(adminEmail);
  if (nameFault !== undefined) {
    throw new AppError('INVALID_CHARACTER', { message: nameFault, field: 'admin' });
  }
  const fault = passwordFault(adminPassword, [adminEmail, request.workspace]);
  if (fault === undefined || request.isDemo) return;
  throw new AppError('PASSWORD_TOO_WEAK', { message: fault, field: 'password' });
}

export async function createWorkspace(
  tx: Tx,
  prepared: PreparedWorkspace,
  at: Temporal.Instant,
): Promise<number> {
  const stamp = { at, by: 'command line' };
  const tenantId = await insertWorkspace(tx, prepared.workspace, at);
  await enterTenant(tx, tenantId);
  await insertTenant(tx, tenantId, prepared.facts, stamp);
  await insertFirstMeterTypes(tx, tenantId, stamp);
  const loginId = await takeNumbers(tx, tenantId, 'login', 1);
  const admin = {
    username: usernameOf(prepared.admin.email),
    email: prepared.admin.email,
    name: 'Administrator',
    passwordHash: prepared.admin.passwordHash,
    roles: ['Administrator'],
    partyId: null,
  };
  await insertLogins(tx, tenantId, loginId, [admin], stamp);
  return tenantId;
}
