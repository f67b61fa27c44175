// Journals with their lines, as accountants read them.
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';

export type JournalFilter = {
  journalId: number | null;
  sourceType: string | null;
  accountCode: string | null;
  from: Temporal.PlainDate | null;
  to: Temporal.PlainDate | null;
};

export type JournalRow = {
  journal_id: number;
  posting_date: string;
  value_date: string;
  source_type: string;
  source_id: number;
  description: string;
  reverses_journal_id: number | null;
  created_at: Temporal.Instant;
  created_by: string;
};

/** Of journal `j`: the day from which the money counts, which is one for all its entries. */
export function valueDateOf(tenantId: number): Sql {
  return sql`coalesce((
    select e.value_date from subledger_entries e
    where e.tenant_id = ${tenantId} and e.journal_id = j.journal_id
    limit 1
  ), j.posting_date)`;
}

/** By posting date and id. */
export async function listJournals(
  tx: Tx,
  tenantId: number,
  filter: JournalFilter,
  { after, offset, limit }: { after?: JournalRow | undefined; offset: number; limit: number },
): Promise<JournalRow[]> {
  const isAfter = after
    ? sql`(j.posting_date, j.journal_id) > (${after.posting_date}::date, ${after.journal_id})`
    : sql`true`;
  const { rows } = await sql<JournalRow>`
    select j.journal_id, j.posting_date, ${valueDateOf(tenantId)} as value_date, j.source_type,
      j.source_id, j.description, j.reverses_journal_id, j.created_at, j.created_by
    from journals j
    where j.tenant_id = ${tenantId} and ${isWanted(tenantId, filter)} and ${isAfter}
    order by j.posting_date, j.journal_id
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

export async function countJournals(
  tx: Tx,
  tenantId: number,
  filter: JournalFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from journals j
    where j.tenant_id = ${tenantId} and ${isWanted(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Of journal `j`. */
function isWanted(tenantId: number, filter: JournalFilter): Sql {
  const { journalId, sourceType, accountCode, from, to } = filter;
  const conditions = [
    journalId === null ? sql`true` : sql`j.journal_id = ${journalId}`,
    sourceType === null ? sql`true` : sql`j.source_type = ${sourceType}`,
    from ? sql`j.posting_date >= ${from.toString()}::date` : sql`true`,
    to ? sql`j.posting_date <= ${to.toString()}::date` : sql`true`,
    accountCode === null
      ? sql`true`
      : sql`exists (
          select from journal_lines l
          where l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
            and l.ledger_account_id = (
              select a.ledger_account_id from ledger_accounts a
              where a.tenant_id = ${tenantId} and a.code = ${accountCode}
            )
        )`,
  ];
  return sql.join(conditions, sql` and `);
}

export type JournalLineRow = {
  journal_id: number;
  account_code: string;
  component: string | null;
  /** Where all entries of the line are of one subscription. */
  subscription_number: string | null;
  amount: string;
};

export async function listLinesOf(
  tx: Tx,
  tenantId: number,
  journalIds: readonly number[],
): Promise<JournalLineRow[]> {
  // Of the entries, which may be a thousand, two are enough to know that they differ.
  const { rows } = await sql<JournalLineRow>`
    select l.journal_id, a.code as account_code, l.component, l.amount::text as amount, (
        select min(s.subscription_number)
        from (
          select distinct e.subscription_id from (
            select e.subscription_id from subledger_entries e
            where e.tenant_id = ${tenantId} and e.journal_id = l.journal_id
              and e.ledger_account_id = l.ledger_account_id
            limit 2
          ) e
        ) e
        join subscriptions s on s.tenant_id = ${tenantId}
          and s.subscription_id = e.subscription_id
        having count(*) = 1
      ) as subscription_number
    from journal_lines l
    join ledger_accounts a on a.tenant_id = ${tenantId}
      and a.ledger_account_id = l.ledger_account_id
    where l.tenant_id = ${tenantId} and l.journal_id = any(${journalIds}::bigint[])
    order by l.journal_id, l.line_number
  `.execute(tx);
  return rows;
}
