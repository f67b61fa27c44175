import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import { eventsOf, insertEvents } from '../../domain/events/events-store.ts';
import {
  countKept,
  eraseParty as eraseData,
  type KeptCounts,
} from '../../domain/parties/erase-store.ts';
import type { PartyRow } from '../../domain/parties/store.ts';
import { assertArchivable, lockParty } from '../../domain/parties/update.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { empty, filledText, id, maybe, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';

export const eraseParty = operation({
  path: '/billing/users/erase-party',
  method: 'Update',
  action: 'Erase Party',
  access: { permission: 'parties:erase' },
  summary: 'Erases the personal data of a former customer for good.',
  request: Type.Object({
    user: Type.Object({
      partyID: maybe(id),
      partyNumber: maybe(id),
      reason: filledText(),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    'PARTY_NOT_FOUND',
    'PARTY_KEY_MISMATCH',
    'STALE_OBJECT',
    'INVALID_STATE',
    'PARTY_HAS_ACTIVE_SUBSCRIPTIONS',
    'PARTY_HAS_BALANCE',
  ],
  example: { user: { partyNumber: 100001, reason: 'Request of 12/11/2026' } },
  async handle(call, { user }) {
    const { tx, tenant, now, principal } = call;
    const keys = { partyId: user.partyID ?? undefined, partyNumber: user.partyNumber ?? undefined };
    if (keys.partyId === undefined && keys.partyNumber === undefined) {
      const message = 'Send partyID or partyNumber';
      throw new AppError('REQUIRED_FIELD', { message, field: 'user.partyID' });
    }
    const party = await lockParty(tx, tenant.tenantId, keys);
    assertNotStale(user.ts, party, { what: `Party ${party.party_number}`, field: 'user.ts' });
    await assertArchivable(tx, tenant.tenantId, party, 'user.partyNumber');
    assertErasable(party);
    const stamp = { at: now, by: principal.name, day: dateIn(now, tenant.timezone) };
    const erased = await eraseData(tx, tenant.tenantId, party.party_id, stamp);
    const events = eventsOf('party.updated', 'partyNumber', [party.party_number]);
    await insertEvents(tx, tenant.tenantId, events, now);
    const kept = await countKept(tx, tenant.tenantId, party.party_id);
    const { document_retention_years: years } = await findSettings(tx, tenant.tenantId);
    call.audit({
      subject: 'party',
      subjectId: party.party_id,
      // Values that were erased are not written down again.
      before: null,
      after: { reason: user.reason.trim(), erased, kept, why: keptBecause, retentionYears: years },
    });
    return {
      message:
        `Party ${party.party_number} erased. Kept as accounting records: ${listOf(kept)}. ` +
        `The files of documents go after ${counted(years, 'year')}; the sealed audit trail keeps ` +
        'values from before.',
      data: {},
      ids: { resourceIds: [party.party_id], partyNumbers: [party.party_number] },
    };
  },
});

const keptBecause = {
  bills: 'posted bills and their frozen inputs prove what was billed',
  documents: 'issued documents; their files go with the years of retention',
  creditNotes: 'issued documents',
  payments: 'entries of the ledger, with the lines of bank files that paid',
  auditEntries: 'the sealed audit trail, with values from before',
};

function assertErasable({ party_number: number, archived, erased_on: erasedOn }: PartyRow): void {
  if (erasedOn === null && archived) return;
  const message = erasedOn
    ? `The personal data of party ${number} was erased on ${erasedOn}`
    : `Party ${number} is not archived. Archive it first (archiveStatus of update-user)`;
  throw new AppError('INVALID_STATE', { message, field: 'user.partyNumber' });
}

function listOf(kept: KeptCounts): string {
  return [
    counted(kept.bills, 'bill'),
    counted(kept.documents, 'document'),
    counted(kept.creditNotes, 'credit note'),
    counted(kept.payments, 'payment'),
    counted(kept.auditEntries, 'audit entry', 'audit entries'),
  ].join(', ');
}
