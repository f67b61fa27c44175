import * as Type from 'typebox';
import type { PartyFacts, PartyKind } from '../../domain/parties/party.ts';
import { insertParties } from '../../domain/parties/store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { empty, filledText, limits, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import { factsSent, partyFields } from './party-fields.ts';

const kindByUserType = { customer: 'Customer', employee: 'Employee', vendor: 'Vendor' } as const;

export const makeUsers = operation({
  path: '/billing/users/make-users',
  method: 'Create',
  action: 'Create Parties',
  access: { permission: 'parties:write' },
  summary: 'Makes one or more parties, all or none; X-Party-Number tells their numbers.',
  request: Type.Object({
    userType: oneOf(['customer', 'employee', 'vendor']),
    users: Type.Array(Type.Object({ name: filledText({ max: 200 }), ...partyFields }), {
      minItems: 1,
      maxItems: limits.batch,
    }),
  }),
  response: empty,
  errors: [],
  example: {
    userType: 'customer',
    users: [
      {
        country: 'PK',
        name: 'A. Khan',
        email: 'a.khan@example.com',
        contacts: [{ contactType: 'Mobile', contactValue: '+92 300 1234567' }],
      },
    ],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const kind: PartyKind = kindByUserType[body.userType];
    const settings = await findSettings(tx, tenantId);
    const parties = body.users.map(
      (user): PartyFacts => ({
        ...blank,
        country: settings.country,
        ...withoutNull(factsSent(user)),
      }),
    );
    const stamp = { at: call.now, by: call.principal.name };
    const numbers = {
      firstId: await takeNumbers(tx, tenantId, 'party', parties.length),
      firstNumber: await takeNumbers(tx, tenantId, 'party-number', parties.length),
    };
    await insertParties(tx, tenantId, kind, parties, numbers, stamp);
    const resourceIds = parties.map((_, index) => numbers.firstId + index);
    const partyNumbers = parties.map((_, index) => numbers.firstNumber + index);
    parties.forEach((party, index) => {
      const after = { partyNumber: partyNumbers[index], userType: kind, ...party };
      call.audit({ subject: 'party', subjectId: resourceIds[index] ?? 0, before: null, after });
    });
    const message = parties.length === 1 ? '1 party created' : `${parties.length} parties created`;
    return { message, data: {}, ids: { resourceIds, partyNumbers } };
  },
});

const blank: PartyFacts = {
  name: '',
  email: null,
  country: null,
  contacts: [],
  identityNumber: null,
  taxNumber: null,
  address: null,
  language: null,
  competencies: [],
  deliveryChannels: null,
};

/** On create null means that nothing was given. */
function withoutNull<T extends object>(facts: T): T {
  const given = Object.entries(facts).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as T;
}
