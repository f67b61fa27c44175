import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { nameKey, usernameFault, usernameOf } from '../../domain/access/names.ts';
import { passwordFault } from '../../domain/access/passwords.ts';
import {
  findTakenNames,
  insertLogins,
  lockPartiesOfLogins,
  namesOf,
  type PartyOfLogin,
  showPortalStatus,
} from '../../domain/access/store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { email, empty, filledText, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { hashAll, hashingTurns } from './hashing-fields.ts';
import { password, roles, username } from './login-fields.ts';

/** Each password costs tens of milliseconds of hashing; a call must not take for ever. */
const loginsMax = 50;

export const makeLogins = operation({
  path: '/billing/auth/make-logins',
  method: 'Create',
  action: 'Create Logins',
  access: { permission: 'access:write' },
  summary: 'Creates logins for operators, or for parties that use the portal.',
  request: Type.Object({
    logins: Type.Array(
      Type.Object({
        username,
        email: maybe(email),
        name: filledText({ max: 200 }),
        password,
        roles,
        partyNumber: maybe(id),
      }),
      { minItems: 1, maxItems: loginsMax },
    ),
  }),
  response: empty,
  errors: ['DUPLICATE', 'PARTY_NOT_FOUND', 'PARTY_ARCHIVED', 'PASSWORD_TOO_WEAK', 'ROWS_REJECTED'],
  example: {
    logins: [
      {
        username: 'ops1',
        email: 'ops1@example.com',
        name: 'Operator One',
        password: 'correct horse battery',
        roles: ['Billing Operator'],
      },
    ],
  },
  turns: hashingTurns,
  prepare(call, { logins }) {
    const problems = logins.flatMap((one, index) => faultsOf(one, `logins[${index}]`, call.tenant));
    if (problems.length > 0) throw errorFromRows(problems);
    return hashAll(
      call,
      logins.map((one) => one.password),
    );
  },
  async handle(call, body, hashes) {
    const { tx, tenant } = call;
    const numbers = body.logins.flatMap((one) => one.partyNumber ?? []);
    const parties = await lockPartiesOfLogins(tx, tenant.tenantId, numbers);
    const taken = await findTakenNames(tx, tenant.tenantId, body.logins.flatMap(loginNames));
    const problems = problemsOf(body.logins, parties, taken);
    if (problems.length > 0) throw errorFromRows(problems);
    const logins = body.logins.map((one, index) => ({
      username: usernameOf(one.username),
      email: one.email ?? null,
      name: one.name.trim(),
      passwordHash: hashes[index] as string,
      roles: [...new Set(one.roles)],
      partyId: one.partyNumber ? (parties.get(one.partyNumber)?.party_id ?? null) : null,
    }));
    const firstId = await takeNumbers(tx, tenant.tenantId, 'login', logins.length);
    const stamp = { at: call.now, by: call.principal.name };
    await insertLogins(tx, tenant.tenantId, firstId, logins, stamp);
    const partyIds = [...parties.values()].map((party) => party.party_id);
    await showPortalStatus(tx, tenant.tenantId, partyIds);
    logins.forEach(({ passwordHash: _, ...after }, index) => {
      call.audit({ subject: 'login', subjectId: firstId + index, before: null, after });
    });
    const resourceIds = logins.map((_, index) => firstId + index);
    return {
      message: `${counted(logins.length, 'login')} created`,
      data: {},
      ids: { resourceIds },
    };
  },
});

type Sent = {
  username: string;
  email?: string | null;
  password: string;
  roles: string[];
  partyNumber?: number | null;
};

function loginNames(sent: Sent): string[] {
  return namesOf({ username: sent.username, email: sent.email ?? null });
}

/** What needs no look into the database, and is found before anything is hashed. */
function faultsOf(one: Sent, at: string, { workspace }: { workspace: string }): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const name = usernameFault(one.username);
  if (name !== undefined) {
    problems.push({ field: `${at}.username`, code: 'INVALID_CHARACTER', message: name });
  }
  const password = passwordFault(one.password, [one.username, one.email ?? '', workspace]);
  if (password !== undefined) {
    problems.push({ field: `${at}.password`, code: 'PASSWORD_TOO_WEAK', message: password });
  }
  return problems;
}

function problemsOf(
  logins: readonly Sent[],
  parties: Map<number, PartyOfLogin>,
  taken: Set<string>,
): ErrorDetail[] {
  const sent = new Set<string>();
  return logins.flatMap((one, index): ErrorDetail[] => {
    const at = `logins[${index}]`;
    const problems: ErrorDetail[] = [];
    const party = one.partyNumber ? parties.get(one.partyNumber) : undefined;
    if (one.partyNumber && !party) {
      const message = `No party has the number ${one.partyNumber}`;
      problems.push({ field: `${at}.partyNumber`, code: 'PARTY_NOT_FOUND', message });
    }
    if (party?.archived) {
      const message = `Party ${party.party_number} is archived; restore it first`;
      problems.push({ field: `${at}.partyNumber`, code: 'PARTY_ARCHIVED', message });
    }
    if (one.roles.includes('Customer') && !one.partyNumber) {
      const message = 'A login with the role Customer needs a partyNumber';
      problems.push({ field: `${at}.partyNumber`, code: 'REQUIRED_FIELD', message });
    }
    problems.push(...duplicatesOf(one, at, { taken, sent }));
    return problems;
  });
}

/** A name counts as taken, too, if it looks like one that is. */
function duplicatesOf(
  one: Sent,
  at: string,
  { taken, sent }: { taken: Set<string>; sent: Set<string> },
): ErrorDetail[] {
  return loginNames(one).flatMap((key): ErrorDetail[] => {
    const isUsername = key === nameKey(one.username);
    const field = isUsername ? `${at}.username` : `${at}.email`;
    const name = (isUsername ? one.username : (one.email ?? '')).trim();
    const isTaken = taken.has(key);
    const isTwice = sent.has(key);
    sent.add(key);
    if (!isTaken && !isTwice) return [];
    const message = isTaken
      ? `A login named ${name}, or with a name that looks like it, exists already`
      : `${name} appears twice in this request`;
    return [{ field, code: 'DUPLICATE', message, rejectedValue: name }];
  });
}
