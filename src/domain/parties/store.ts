import {
  containsPattern,
  countFound,
  idsByBlock,
  orderBy,
  rowsAfter,
  searchCall,
  type Window,
} from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import type { Channel } from '../tenants/channels.ts';
import { type Competency, folded, type PartyDetails, type PartyKind, searchText } from './party.ts';

export type PartyRow = {
  party_id: number;
  party_number: number;
  kind: PartyKind;
  name: string;
  email: string | null;
  country: string | null;
  contacts: { contactType: string; contactValue: string }[];
  identity_number: string | null;
  tax_number: string | null;
  address: object | null;
  language: string | null;
  competencies: Competency[];
  delivery_channels: Channel[] | null;
  archived: boolean;
  /** The day on which its personal data was erased; YYYY-MM-DD. */
  erased_on: string | null;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

export const partyColumns = sql.raw(`party_id, party_number, kind, name, email, country, contacts,
  identity_number, tax_number, address, language, competencies, delivery_channels, archived,
  erased_on, created_at, created_by, modified_at, modified_by, ts`);

export async function insertParties(
  tx: Tx,
  tenantId: number,
  kind: PartyKind,
  parties: readonly PartyDetails[],
  numbers: { idOf(index: number): number; numberOf(index: number): number },
  stamp: Stamp,
): Promise<void> {
  const rows = parties.map((party, index) => ({
    party_id: numbers.idOf(index),
    party_number: numbers.numberOf(index),
    ...columnsOf(party),
    search_text: searchText(party, numbers.numberOf(index)),
  }));
  await sql`
    insert into parties (
      tenant_id, party_id, party_number, kind, name, email, country, contacts, identity_number,
      tax_number, address, language, competencies, delivery_channels, search_text,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, r.party_id, r.party_number, ${kind}, r.name, r.email, r.country,
      r.contacts, r.identity_number, r.tax_number, r.address, r.language, r.competencies,
      r.delivery_channels, r.search_text,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      party_id bigint, party_number bigint, name text, email text, country text, contacts jsonb,
      identity_number text, tax_number text, address jsonb, language text, competencies jsonb,
      delivery_channels text[], search_text text
    )
  `.execute(tx);
  const made = rows.map((row) => row.party_number);
  await insertEvents(tx, tenantId, eventsOf('party.created', 'partyNumber', made), stamp.at);
}

/** Those of the numbers that parties have, each with the name. */
export async function findPartyNames(
  tx: Tx,
  tenantId: number,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await sql<{ party_number: number; name: string }>`
    select party_number, name from parties
    where tenant_id = ${tenantId} and party_number = any(${numbers}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_number, row.name]));
}

function columnsOf(party: PartyDetails) {
  return {
    name: party.name,
    email: party.email,
    country: party.country,
    contacts: party.contacts,
    identity_number: party.identityNumber,
    tax_number: party.taxNumber,
    address: party.address ?? undefined,
    language: party.language,
    competencies: party.competencies,
    delivery_channels: party.deliveryChannels,
  };
}

/** Locks the parties that either key names: one, two (the keys disagree) or none. */
export async function lockPartiesByKeys(
  tx: Tx,
  tenantId: number,
  keys: { partyId: number | undefined; partyNumber: number | undefined },
): Promise<PartyRow[]> {
  const either = [
    ...(keys.partyId === undefined ? [] : [sql`party_id = ${keys.partyId}`]),
    ...(keys.partyNumber === undefined ? [] : [sql`party_number = ${keys.partyNumber}`]),
  ];
  const { rows } = await sql<PartyRow>`
    select ${partyColumns}
    from parties
    where tenant_id = ${tenantId} and (${sql.join(either, sql` or `)})
    order by party_id
    for no key update
  `.execute(tx);
  return rows;
}

export async function updateParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
  party: PartyDetails & { partyNumber: number; archived: boolean },
  stamp: Stamp,
): Promise<PartyRow> {
  const row = columnsOf(party);
  const { rows } = await sql<PartyRow>`
    update parties
    set name = ${row.name}, email = ${row.email}, country = ${row.country},
      contacts = ${JSON.stringify(row.contacts)}::jsonb,
      identity_number = ${row.identity_number}, tax_number = ${row.tax_number},
      address = ${row.address === undefined ? null : JSON.stringify(row.address)}::jsonb,
      language = ${row.language}, competencies = ${JSON.stringify(row.competencies)}::jsonb,
      delivery_channels = ${row.delivery_channels}::text[],
      archived = ${party.archived}, search_text = ${searchText(party, party.partyNumber)},
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and party_id = ${partyId}
    returning ${partyColumns}
  `.execute(tx);
  const updated = rows[0];
  if (!updated) throw new Error('the locked party is gone');
  return updated;
}

/** Obstacles to archiving a party. Future-dated activations count as active. */
export async function findArchiveObstacles(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<{ activeSubscriptions: number; hasBalance: boolean }> {
  const { rows } = await sql<{ active: number; has_balance: boolean }>`
    select
      (select count(*) from subscriptions
        where tenant_id = ${tenantId} and party_id = ${partyId}
          and (status = 'Active' or exists (
            select from jsonb_array_elements(status_history) h
            where (h ->> 'fromDate')::date >= next_change_date and h ->> 'status' = 'Active'
          ))) as active,
      exists (select from party_wallets
        where tenant_id = ${tenantId} and party_id = ${partyId} and balance <> 0)
      or exists (select from subscription_balances
        where tenant_id = ${tenantId} and party_id = ${partyId}
          and (receivable <> 0 or deposit <> 0 or disputed <> 0))
      as has_balance
  `.execute(tx);
  const row = rows[0];
  return { activeSubscriptions: row?.active ?? 0, hasBalance: row?.has_balance ?? false };
}

export type PartyFilter = {
  kind: PartyKind | null;
  name: string | null;
  email: string | null;
  contactValue: string | null;
  partyId: number | null;
  search: string | null;
  includeArchived: boolean;
  updatedSince: number | null;
};

const sortColumns = {
  partyID: 'party_id',
  partyNumber: 'party_number',
  name: 'name',
  ts: 'ts',
} as const;
export type PartySort = { by: keyof typeof sortColumns; descending: boolean };
export const partySortNames = ['partyID', 'partyNumber', 'name', 'ts'] as const;

export async function listPartiesAt(
  tx: Tx,
  tenantId: number,
  filter: PartyFilter,
  sort: PartySort,
  window: Window,
): Promise<PartyRow[]> {
  if (isUnfiltered(filter) && sort.by === 'partyID' && !sort.descending) {
    return listPartiesByBlock(tx, tenantId, filter.includeArchived, window);
  }
  const search = onlySearch(filter);
  if (search && sort.by === 'partyID') return listFoundParties(tx, tenantId, search, sort, window);
  const { rows } = await sql<PartyRow>`
    select ${partyColumns} from parties
    where ${matches(tenantId, filter)}
    order by ${orderBy(keysOf(sort))}
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

/** The chunk that follows a row in the list's order. */
export async function listPartiesAfter(
  tx: Tx,
  tenantId: number,
  filter: PartyFilter,
  sort: PartySort,
  options: { after: PartyRow | undefined; limit: number },
): Promise<PartyRow[]> {
  const { rows } = await sql<PartyRow>`
    select ${partyColumns} from parties
    where ${matches(tenantId, filter)} and ${isAfter(sort, options.after)}
    order by ${orderBy(keysOf(sort))}
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

/** The ids of the same, for many chunks at once. */
export async function listPartyIdsAfter(
  tx: Tx,
  tenantId: number,
  filter: PartyFilter,
  sort: PartySort,
  options: { after: PartyRow | undefined; limit: number },
): Promise<number[]> {
  const { rows } = await sql<{ party_id: number }>`
    select party_id from parties
    where ${matches(tenantId, filter)} and ${isAfter(sort, options.after)}
    order by ${orderBy(keysOf(sort))}
    limit ${options.limit}
  `.execute(tx);
  return rows.map((row) => row.party_id);
}

function isAfter(sort: PartySort, after: PartyRow | undefined): Sql {
  const keys = keysOf(sort);
  return after ? rowsAfter(keys, { value: after[keys.column], id: after.party_id }) : sql`true`;
}

export async function listPartiesByIds(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<PartyRow[]> {
  const { rows } = await sql<PartyRow>`
    select ${partyColumns} from parties
    where tenant_id = ${tenantId} and party_id = any(${ids}::bigint[])
  `.execute(tx);
  return rows;
}

/** Finds the block in which the page begins, then walks inside that block only. */
async function listPartiesByBlock(
  tx: Tx,
  tenantId: number,
  includeArchived: boolean,
  window: Window,
): Promise<PartyRow[]> {
  const counted = sql.ref(includeArchived ? 'all_rows' : 'live_rows');
  const blocks = sql`
    select block, ${counted} as block_rows from row_blocks
    where tenant_id = ${tenantId} and kind = 'party'
  `;
  const live = includeArchived ? sql`true` : sql`not archived`;
  const where = sql`tenant_id = ${tenantId} and ${live}`;
  const ids = idsByBlock({ blocks, table: 'parties', id: 'party_id', where }, window);
  const { rows } = await sql<PartyRow>`
    select ${partyColumns} from parties
    where tenant_id = ${tenantId} and party_id = any(array(${ids}))
    order by party_id
  `.execute(tx);
  return rows;
}

/** Sorts and pages the found ids alone, and fetches only the rows of the page. */
async function listFoundParties(
  tx: Tx,
  tenantId: number,
  search: Sql,
  sort: PartySort,
  window: Window,
): Promise<PartyRow[]> {
  const { rows } = await sql<PartyRow>`
    select ${partyColumns} from parties
    where tenant_id = ${tenantId} and party_id in (
      select found.party_id from ${search} as found (party_id)
      order by ${orderBy(keysOf(sort), 'found.')}
      limit ${window.limit} offset ${window.offset}
    )
    order by ${orderBy(keysOf(sort))}
  `.execute(tx);
  return rows;
}

export async function countParties(tx: Tx, tenantId: number, filter: PartyFilter): Promise<number> {
  const search = onlySearch(filter);
  if (search) return countFound(tx, tenantId, search);
  const counted = sql.ref(filter.includeArchived ? 'all_rows' : 'live_rows');
  const { rows } = isUnfiltered(filter)
    ? await sql<{ count: number }>`
        select coalesce(sum(${counted}), 0)::bigint as count from row_blocks
        where tenant_id = ${tenantId} and kind = 'party'
      `.execute(tx)
    : await sql<{ count: number }>`
        select count(*) as count from parties where ${matches(tenantId, filter)}
      `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isUnfiltered(filter: PartyFilter): boolean {
  const { includeArchived: _, ...narrowing } = filter;
  return Object.values(narrowing).every((value) => value === null);
}

function keysOf({ by, descending }: PartySort) {
  return { column: sortColumns[by], id: 'party_id' as const, descending };
}

function matches(tenantId: number, filter: PartyFilter): Sql {
  const conditions = [sql`tenant_id = ${tenantId}`];
  if (!filter.includeArchived) conditions.push(sql`not archived`);
  if (filter.kind !== null) conditions.push(sql`kind = ${filter.kind}`);
  if (filter.partyId !== null) conditions.push(sql`party_id = ${filter.partyId}`);
  if (filter.updatedSince !== null) conditions.push(sql`ts >= ${filter.updatedSince}`);
  if (filter.search !== null) conditions.push(found(filter, filter.search, { inName: false }));
  if (filter.name !== null) conditions.push(found(filter, filter.name, { inName: true }));
  if (filter.email !== null) {
    conditions.push(sql`party_id in (select find_parties_by_email(${filter.email}))`);
  }
  if (filter.contactValue !== null) {
    conditions.push(sql`party_id in (select find_parties_by_contact(${filter.contactValue}))`);
  }
  return sql.join(conditions, sql` and `);
}

function found(filter: PartyFilter, words: string, options: { inName: boolean }): Sql {
  return sql`party_id in (select ${searchOf(filter, words, options)})`;
}

/** The call of the function that finds words in search texts, or only in names. */
function searchOf(filter: PartyFilter, words: string, options: { inName: boolean }): Sql {
  const pattern = containsPattern(folded(words));
  const inName = options.inName ? sql`${pattern}` : sql`null`;
  const others = [inName, sql`${filter.kind}`, sql`${filter.includeArchived}`];
  return searchCall('parties', folded(words), others);
}

/** The search that is all of a filter; undefined when the filter asks for more, or for none. */
function onlySearch(filter: PartyFilter): Sql | undefined {
  const { search, name, email, contactValue, partyId, updatedSince } = filter;
  if ([email, contactValue, partyId, updatedSince].some((value) => value !== null))
    return undefined;
  if (search !== null && name === null) return searchOf(filter, search, { inName: false });
  if (name !== null && search === null) return searchOf(filter, name, { inName: true });
  return undefined;
}
