// Numbers of bills and of what is kept about them: none is missing, and none is given twice.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import { judge, type Verdict } from './laws-store.ts';

/**
 * Every number that was taken is on the bill it was given to, retired, or waits for a bill that is
 * being posted, and is of the term of its bill. The ledger names the number under which a bill was
 * booked: it is still that of the bill, or retired.
 * No counter is behind what was numbered by it: the next number would be given a second time. Every
 * number of a credit note is on one.
 */
export function judgeNumbers(tx: Tx, tenantId: number): Promise<Verdict> {
  return judge(tx, tenantId, {
    checked: sql`select coalesce(max(last_number), 0) from counters
      where tenant_id = ${tenantId} and series = 'bill-number'`,
    wrong: sql`
      select 'taken ' || n.taken || ', on bills ' || n.given || ', retired ' || n.retired
        || ', waiting ' || n.waiting as what
      from (
        select
          coalesce((select last_number from counters
            where tenant_id = ${tenantId} and series = 'bill-number'), 0) as taken,
          (select count(*) from bills
            where tenant_id = ${tenantId} and bill_number is not null) as given,
          (select count(*) from bill_numbers
            where tenant_id = ${tenantId} and retired_at is not null) as retired,
          (select count(*) from bills b
            join terms t on t.tenant_id = b.tenant_id and t.term_id = b.term_id
            where b.tenant_id = ${tenantId} and t.stage = 'Posting' and b.status = 'Draft')
            as waiting
      ) n
      where n.taken <> n.given + n.retired + n.waiting
      union all
      select 'number ' || coalesce(n.bill_number, b.bill_number) || ' of bill '
        || coalesce(n.bill_id, b.bill_id)
      from (
        select bill_number, bill_id, term_id from bill_numbers
        where tenant_id = ${tenantId} and retired_at is null
      ) n
      full join (
        select bill_number, bill_id, term_id from bills
        where tenant_id = ${tenantId} and bill_number is not null
      ) b on b.bill_number = n.bill_number and b.bill_id = n.bill_id
      where n.bill_id is null or b.bill_id is null or n.term_id <> b.term_id
      union all
      ${wronglyRetired(tenantId)}
      union all
      ${wronglyBooked(tenantId)}
      union all
      ${wrongCreditNotes(tenantId)}
      union all
      ${usedUp(tenantId)}`,
  });
}

/** A bill that is still there has its retired numbers of its own term. */
function wronglyRetired(tenantId: number): RawBuilder<unknown> {
  return sql`
    select 'number ' || n.bill_number || ' of bill ' || n.bill_id
    from bill_numbers n
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
    where n.tenant_id = ${tenantId} and n.retired_at is not null and n.term_id <> b.term_id`;
}

function wronglyBooked(tenantId: number): RawBuilder<unknown> {
  return sql`
    select distinct 'bill ' || e.bill_id || ' was booked as ' || coalesce(e.reference, 'nothing')
    from subledger_entries e
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = e.bill_id
      and b.posting = e.posting and b.bill_number is not null
    left join bill_numbers r on r.tenant_id = ${tenantId} and r.bill_number = e.reference
      and r.bill_id = e.bill_id and r.retired_at is not null
    where e.tenant_id = ${tenantId} and e.kind = 'Bill' and e.bill_id is not null
      and coalesce(b.bill_number, r.bill_number) is distinct from e.reference`;
}

/** A number is taken and written down at once, so that there are as many as were taken. */
function wrongCreditNotes(tenantId: number): RawBuilder<unknown> {
  return sql`
    select 'taken ' || n.taken || ', on credit notes ' || n.given || ' up to ' || n.last
    from (
      select coalesce((select last_number from counters
          where tenant_id = ${tenantId} and series = 'credit-note'), 0) as taken,
        count(*) as given, coalesce(max(credit_note_id), 0) as last
      from credit_notes
      where tenant_id = ${tenantId}
    ) n
    where n.taken <> n.given or n.taken <> n.last`;
}

function usedUp(tenantId: number): RawBuilder<unknown> {
  return sql`
    select n.series || ' ' || n.used || ' is beyond ' || coalesce(c.last_number, 0)
    from (
      select 'bill' as series, max(bill_id) as used from bills where tenant_id = ${tenantId}
      union all
      select 'entry', max(entry_id) from subledger_entries where tenant_id = ${tenantId}
      union all
      select 'journal', max(journal_id) from journals where tenant_id = ${tenantId}
    ) n
    left join counters c on c.tenant_id = ${tenantId} and c.series = n.series
    where n.used > coalesce(c.last_number, 0)`;
}
