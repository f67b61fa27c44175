// Floors for payments: the same rows, written by bare connections into tables with the same
// columns, checks and indexes, without triggers and foreign keys. For payments one by one there are
// two: all rows of the transaction, and those of the books alone.
import { buffer as bytesOf } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import type { BillrunScene, Place } from './billrun-scene.ts';

/** Tables that a payment adds rows to, each with the condition for those of payments `p`. */
const added = {
  payments: 't.payment_id = p.payment_id',
  journals: 't.journal_id = p.journal_id',
  journal_lines: 't.journal_id = p.journal_id',
  subledger_entries: 't.journal_id = p.journal_id',
};
type Added = keyof typeof added;
const addedNames = Object.keys(added) as Added[];
const changed = ['bills', 'open_items', 'subscription_balances', 'party_wallets'];

/**
 * Beside the books a payment writes its audit entry, its events, what is to be sealed, and what it
 * changes of the totals of accounts and open items. Workers take some of these rows away soon, so
 * they are made from the rows of the books again. `p` is the payment.
 */
const beside = {
  audit_entries: `select p.journal_id as of_journal, a.* from audit_entries a
    where a.tenant_id = p.tenant_id and a.subject = 'payment'
      and a.subject_id = p.payment_id::text`,
  events: `select p.journal_id as of_journal, v.* from events v
    where v.tenant_id = p.tenant_id and (
      v.type = 'payment.created' and v.data ->> 'paymentID' = p.payment_id::text
      or v.type = 'bill.paid' and v.data ->> 'billID' = any(array(
        select e.bill_id::text from subledger_entries e
        where e.tenant_id = p.tenant_id and e.journal_id = p.journal_id and e.item_id is null)))`,
  seal_queue: `select p.journal_id as of_journal, p.tenant_id, i.item from (
      select 'journal ' || p.journal_id as item
      union all
      select 'audit ' || a.request_id from audit_entries a
      where a.tenant_id = p.tenant_id and a.subject = 'payment'
        and a.subject_id = p.payment_id::text
    ) i`,
  open_changes: `select p.journal_id as of_journal, p.tenant_id, uuidv7() as change_id,
      1 as context_id, p.value_date as due_date, -e.settled as owed, -1 as items,
      array[e.party_id] as party_ids, '{-1}'::smallint[] as party_items
    from subledger_entries e
    where e.tenant_id = p.tenant_id and e.journal_id = p.journal_id and e.effect is not null`,
  ledger_day_totals: `select p.journal_id as of_journal, p.tenant_id,
      p.value_date as posting_date, l.ledger_account_id, p.journal_id,
      sum(greatest(l.amount, 0)) as debit, sum(greatest(-l.amount, 0)) as credit,
      count(*) as lines
    from journal_lines l
    where l.tenant_id = p.tenant_id and l.journal_id = p.journal_id
    group by l.ledger_account_id`,
};
type Beside = keyof typeof beside;
const besideNames = Object.keys(beside) as Beside[];

/** Tables for the floors, with bills and balances as they are now. */
export async function makeFloorTables(
  { superuser }: Pick<BillrunScene, 'superuser'>,
  { tenantId }: Place,
): Promise<void> {
  for (const table of [...addedNames, ...besideNames, ...changed]) {
    await superuser.query(`drop table if exists floor_${table}`);
    await superuser.query(`create table floor_${table} (like ${table} including all)`);
  }
  for (const table of changed.filter((name) => name !== 'party_wallets')) {
    const columns = await columnsOf(superuser, table);
    await superuser.query(
      `insert into floor_${table} (${columns}) select ${columns} from ${table}
       where tenant_id = ${tenantId}`,
    );
    await superuser.query(`vacuum analyze floor_${table}`);
  }
}

/** What a database holds of its own is left out: it may not be given. */
async function columnsOf(superuser: pg.Client, table: string): Promise<string> {
  const { rows } = await superuser.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
    [table],
  );
  return rows.map((row) => row.name).join(', ');
}

