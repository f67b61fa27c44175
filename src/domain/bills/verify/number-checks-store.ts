// Numbers of bills and of what is kept about them: none is missing, and none is given twice.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { type Counts, runCheck } from './checks-store.ts';

/**
 * Series are gapless: every number up to the last one is on the bill it was given to, retired, or
 * waits for a bill that is being posted, and is of the term of its bill. Credit notes likewise. The
 * ledger names the number under which a bill was booked: the bill has it still, or it is retired.
 * No counter is behind what was numbered by it: the next number would be given a second time.
 */
export function checkNumbers(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select coalesce(sum(last_number - first_number + 1), 0)::bigint
      from number_series where tenant_id = ${tenantId}`,
    wrong: sql`
      ${wrongSeries(tenantId)}
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

/** How many numbers of a series are given, each once, none of them outside its range. */
function wrongSeries(tenantId: number): Sql {
  return sql`
    select 'series ' || coalesce(s.series_key, 'of no name') || ': taken '
      || coalesce(s.last_number - s.first_number + 1, 0) || ', given ' || coalesce(n.given, 0)
      || ', retired ' || coalesce(n.retired, 0) || ', waiting ' || coalesce(w.waiting, 0)
      || ', twice ' || coalesce(n.given + n.retired - n.different, 0) as what
    from (select * from number_series where tenant_id = ${tenantId}) s
    full join (
      select g.series_id, count(*) filter (where not g.is_retired) as given,
        count(*) filter (where g.is_retired) as retired,
        count(distinct g.series_number) as different, min(g.series_number) as first,
        max(g.series_number) as last
      from (
        select series_id, series_number, retired_at is not null as is_retired
        from bill_numbers
        where tenant_id = ${tenantId} and series_id is not null
        union all
        select series_id, series_number, false from credit_notes
        where tenant_id = ${tenantId} and series_id is not null
        union all
        select series_id, series_number, false from receipts where tenant_id = ${tenantId}
      ) g
      group by g.series_id
    ) n on n.series_id = s.series_id
    left join (${waitingNumbers(tenantId)}) w on w.series_id = s.series_id
    where s.series_id is null
      or s.last_number - s.first_number + 1
        <> coalesce(n.given + n.retired, 0) + coalesce(w.waiting, 0)
      or n.different <> n.given + n.retired or n.first < s.first_number or n.last > s.last_number`;
}

/** Numbers that were set aside for drafts of terms that are being posted. */
function waitingNumbers(tenantId: number): Sql {
  return sql`
    select (r.reserved #>> '{numbers,seriesId}')::integer as series_id, count(*) as waiting
    from terms t
    join bill_runs r on r.tenant_id = ${tenantId} and r.term_id = t.term_id
      and r.run_number = t.run_number
    join bills b on b.tenant_id = ${tenantId} and b.term_id = t.term_id and b.status = 'Draft'
    where t.tenant_id = ${tenantId} and t.stage = 'Posting'
    group by 1`;
}

/** A bill that is still there has its retired numbers of its own term. */
function wronglyRetired(tenantId: number): Sql {
  return sql`
    select 'number ' || n.bill_number || ' of bill ' || n.bill_id
    from bill_numbers n
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
    where n.tenant_id = ${tenantId} and n.retired_at is not null and n.term_id <> b.term_id`;
}

function wronglyBooked(tenantId: number): Sql {
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

/** A number is taken and stored in one transaction, so there are as many as the series counted. */
function wrongCreditNotes(tenantId: number): Sql {
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

function usedUp(tenantId: number): Sql {
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
