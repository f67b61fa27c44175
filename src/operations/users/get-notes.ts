import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countNotes,
  findPartyIds,
  listNotes,
  type NoteFilter,
  type NoteRow,
  noteKinds,
} from '../../domain/parties/notes-store.ts';
import { shownName } from '../customer-fields.ts';
import { filterOf, id, maybe, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

export const getNotes = operation({
  path: '/billing/users/get-notes',
  method: 'Retrieve',
  action: 'Retrieve Notes',
  access: { permission: 'parties:read', own: 'own-notes:write' },
  summary: 'Lists notes on parties, newest first. A customer sees the problems it reported.',
  request: Type.Object({
    partyNumber: maybe(id),
    kind: filterOf(noteKinds),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    notes: Type.Array(
      Type.Object({
        noteID: Type.Integer(),
        partyNumber: Type.Integer(),
        name: Type.String(),
        kind: Type.String({ description: noteKinds.join(', ') }),
        text: Type.String(),
        fromCustomer: Type.Boolean(),
        createdAt: timestamp,
        createdBy: Type.String(),
      }),
    ),
  }),
  errors: [],
  example: { partyNumber: 100001, page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = await filterFrom(call, body.partyNumber ?? null, body.kind ?? null);
    return listing(call, {
      page: body.page,
      count: (tx) => countNotes(tx, tenantId, filter),
      at: (tx, window) => listNotes(tx, tenantId, filter, window),
      after: (tx, { after, limit }) =>
        listNotes(tx, tenantId, filter, {
          offset: 0,
          limit,
          ...(after ? { beforeId: after.note_id } : {}),
        }),
      present: (row: NoteRow) => presentNote(call, row),
      wrap: (notes) => ({ notes }),
    });
  },
});

/** Of a party that does not exist, or is another than the caller's, nothing is found. */
async function filterFrom(
  { tx, tenant, ownPartyId }: Call,
  partyNumber: number | null,
  kind: NoteFilter['kind'],
): Promise<NoteFilter> {
  const none = 0;
  const found =
    partyNumber === null
      ? null
      : ((await findPartyIds(tx, tenant.tenantId, [partyNumber])).get(partyNumber) ?? none);
  if (ownPartyId === null) return { partyId: found, kind, isFromCustomer: null };
  const partyId = found === null || found === ownPartyId ? ownPartyId : none;
  return { partyId, kind, isFromCustomer: true };
}

function presentNote(call: Call, row: NoteRow) {
  return {
    noteID: row.note_id,
    partyNumber: row.party_number,
    name: row.party_name,
    kind: row.kind,
    text: row.text,
    fromCustomer: row.is_from_customer,
    createdAt: formatTimestamp(row.created_at, call.tenant.timezone),
    createdBy: shownName(call, row.created_by),
  };
}