/** The rows that such payments `p` added to a table, in the order of payments. */
async function selectAdded(
  superuser: pg.Client,
  { tenantId }: Place,
  table: Added,
  isWanted: string,
): Promise<string> {
  const columns = await columnsOf(superuser, table);
  const listed = columns.split(', ').map((column) => `t.${column}`);
  const key = table === 'payments' ? 'payment_id' : 'journal_id';
  return `select ${listed.join(', ')} from ${table} t
    where t.tenant_id = ${tenantId} and t.${key} in (select p.${key} from payments p
      where p.tenant_id = ${tenantId} and ${isWanted})`;
}

function areReferences(references: string): string {
  return `p.reference like '${references}%'`;
}

/** Seconds for one `COPY` of the rows into each table and one update of the bills. */
export async function bulkFloor(
  { superuser }: Pick<BillrunScene, 'superuser'>,
  place: Place,
  references: string,
): Promise<number> {
  const prepared: { text: string; bytes: Buffer }[] = [];
  for (const table of addedNames) {
    const select = await selectAdded(superuser, place, table, areReferences(references));
    const bytes = await bytesOf(superuser.query(to(`copy (${select}) to stdout (format binary)`)));
    const columns = await columnsOf(superuser, table);
    prepared.push({ text: `copy floor_${table} (${columns}) from stdin (format binary)`, bytes });
  }
  await superuser.query(`truncate ${addedNames.map((name) => `floor_${name}`).join(', ')}`);
  const began = performance.now();
  await superuser.query('begin');
  for (const { text, bytes } of prepared) {
    const copy = superuser.query(from(text));
    copy.end(bytes);
    await finished(copy);
  }
  await superuser.query(
    `update floor_bills b set paid_amount = b.paid_amount + e.settled
     from (select bill_id, sum(settled) as settled from floor_subledger_entries
       where effect = 'paid' and item_id is null group by bill_id) e
     where b.tenant_id = ${place.tenantId} and b.bill_id = e.bill_id`,
  );
  await superuser.query('commit');
  return (performance.now() - began) / 1_000;
}

/** Seconds for a `COPY` of the payments alone and an update of narrow bills: a bank's own view. */
export async function narrowFloor(
  { superuser }: Pick<BillrunScene, 'superuser'>,
  place: Place,
  references: string,
): Promise<number> {
  const select = await selectAdded(superuser, place, 'payments', areReferences(references));
  const bytes = await bytesOf(superuser.query(to(`copy (${select}) to stdout (format binary)`)));
  await superuser.query('drop table if exists narrow_payments, narrow_bills');
  await superuser.query('create table narrow_payments (like payments including indexes)');
  await superuser.query(
    `create table narrow_bills as select b.bill_id, b.paid_amount from bills b
     where b.tenant_id = ${place.tenantId} and b.subscription_id in (select p.subscription_id
       from payments p where p.tenant_id = ${place.tenantId} and p.reference like '${references}%')`,
  );
  await superuser.query('alter table narrow_bills add primary key (bill_id)');
  await superuser.query('analyze narrow_bills');
  const columns = await columnsOf(superuser, 'payments');
  const began = performance.now();
  await superuser.query('begin');
  const copy = superuser.query(
    from(`copy narrow_payments (${columns}) from stdin (format binary)`),
  );
  copy.end(bytes);
  await finished(copy);
  await superuser.query('update narrow_bills set paid_amount = paid_amount + 1 where bill_id > 0');
  await superuser.query('commit');
  return (performance.now() - began) / 1_000;
}

function selectBeside({ tenantId }: Place, table: Beside, isWanted: string): string {
  return `select r.* from payments p cross join lateral (${beside[table]}) r
    where p.tenant_id = ${tenantId} and ${isWanted}`;
}

type Statement = { text: string; values: unknown[]; name: string };

/**
 * Payments a second, each in a transaction of its own, by as many bare connections: all that every
 * second payment wrote, or what the others wrote into the books.
 */
