// Seals: what waits for one, what items come to, and the blocks.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';

/** Kinds of items, as they begin the name of one: 'journal 7'. */
export const sealedKinds = ['audit', 'journal', 'credit-note', 'document', 'delivery'] as const;
export type SealedKind = (typeof sealedKinds)[number];

/** An item and the hash of its rows; a deleted item has none. */
export type SealedItem = { item: string; rows: number; hash: string };

export type Seal = {
  block: number;
  items: string[];
  auditRows: number;
  /** Hexadecimal. */
  previousHash: string;
  hash: string;
};

/** Workspaces in which something waits. */
export async function listUnsealed(tx: Tx): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from unsealed_workspaces() as u (tenant_id)
  `.execute(tx);
  return rows.map((row) => row.tenant_id);
}

/**
 * Takes items out of the queue, before they are read: what another transaction changes from now on
 * is queued again by it, and what it changed before is committed when this returns.
 */
export async function takeQueued(tx: Tx, tenantId: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ item: string }>`
    delete from seal_queue
    where tenant_id = ${tenantId} and item = any(array(
      select item from seal_queue where tenant_id = ${tenantId}
      order by item limit ${limit} for update
    ))
    returning item
  `.execute(tx);
  return rows.map((row) => row.item).sort();
}

export async function insertSeal(
  tx: Tx,
  tenantId: number,
  seal: Seal,
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    insert into seals (tenant_id, block, items, audit_rows, previous_hash, hash, sealed_at)
    values (${tenantId}, ${seal.block}, ${seal.items}::text[], ${seal.auditRows},
      decode(${seal.previousHash}, 'hex'), decode(${seal.hash}, 'hex'), ${at})
  `.execute(tx);
}

/** Blocks in their order, after one of them. */
export async function listSeals(
  tx: Tx,
  tenantId: number,
  options: { after: number; limit: number },
): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select block, items, audit_rows as "auditRows",
      encode(previous_hash, 'hex') as "previousHash", encode(hash, 'hex') as hash
    from seals
    where tenant_id = ${tenantId} and block > ${options.after}
    order by block
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function findSealHash(
  tx: Tx,
  tenantId: number,
  block: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ hash: string }>`
    select encode(hash, 'hex') as hash from seals
    where tenant_id = ${tenantId} and block = ${block}
  `.execute(tx);
  return rows[0]?.hash;
}

/** Hashed one by one, so that no item is put together as a whole. */
function hashed(columns: readonly string[]): Sql {
  const list = columns.join(', ');
  return sql.raw(`sha256(convert_to(json_build_array(${list})::text, 'UTF8'))`);
}

/** Instants as seconds: their text depends on the time zone of the session. */
const seconds = (column: string) => `extract(epoch from ${column})`;

const auditColumns = [
  'r.request_id',
  'r.position',
  seconds('r.at'),
  ...[
    'actor',
    'actor_kind',
    'address',
    'operation',
    'subject',
    'subject_id',
    'before',
    'after',
  ].map((name) => `r.${name}`),
];
const journalColumns = [
  ...['journal_id', 'source_type', 'source_id', 'term_id', 'business_unit_id', 'posting_date'],
  ...['description', 'reverses_journal_id', 'created_by'],
]
  .map((name) => `r.${name}`)
  .concat(seconds('r.created_at'));
const lineColumns = ['line_number', 'ledger_account_id', 'component', 'amount'];
const entryColumns = [
  ...['entry_id', 'ledger_account_id', 'party_id', 'subscription_id', 'kind', 'bill_id', 'posting'],
  ...['amount', 'is_payment', 'posting_date', 'due_date', 'reference', 'description'],
  ...['value_date', 'item_id', 'effect', 'payment_id', 'created_by'],
  seconds('created_at'),
];
const creditNoteColumns = [
  ...['credit_note_id', 'credit_note_number', 'bill_id', 'party_id', 'amount', 'to_wallet'],
  ...['issue_date', 'reason', 'journal_id', 'rebill_term_id', 'reference', 'cancels_bill'],
  'created_by',
]
  .map((name) => `r.${name}`)
  .concat(seconds('r.created_at'));
const noteLineColumns = ['line_number', 'bill_id', 'subscription_id', 'component', 'amount'];
const documentColumns = [
  ...['document_id', 'bill_id', 'term_id', 'format', 'setting_version', 'template_id'],
  ...['template_version', 'size', "encode(sha256, 'hex')", 'error'],
  seconds('created_at'),
];
const deliveryColumns = [
  ...['delivery_id', 'bill_id', 'term_id', 'job_id', 'channel', 'recipient', 'status', 'reason'],
  ...['message_id', 'template_id', 'template_version', 'created_by'],
  seconds('sent_at'),
  seconds('created_at'),
];

/** A row for each item that is there: item, rows, hash. */
function contents(tenantId: number, kind: SealedKind, ids: readonly string[]): Sql {
  if (kind === 'audit') {
    return sql`
      select r.tenant_id, 'audit ' || r.request_id as item, count(*) as rows,
        sha256(string_agg(${hashed(auditColumns)}, ''::bytea order by r.position)) as hash
      from audit_entries r
      where r.tenant_id = ${tenantId} and r.request_id = any(${ids}::text[])
      group by r.tenant_id, r.request_id`;
  }
  if (kind === 'journal') return journalContents(tenantId, ids);
  if (kind === 'credit-note') return creditNoteContents(tenantId, ids);
  const [table, key, columns] = {
    document: ['bill_documents', 'document_id', documentColumns] as const,
    delivery: ['deliveries', 'delivery_id', deliveryColumns] as const,
  }[kind];
  return sql`
    select tenant_id, ${kind} || ' ' || ${sql.ref(key)} as item, 1 as rows,
      ${hashed(columns)} as hash
    from ${sql.ref(table)}
    where tenant_id = ${tenantId} and ${sql.ref(key)} = any(${ids}::bigint[])`;
}

