import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import {
  findPartyIds,
  insertNotes,
  type NewNote,
  noteKinds,
} from '../../domain/parties/notes-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { empty, filledText, id, limits, maybe, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

const note = Type.Object({
  partyNumber: maybe(id),
  kind: maybe(oneOf(noteKinds)),
  text: filledText(),
});

export const makeNotes = operation({
  path: '/billing/users/make-notes',
  method: 'Create',
  action: 'Create Notes',
  access: { permission: 'notes:write', own: 'own-notes:write' },
  summary: 'Stores notes on parties. A customer reports problems of its own.',
  request: Type.Object({
    notes: Type.Array(note, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: ['PARTY_NOT_FOUND', 'ROWS_REJECTED'],
  example: { notes: [{ partyNumber: 100001, kind: 'Note', text: 'Calls back on Monday' }] },
  async handle(call, body) {
    const { tx, tenant, now, principal } = call;
    const notes = await notesFrom(call, body.notes);
    const firstId = await takeNumbers(tx, tenant.tenantId, 'note', notes.length);
    const stamp = { at: now, by: principal.name };
    await insertNotes(tx, tenant.tenantId, notes, firstId, stamp);
    notes.forEach(({ partyId, kind }, index) => {
      const subjectId = firstId + index;
      call.audit({ subject: 'note', subjectId, before: null, after: { partyID: partyId, kind } });
    });
    const ids = { resourceIds: notes.map((_, index) => firstId + index) };
    return { message: `${counted(notes.length, 'note')} stored`, data: {}, ids };
  },
});

/** A customer writes Problems about itself, whatever party and kind it sends. */
async function notesFrom(
  { tx, tenant, ownPartyId }: Call,
  sent: readonly Type.Static<typeof note>[],
): Promise<NewNote[]> {
  const numbers = sent.flatMap(({ partyNumber }) => partyNumber ?? []);
  const found = await findPartyIds(tx, tenant.tenantId, numbers);
  const problems: RowProblem[] = [];
  const notes = sent.map(({ partyNumber, kind, text }, row): NewNote => {
    const named = partyNumber == null ? (ownPartyId ?? undefined) : found.get(partyNumber);
    if (named === undefined || (ownPartyId !== null && named !== ownPartyId)) {
      const message =
        partyNumber == null ? 'Send partyNumber' : `No party has the number ${partyNumber}`;
      const code = partyNumber == null ? 'REQUIRED_FIELD' : 'PARTY_NOT_FOUND';
      problems.push({ row, name: 'partyNumber', code, message, rejectedValue: partyNumber });
    }
    return {
      partyId: named ?? 0,
      kind: ownPartyId === null ? (kind ?? 'Note') : 'Problem',
      text: text.trim(),
      isFromCustomer: ownPartyId !== null,
    };
  });
  if (problems.length > 0) throw errorFromRows(detailsOf(problems, 'notes'));
  return notes;
}
