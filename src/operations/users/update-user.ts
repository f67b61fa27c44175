import * as Type from 'typebox';
import { AppError, errorFromDetails } from '../../base/errors.ts';
import { hasIdleSkills } from '../../domain/parties/party.ts';
import { changeParty, type PartyUpdate } from '../../domain/parties/update.ts';
import { dunningHold, saveHoldSent } from '../dunning/hold-fields.ts';
import { empty, filledText, id, limits, maybe, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { factProblems, factsSent, partyFields, presentParty } from './party-fields.ts';

export const updateUser = operation({
  path: '/billing/users/update-user',
  method: 'Update',
  action: 'Update Parties',
  access: { permission: 'parties:write' },
  summary: 'Changes a party, adds or renames its billing accounts, archives or restores it.',
  request: Type.Object({
    user: Type.Object({
      partyID: maybe(id),
      partyNumber: maybe(id),
      name: Type.Optional(filledText({ max: 200 })),
      ...partyFields,
      connectionGroups: maybe(
        Type.Array(
          Type.Object({
            connectionGroupID: maybe(id),
            connectionGroupLabel: filledText({ max: limits.accountLabel }),
          }),
          { maxItems: limits.batch },
        ),
      ),
      archiveStatus: maybe(oneOf([0, 1, '0', '1', true, false])),
      dunningHold,
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    'PARTY_NOT_FOUND',
    'PARTY_KEY_MISMATCH',
    'STALE_OBJECT',
    'PARTY_ARCHIVED',
    'PARTY_HAS_ACTIVE_SUBSCRIPTIONS',
    'PARTY_HAS_BALANCE',
    'LAST_ADMINISTRATOR',
    'ACCOUNT_NOT_FOUND',
    'DUPLICATE',
  ],
  example: {
    user: {
      partyNumber: 100001,
      name: 'A. Khan',
      email: 'a.khan@example.com',
      connectionGroups: [{ connectionGroupLabel: 'House 12-B' }],
    },
  },
  async handle(call, body) {
    const { user } = body;
    const keys = { partyId: user.partyID ?? undefined, partyNumber: user.partyNumber ?? undefined };
    if (keys.partyId === undefined && keys.partyNumber === undefined) {
      throw new AppError('REQUIRED_FIELD', {
        message: 'Send partyID or partyNumber',
        field: 'user.partyID',
      });
    }
    const problems = factProblems(user, 'user');
    if (problems.length > 0) throw errorFromDetails(problems);
    const change = {
      facts: factsSent(user),
      archived: user.archiveStatus == null ? undefined : Number(user.archiveStatus) === 1,
      accounts: (user.connectionGroups ?? []).map((group) => ({
        ...(group.connectionGroupID == null ? {} : { accountId: group.connectionGroupID }),
        label: group.connectionGroupLabel.trim(),
      })),
      seenTs: user.ts,
    };
    const stamp = { at: call.now, by: call.principal.name };
    const done = await changeParty(call.tx, call.tenant.tenantId, keys, change, stamp);
    call.audit({
      subject: 'party',
      subjectId: done.after.party_id,
      before: snapshot(done, 'before', call.tenant),
      after: snapshot(done, 'after', call.tenant),
    });
    const holder = { kind: 'Party', id: done.after.party_id } as const;
    await saveHoldSent(call, holder, user.dunningHold);
    for (const subjectId of done.closedLogins) {
      const [before, after] = [{ status: 'ACTIVE' }, { status: 'INACTIVE' }];
      call.audit({ subject: 'login', subjectId, before, after });
    }
    if (hasIdleSkills(done.after.kind, user.competencies)) call.ignore(['user.competencies']);
    return {
      message: `Party ${done.after.party_number} updated`,
      data: {},
      ids: { resourceIds: [done.after.party_id], partyNumbers: [done.after.party_number] },
    };
  },
});

function snapshot(
  done: PartyUpdate,
  when: 'before' | 'after',
  tenant: Parameters<typeof presentParty>[1],
) {
  const row = done[when];
  const accounts = when === 'before' ? done.accountsBefore : done.accountsAfter;
  return {
    ...presentParty(row, tenant),
    identityNumber: row.identity_number,
    taxNumber: row.tax_number,
    address: row.address,
    language: row.language,
    competencies: row.competencies,
    deliveryChannels: row.delivery_channels,
    connectionGroups: accounts.map((account) => account.label),
  };
}
