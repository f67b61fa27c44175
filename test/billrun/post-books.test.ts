// Posting has its own set-based path into the ledger. It writes what `book` would have written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { ledgerAccounts } from '../../src/domain/ledger/accounts.ts';
import { type Booking, book } from '../../src/domain/ledger/book.ts';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const components = [
  { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' },
  { name: 'vat', label: 'VAT', type: 'Tax', manual: 'Optional' },
  { name: 'rebate', label: 'Rebate', type: 'Discount', manual: 'Optional' },
] as NonNullable<Service['components']>;

const rounded = { components, billRounding: { scale: 0, mode: 'HalfUp' } } as Partial<Service>;

/** The bills of the term as one booking, from what the API and their rows say of them. */
async function bookingOf(tx: Tx, place: Owing, termId: number): Promise<Booking> {
  const { tenantId } = place;
  const bills = await billsOf(place, termId);
  const { rows: heads } = await sql<{ source_id: number; day: string; description: string }>`
    select source_id, posting_date as day, description from journals
    where tenant_id = ${tenantId} and term_id = ${termId} and source_type = 'Bills'
  `.execute(tx);
  const [head] = heads;
  assert.equal(heads.length, 1);
  const { rows: parts } = await sql<{
    bill_id: number;
    bill_number: string;
    party_id: number;
    subscription_id: number;
    due_date: string;
    amount: number;
  }>`
    select b.bill_id, b.bill_number, b.party_id, b.due_date,
      coalesce(b.subscription_id, p.subscription_id) as subscription_id,
      case when b.subscription_id is null then p.amount else b.bill_amount end as amount
    from bills b
    left join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      and b.subscription_id is null
    where b.tenant_id = ${tenantId} and b.term_id = ${termId}
    order by b.bill_id, subscription_id
  `.execute(tx);
  const cents = (amount: number | undefined) => Math.round((amount ?? 0) * 100);
  const charged = bills.flatMap(({ lines = [] }) =>
    lines.map(({ component, amount }) => ({
      accountId: component === 'vat' ? ledgerAccounts.tax : ledgerAccounts.income,
      component: component ?? '',
      amount: -cents(amount),
    })),
  );
  const rounding = bills.map((bill) => ({
    accountId: ledgerAccounts.rounding,
    amount: -cents(bill.roundingAdjustment),
  }));
  return {
    source: 'Bills',
    sourceId: head?.source_id ?? 0,
    termId,
    businessUnitId: 1,
    postingDate: Temporal.PlainDate.from(head?.day ?? ''),
    description: head?.description ?? '',
    entries: parts.map((part) => ({
      accountId: ledgerAccounts.receivable,
      partyId: part.party_id,
      subscriptionId: part.subscription_id,
      kind: 'Bill',
      billId: part.bill_id,
      // The key of entries holds that a posting of a bill is booked once.
      posting: 2,
      amount: part.amount,
      dueDate: part.due_date,
      reference: part.bill_number,
    })),
    against: [...charged, ...rounding],
  };
}

/** All that is stored of a journal, without ids, transaction and the number of the posting. */
async function writtenOf(tx: Tx, tenantId: number, journalId: number) {
  const without = ['tenant_id', 'journal_id', 'entry_id', 'line_number', 'posting', 'written_in'];
  const rowsOf = async (table: string) => {
    const { rows } = await sql<{ row: string }>`
      select (to_jsonb(t) - ${without}::text[])::text as row from ${sql.ref(table)} t
      where t.tenant_id = ${tenantId} and t.journal_id = ${journalId}
      order by 1
    `.execute(tx);
    return rows.map(({ row }) => JSON.parse(row) as object);
  };
  return {
    journals: await rowsOf('journals'),
    lines: await rowsOf('journal_lines'),
    entries: await rowsOf('subledger_entries'),
  };
}

class TakenBack extends Error {}

/** Books the bills of a posted term once more, compares, and takes it back. */
async function assertPostedAsBooked(place: Owing, termId: number): Promise<void> {
  const { tenantId } = place;
  const both = tenantTransact(scene.worker, tenantId, async (tx) => {
    const { rows } = await sql<{ id: number; at: Temporal.Instant; by: string }>`
      select journal_id as id, created_at as at, created_by as by from journals
      where tenant_id = ${tenantId} and term_id = ${termId} and source_type = 'Bills'
    `.execute(tx);
    const [posted] = rows;
    assert.ok(posted);
    const booking = await bookingOf(tx, place, termId);
    const [journalId = 0] = await book(tx, tenantId, [booking], posted);
    const written = await writtenOf(tx, tenantId, posted.id);
    assert.ok(written.entries.length > 0 && written.lines.length > 1);
    assert.deepEqual(written, await writtenOf(tx, tenantId, journalId));
    throw new TakenBack();
  });
  await assert.rejects(both, TakenBack);
}

async function postMonth(place: Owing, amounts: Parameters<Owing['openMonth']>[0]) {
  const termID = await place.openMonth(amounts);
  await generate(place, termID);
  await post(place, termID);
  return termID;
}

test('posting bills of single subscriptions writes the rows that book writes', async () => {
  const place = await openOwing(scene, 'posted-as-booked', rounded);
  const number = await place.connectOld();
  const users = [{ partyNumber: await newParty(place.client, 'Neighbour') }];
  const other = await place.connectOld({ users });
  const third = await place.connectOld();
  // 100.40 + 18.07 = 118.47, rounded to 118; 70 - 30 = 40; -50 is a credit.
  const termID = await postMonth(place, {
    [number]: { fee: 100.4, vat: 18.07 },
    [other]: { fee: 70, rebate: -30 },
    [third]: { rebate: -50 },
  });
  await assertPostedAsBooked(place, termID);
});

test('posting bills of accounts writes an entry for each subscription, as book does', async () => {
  const postType = 'Post Account';
  const place = await openOwing(scene, 'posted-accounts', { ...rounded, postType } as never);
  const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
  const number = await place.connectOld({ users });
  const other = await place.connectOld({ users });
  // One bill of 60.20 + 10.80 and 40 + 7.20 = 118.20, rounded to 118.
  const termID = await postMonth(place, {
    [number]: { fee: 60.2, vat: 10.8 },
    [other]: { fee: 40, vat: 7.2 },
  });
  await assertPostedAsBooked(place, termID);
});
