// Floors for the steps of a bill run: a bare COPY of the generated bills, a bare `insert ...
// select` of the entries, and a simple program that a developer would write in an afternoon.
import assert from 'node:assert/strict';
import { buffer as bytesOf } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { termID } from '../test/support/residential-rows.ts';
import { type BillrunScene, lanes, type Place } from './billrun-scene.ts';

/** As many bills as a part of the step writes in one transaction. */
const rowsPerCopy = 1_000;

/** Of each table, the rows of every part, in the format in which the step sends them. */
export type PreparedRows = { table: string; columns: string; parts: Buffer[] }[];

/** The bills of a workspace as bytes; whoever sends them has nothing else to do. */
export async function prepareRows(scene: BillrunScene, place: Place): Promise<PreparedRows> {
  return [
    await prepareTable(scene, place, 'bills'),
    await prepareTable(scene, place, 'bill_contents'),
  ];
}

async function prepareTable(
  scene: BillrunScene,
  place: Place,
  table: string,
): Promise<PreparedRows[number]> {
  const { rows } = await scene.superuser.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
       and attname not in ('tenant_id', 'payment_status', 'bill_number', 'issue_date',
         'wallet_applied', 'paid_amount')
     order by attnum`,
    [table],
  );
  const columns = rows.map((row) => row.name).join(', ');
  const parts: Buffer[] = [];
  for (let first = 0; first < place.size; first += rowsPerCopy) {
    const select = `select ${columns} from ${table} where tenant_id = ${place.tenantId}
      order by bill_id limit ${rowsPerCopy} offset ${first}`;
    const copy = to(`copy (${select}) to stdout (format binary)`);
    parts.push(await bytesOf(scene.superuser.query(copy)));
  }
  return { table, columns, parts };
}

/** Seconds for as many writers as the step has. */
export async function copyFloor(
  scene: BillrunScene,
  place: Place,
  tables: PreparedRows,
): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: lanes }, () => connectFloor(scene, place)),
  );
  const began = performance.now();
  let next = 0;
  const writer = async (client: pg.Client) => {
    for (let part = next++; part * rowsPerCopy < place.size; part = next++) {
      await client.query('begin');
      for (const { table, columns, parts } of tables) {
        const copy = from(`copy ${table} (${columns}) from stdin (format binary)`);
        const stream = client.query(copy);
        stream.end(parts[part]);
        await finished(stream);
      }
      await client.query('commit');
    }
  };
  await Promise.all(clients.map(writer));
  const seconds = (performance.now() - began) / 1_000;
  for (const client of clients) await client.end();
  return seconds;
}

/** Seconds for the entries of all bills that the floor before it copied in. */
export async function entriesFloor(scene: BillrunScene, place: Place): Promise<number> {
  const client = await connectFloor(scene, place);
  const { tenantId } = place;
  await client.query(
    `insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
       posting_date, description, created_at, created_by)
     values ($1, 900000000, 'Bills', 1, 1, '2025-07-31', 'Bills', now(), 'bench')`,
    [tenantId],
  );
  const began = performance.now();
  const { rowCount } = await client.query(
    `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
       subscription_id, kind, bill_id, posting, amount, posting_date, due_date, reference,
       created_at, created_by)
     select tenant_id, 900000000 + bill_id, 900000000, 2, party_id, subscription_id, 'Bill',
       bill_id, 1, bill_amount, date '2025-08-01', due_date, 'ELEC-' || bill_id, now(), 'bench'
     from bills
     where tenant_id = $1 and term_id = $2
     order by bill_id`,
    [tenantId, termID],
  );
  const seconds = (performance.now() - began) / 1_000;
  assert.equal(rowCount, place.size);
  await client.end();
  return seconds;
}

async function connectFloor(scene: BillrunScene, place: Place): Promise<pg.Client> {
  const client = new pg.Client({ ...scene.cluster.superuser, database: scene.floorName });
  await client.connect();
  await client.query("select set_config('app.tenant', $1, false)", [String(place.tenantId)]);
  return client;
}

const naiveTables = `
  create table naive_bills (
    bill_id bigint primary key, subscription_id bigint not null, party_id bigint not null,
    due_date date not null, units double precision not null, current_charges numeric(12, 2) not null,
    arrears numeric(12, 2) not null, payable numeric(12, 2) not null, created_at timestamptz not null
  );
  create table naive_lines (
    bill_id bigint not null references naive_bills, line_number integer not null,
    component text not null, amount numeric(12, 2) not null, primary key (bill_id, line_number)
  );`;

type NaiveInput = {
  subscription_id: string;
  party_id: string;
  units: string;
  load: string;
  before: string;
  arrears: string;
};

/** Seconds for one bill, of the first ones of a workspace. */
export async function naiveSeconds(
  scene: BillrunScene,
  place: Place,
  bills: number,
): Promise<number> {
  const client = await connectFloor(scene, place);
  await client.query(naiveTables);
  const began = performance.now();
  const { rows } = await client.query<NaiveInput>(
    `select s.subscription_id, s.party_id, r.value - r.previous_value as units,
       s.connection_inputs -> 0 ->> 'value' as load,
       h.terms[2] -> 'usage' -> 'energy' ->> 'quantity' as before,
       coalesce(b.receivable, 0) / 100.0 as arrears
     from subscriptions s
     join term_readings r on r.tenant_id = s.tenant_id and r.subscription_id = s.subscription_id
     join usage_histories h on h.tenant_id = s.tenant_id and h.subscription_id = s.subscription_id
     left join subscription_balances b
       on b.tenant_id = s.tenant_id and b.subscription_id = s.subscription_id
     where s.tenant_id = $1
     order by s.subscription_id
     limit $2`,
    [place.tenantId, bills],
  );
  for (const [index, row] of rows.entries()) await storeNaive(client, index + 1, row);
  const seconds = (performance.now() - began) / 1_000;
  await client.query('drop table naive_lines, naive_bills');
  await client.end();
  return seconds / rows.length;
}

async function storeNaive(client: pg.Client, billId: number, input: NaiveInput): Promise<void> {
  const lines = naiveLines(Number(input.units), Number(input.load), Number(input.before));
  const current = lines.reduce((sum, [, amount]) => sum + amount, 0);
  const arrears = Number(input.arrears);
  await client.query('begin');
  await client.query({
    name: 'bill',
    text: `insert into naive_bills values ($1, $2, $3, '2025-08-15', $4, $5, $6, $7, now())`,
    values: [
      billId,
      input.subscription_id,
      input.party_id,
      Number(input.units),
      current,
      arrears,
      Math.round(current + arrears),
    ],
  });
  for (const [index, [component, amount]] of lines.entries()) {
    await client.query({
      name: 'line',
      text: 'insert into naive_lines values ($1, $2, $3, $4)',
      values: [billId, index + 1, component, amount],
    });
  }
  await client.query('commit');
}

const slabs = [
  [100, 16.48],
  [200, 22.95],
  [300, 27.14],
  [700, 32.03],
  [Infinity, 42.72],
] as const;

/** The residential tariff in doubles. */
function naiveLines(units: number, load: number, before: number): [string, number][] {
  let energy = 0;
  let from = 0;
  for (const [upTo, rate] of slabs) {
    energy += Math.max(0, Math.min(units, upTo) - from) * rate;
    from = upTo;
  }
  const fixed = units > 300 ? load * 200 : 0;
  const fuel = before * 0.8543;
  const minimum = Math.max(0, 75 - energy - fixed);
  const duty = (energy + fuel) * 0.015;
  const gst = (energy + fixed + 25 + fuel + minimum + duty) * 0.18;
  return [
    ['energyCharge', energy],
    ['fixedCharge', fixed],
    ['meterRent', 25],
    ['fuelAdjustment', fuel],
    ['minimumAdjustment', minimum],
    ['electricityDuty', duty],
    ['gst', gst],
    ['tvFee', 35],
  ];
}
