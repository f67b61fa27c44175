import * as Type from 'typebox';
import { AppError, errorFromDetails } from '../../base/errors.ts';
import { changeParty } from '../../domain/parties/update.ts';
import { deliveryChannels } from '../../domain/tenants/channels.ts';
import { empty, maybe, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { factProblems, factsSent, partyFields, presentParty } from './party-fields.ts';

export const updateOwnDetails = operation({
  path: '/billing/users/update-own-details',
  method: 'Update',
  action: 'Update Own Details',
  access: { permission: 'parties:write', own: 'own-party:write' },
  summary: "Changes contacts, language and delivery channel of the login's own party.",
  request: Type.Object({
    data: Type.Object({
      contacts: partyFields.contacts,
      language: partyFields.language,
      deliveryChannel: maybe(oneOf(deliveryChannels)),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['PARTY_NOT_FOUND', 'PARTY_ARCHIVED', 'STALE_OBJECT'],
  example: { data: { language: 'en', deliveryChannel: 'Email' } },
  async handle(call, { data }) {
    const partyId = call.ownPartyId ?? call.principal.partyId;
    if (partyId === null) {
      const message = 'This login has no party of its own. Change parties with update-user.';
      throw new AppError('PARTY_NOT_FOUND', { message });
    }
    const sent = {
      ...(data.contacts === undefined ? {} : { contacts: data.contacts }),
      ...(data.language === undefined ? {} : { language: data.language }),
      ...(data.deliveryChannel === undefined
        ? {}
        : { deliveryChannels: data.deliveryChannel === null ? null : [data.deliveryChannel] }),
    };
    const problems = factProblems(sent, 'data');
    if (problems.length > 0) throw errorFromDetails(problems);
    const done = await changeParty(
      call.tx,
      call.tenant.tenantId,
      { partyId, partyNumber: undefined },
      { facts: factsSent(sent), archived: undefined, accounts: [], seenTs: data.ts },
      { at: call.now, by: call.principal.name },
    );
    const shown = (row: typeof done.before) => ({
      ...presentParty(row, call.tenant),
      language: row.language,
      deliveryChannels: row.delivery_channels,
    });
    const [before, after] = [shown(done.before), shown(done.after)];
    call.audit({ subject: 'party', subjectId: partyId, before, after });
    return { message: 'Your details are updated', data: {} };
  },
});
