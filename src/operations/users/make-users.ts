import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { errorFromDetails } from '../../base/errors.ts';
import { hasIdleSkills, type PartyKind } from '../../domain/parties/party.ts';
import { insertParties } from '../../domain/parties/store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { empty, filledText, limits, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import { factProblems, newParty, partyFields } from './party-fields.ts';

const kindByUserType = { customer: 'Customer', employee: 'Employee', vendor: 'Vendor' } as const;

export const makeUsers = operation({
  path: '/billing/users/make-users',
  method: 'Create',
  action: 'Create Parties',
  access: { permission: 'parties:write' },
  summary: 'Creates one or more parties, all or none; X-Party-Number has their numbers.',
  takesRows: true,
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
    const problems = body.users.flatMap((user, index) => factProblems(user, `users[${index}]`));
    if (problems.length > 0) throw errorFromDetails(problems);
    const settings = await findSettings(tx, tenantId);
    const idle: string[] = [];
    const parties = body.users.map((user, index) => {
      if (!hasIdleSkills(kind, user.competencies)) return newParty(user, settings.country);
      idle.push(`users[${index}].competencies`);
      return newParty({ ...user, competencies: null }, settings.country);
    });
    call.ignore(idle);
    const stamp = { at: call.now, by: call.principal.name };
    const firstId = await takeNumbers(tx, tenantId, 'party', parties.length);
    const firstNumber = await takeNumbers(tx, tenantId, 'party-number', parties.length);
    const idOf = (index: number) => firstId + index;
    const numberOf = (index: number) => firstNumber + index;
    await insertParties(tx, tenantId, kind, parties, { idOf, numberOf }, stamp);
    const resourceIds = parties.map((_, index) => idOf(index));
    const partyNumbers = parties.map((_, index) => numberOf(index));
    parties.forEach((party, index) => {
      const after = { partyNumber: partyNumbers[index], userType: kind, ...party };
      call.audit({ subject: 'party', subjectId: resourceIds[index] ?? 0, before: null, after });
    });
    const message = `${counted(parties.length, 'party', 'parties')} created`;
    return { message, data: {}, ids: { resourceIds, partyNumbers } };
  },
});