export async function singleFloor(
  scene: Pick<BillrunScene, 'superuser' | 'cluster' | 'databaseName'>,
  place: Place,
  references: string,
  { connections, isWhole }: { connections: number; isWhole: boolean },
): Promise<number> {
  const { superuser } = scene;
  const isWanted = `${areReferences(references)} and p.payment_id % 2 = ${isWhole ? 0 : 1}`;
  const transactions = await prepareTransactions(superuser, place, isWanted, isWhole);
  await superuser.query(
    `truncate ${[...addedNames, ...besideNames].map((name) => `floor_${name}`).join(', ')}`,
  );
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const { cluster, databaseName } = scene;
      const client = new pg.Client({ ...cluster.superuser, database: databaseName });
      await client.connect();
      return client;
    }),
  );
  const began = performance.now();
  let next = 0;
  const write = async (client: pg.Client) => {
    for (let one = transactions[next++]; one; one = transactions[next++]) {
      await client.query('begin');
      for (const statement of one) await client.query(statement);
      await client.query('commit');
    }
  };
  await Promise.all(clients.map(write));
  const seconds = (performance.now() - began) / 1_000;
  for (const client of clients) await client.end();
  return transactions.length / seconds;
}

type Entry = {
  party_id: string;
  subscription_id: string | null;
  bill_id: string | null;
  item_id: string | null;
  effect: string | null;
  settled: string | null;
};

/** The statements of each payment, which has a journal of its own. */
async function prepareTransactions(
  superuser: pg.Client,
  place: Place,
  isWanted: string,
  isWhole: boolean,
): Promise<Statement[][]> {
  const byJournal = new Map<string, Statement[]>();
  const add = async (table: string, select: string) => {
    const { rows, fields } = await superuser.query<Record<string, unknown>>({
      text: select,
      // As PostgreSQL wrote them, so that they are sent without work.
      types: { getTypeParser: () => (text: string) => text },
    });
    const names = fields.map((field) => field.name).filter((name) => name !== 'of_journal');
    const journalOf = (row: Record<string, unknown>) => String(row.of_journal ?? row.journal_id);
    for (const [journal, own] of Map.groupBy(rows, journalOf)) {
      const statements = byJournal.get(journal) ?? [];
      statements.push(insertOf(table, names, own));
      byJournal.set(journal, statements);
    }
  };
  for (const table of addedNames) {
    await add(table, await selectAdded(superuser, place, table, isWanted));
  }
  for (const table of isWhole ? besideNames : []) {
    await add(table, selectBeside(place, table, isWanted));
  }
  const { rows: entries } = await superuser.query<Entry & { journal_id: string }>(
    `select e.journal_id, e.party_id, e.subscription_id, e.bill_id, e.item_id, e.effect, e.settled
     from subledger_entries e
     join payments p on p.tenant_id = $1 and p.journal_id = e.journal_id
     where e.tenant_id = $1 and ${isWanted}`,
    [place.tenantId],
  );
  for (const { journal_id: journal, ...entry } of entries) {
    byJournal.get(String(journal))?.push(...changesOf(place.tenantId, entry));
  }
  return [...byJournal.values()];
}

function insertOf(
  table: string,
  names: readonly string[],
  rows: readonly Record<string, unknown>[],
): Statement {
  const values = rows.flatMap((row) => names.map((name) => row[name]));
  const places = rows.map((_, row) => {
    const own = names.map((_name, column) => `$${row * names.length + column + 1}`);
    return `(${own.join(', ')})`;
  });
  const text = `insert into floor_${table} (${names.join(', ')}) values ${places.join(', ')}`;
  return { name: `${table} ${rows.length}`, text, values };
}

function changesOf(tenantId: number, entry: Entry): Statement[] {
  const { party_id: party, subscription_id: subscription, settled } = entry;
  const wallet = {
    name: 'wallet',
    text: `insert into floor_party_wallets (tenant_id, party_id) values ($1, $2)
      on conflict (tenant_id, party_id) do nothing`,
    values: [tenantId, party],
  };
  const balance = {
    name: 'balance',
    text: `update floor_subscription_balances set receivable = receivable - $1,
        received = received + $1
      where tenant_id = $2 and subscription_id = $3 and party_id = $4`,
    values: [settled, tenantId, subscription, party],
  };
  const [table, key, id] =
    entry.item_id === null
      ? ['bills', 'bill_id', entry.bill_id]
      : ['open_items', 'item_id', entry.item_id];
  const item = {
    name: table,
    text: `update floor_${table} set paid_amount = paid_amount + $1
      where tenant_id = $2 and ${key} = $3`,
    values: [settled, tenantId, id],
  };
  return entry.effect === null ? [wallet] : [wallet, balance, item];
}
