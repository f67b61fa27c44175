// Notes on parties, newest first.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export const noteKinds = ['Note', 'Problem'] as const;
export type NoteKind = (typeof noteKinds)[number];

export type NewNote = { partyId: number; kind: NoteKind; text: string; isFromCustomer: boolean };

export type NoteRow = {
  note_id: number;
  party_number: number;
  party_name: string;
  kind: NoteKind;
  text: string;
  is_from_customer: boolean;
  created_at: Temporal.Instant;
  created_by: string;
};

export type NoteFilter = {
  partyId: number | null;
  kind: NoteKind | null;
  isFromCustomer: boolean | null;
};

export async function insertNotes(
  tx: Tx,
  tenantId: number,
  notes: readonly NewNote[],
  firstId: number,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into party_notes (
      tenant_id, note_id, party_id, kind, text, is_from_customer, created_at, created_by
    )
    select own.tenant_id, ${firstId} + r.place - 1, r.party_id, r.kind, r.text, r.is_from_customer,
      ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${notes.map((note) => note.partyId)}::bigint[], ${notes.map((note) => note.kind)}::text[],
      ${notes.map((note) => note.text)}::text[],
      ${notes.map((note) => note.isFromCustomer)}::boolean[]
    ) with ordinality as r (party_id, kind, text, is_from_customer, place)
  `.execute(tx);
}

export async function listNotes(
  tx: Tx,
  tenantId: number,
  filter: NoteFilter,
  options: { offset: number; limit: number; beforeId?: number },
): Promise<NoteRow[]> {
  const rest = options.beforeId === undefined ? sql`true` : sql`n.note_id < ${options.beforeId}`;
  const { rows } = await sql<NoteRow>`
    select n.note_id, p.party_number, p.name as party_name, n.kind, n.text, n.is_from_customer,
      n.created_at, n.created_by
    from party_notes n
    join parties p on p.tenant_id = ${tenantId} and p.party_id = n.party_id
    where n.tenant_id = ${tenantId} and ${matches(filter)} and ${rest}
    order by n.note_id desc
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countNotes(tx: Tx, tenantId: number, filter: NoteFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from party_notes n
    where n.tenant_id = ${tenantId} and ${matches(filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches({ partyId, kind, isFromCustomer }: NoteFilter): Sql {
  const conditions = [sql`true`];
  if (partyId !== null) conditions.push(sql`n.party_id = ${partyId}`);
  if (kind !== null) conditions.push(sql`n.kind = ${kind}`);
  if (isFromCustomer !== null) conditions.push(sql`n.is_from_customer = ${isFromCustomer}`);
  return sql.join(conditions, sql` and `);
}

/** By number, the ids of the parties that exist. */
export async function findPartyIds(
  tx: Tx,
  tenantId: number,
  partyNumbers: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ party_number: number; party_id: number }>`
    select party_number, party_id from parties
    where tenant_id = ${tenantId} and party_number = any(${[...partyNumbers]}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_number, row.party_id]));
}