/** A credit note with its lines. */
function creditNoteContents(tenantId: number, ids: readonly string[]): Sql {
  return sql`
    select r.tenant_id, 'credit-note ' || r.credit_note_id as item, 1 + l.rows as rows,
      sha256(${hashed(creditNoteColumns)} || coalesce(l.hash, '')) as hash
    from credit_notes r
    cross join lateral (
      select count(*) as rows,
        sha256(string_agg(${hashed(noteLineColumns)}, ''::bytea order by line_number)) as hash
      from credit_note_lines
      where tenant_id = ${tenantId} and credit_note_id = r.credit_note_id
    ) l
    where r.tenant_id = ${tenantId} and r.credit_note_id = any(${ids}::bigint[])`;
}

/** A journal with its lines and entries. */
function journalContents(tenantId: number, ids: readonly string[]): Sql {
  return sql`
    select r.tenant_id, 'journal ' || r.journal_id as item, 1 + l.rows + e.rows as rows,
      sha256(${hashed(journalColumns)} || coalesce(l.hash, '') || coalesce(e.hash, '')) as hash
    from journals r
    cross join lateral (
      select count(*) as rows,
        sha256(string_agg(${hashed(lineColumns)}, ''::bytea order by line_number)) as hash
      from journal_lines
      where tenant_id = ${tenantId} and journal_id = r.journal_id
    ) l
    cross join lateral (
      select count(*) as rows,
        sha256(string_agg(${hashed(entryColumns)}, ''::bytea order by entry_id)) as hash
      from subledger_entries
      where tenant_id = ${tenantId} and journal_id = r.journal_id
    ) e
    where r.tenant_id = ${tenantId} and r.journal_id = any(${ids}::bigint[])`;
}

/** What items come to now, in no order. */
export async function readItems(
  tx: Tx,
  tenantId: number,
  kind: SealedKind,
  ids: readonly string[],
): Promise<SealedItem[]> {
  const { rows } = await sql<SealedItem>`
    select item, rows::integer as rows, encode(hash, 'hex') as hash
    from (${contents(tenantId, kind, ids)}) c
    where c.tenant_id = ${tenantId}
  `.execute(tx);
  return rows;
}

/** Of items that may change after they were sealed, those sealed again, and in which block last. */
export async function listSealedAgain(
  tx: Tx,
  tenantId: number,
): Promise<{ item: string; block: number }[]> {
  const { rows } = await sql<{ item: string; block: number }>`
    select item, max(block) as block
    from (${sealedItems(tenantId)}) s
    where s.tenant_id = ${tenantId}
    group by item having count(*) > 1
  `.execute(tx);
  return rows;
}

function sealedItems(tenantId: number): Sql {
  return sql`
    select s.tenant_id, s.block,
      split_part(i.item, ' ', 1) || ' ' || split_part(i.item, ' ', 2) as item
    from seals s
    cross join unnest(s.items) as i (item)
    where s.tenant_id = ${tenantId}`;
}

/** Which of these wait for a seal again, or got one after a block: they changed as they may. */
export async function listQueuedAgain(
  tx: Tx,
  tenantId: number,
  items: readonly string[],
  block: number,
): Promise<string[]> {
  const { rows } = await sql<{ item: string }>`
    select item from seal_queue
    where tenant_id = ${tenantId} and item = any(${items}::text[])
    union
    select item from (${sealedItems(tenantId)}) s
    where s.block > ${block} and s.item = any(${items}::text[])
  `.execute(tx);
  return rows.map((row) => row.item);
}

/** The last block and the number of blocks that there were, at one moment. */
export async function findLastSeal(
  tx: Tx,
  tenantId: number,
): Promise<{ last: number; taken: number }> {
  const { rows } = await sql<{ last: number; taken: number }>`
    select
      coalesce((select max(block) from seals where tenant_id = ${tenantId}), 0) as last,
      coalesce((select last_number from counters
        where tenant_id = ${tenantId} and series = 'seal'), 0) as taken
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { last: 0, taken: 0 };
}

/** Audit entries that wait for their seal. */
export async function countUnsealedAudit(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from seal_queue q
    join audit_entries a on a.tenant_id = ${tenantId}
      and a.request_id = substr(q.item, length('audit ') + 1)
    where q.tenant_id = ${tenantId} and q.item like 'audit %'
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Items that are in no block and do not wait for one: they were written past the program. */
export async function listNeverSealed(
  tx: Tx,
  tenantId: number,
  limit: number,
): Promise<{ count: number; items: string[] }> {
  const { rows } = await sql<{ count: number; items: string[] }>`
    with found as materialized (
      select item from (
        select distinct 'audit ' || request_id as item from audit_entries
        where tenant_id = ${tenantId}
        union all
        select 'journal ' || journal_id from journals where tenant_id = ${tenantId}
        union all
        select 'credit-note ' || credit_note_id from credit_notes where tenant_id = ${tenantId}
        union all
        select 'document ' || document_id from bill_documents where tenant_id = ${tenantId}
        union all
        select 'delivery ' || delivery_id from deliveries
        where tenant_id = ${tenantId} and status in ('Sent', 'Delivered', 'Failed', 'Uncertain')
      ) live
      except
      select item from (${sealedItems(tenantId)}) s
      except
      select item from seal_queue where tenant_id = ${tenantId}
    )
    select (select count(*) from found) as count,
      array(select item from found order by item limit ${limit}) as items
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { count: 0, items: [] };
}
