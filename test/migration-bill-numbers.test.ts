// Numbers of bills move into a table of all that were given, on a database that is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedInSteps } from './support/migrated-in-steps.ts';

const { client, upTo, enter } = await migratedInSteps();

const insertBill = `
  insert into bills (tenant_id, bill_id, term_id, first_run, context_id, batch_id, unit_id,
    party_id, bill_type, status, bill_number, due_date, days, current_charges, tax_amount,
    rounding_adjustment, bill_amount, previous_balance, payments_received, adjustments, arrears,
    payable, credit_balance, late_surcharge, entry_id, unit_ts, hash, created_at, created_by,
    modified_at, modified_by, ts)
  values ($1, $2, 4, 1, 1, 1, $2, 1, 'Regular', $3, $4, '2025-08-15', 31, 500, 0, 0, 500, 0, 0, 0,
    0, 500, 0, 0, 0, 0, '\\x00', now(), 'x', now(), 'x', 1)`;

test('every number that was given in a workspace is known, and what became of it', async () => {
  await upTo(35);
  for (const tenantId of [1, 2]) {
    await enter(tenantId);
    await client.query(insertBill, [tenantId, 7, 'Posted', 'B-7']);
    await client.query(insertBill, [tenantId, 8, 'Cancelled', 'B-8']);
    await client.query(insertBill, [tenantId, 9, 'Draft', null]);
    await client.query(
      `insert into retired_numbers
       values ($1, 'B-6', 4, 9, 'wrong prices', '2025-08-02 10:00Z', 'anna')`,
      [tenantId],
    );
  }
  await upTo(36);
  for (const tenantId of [1, 2]) {
    await enter(tenantId);
    const { rows } = await client.query(
      `select concat_ws(' ', bill_number, bill_id, term_id, retired_reason, retired_by) as given
       from bill_numbers where tenant_id = $1 order by bill_number`,
      [tenantId],
    );
    assert.deepEqual(
      rows.map(({ given }) => given),
      ['B-6 9 4 wrong prices anna', 'B-7 7 4', 'B-8 8 4'],
    );
  }
});

test('a number is taken back once, for good', async () => {
  const retire = `update bill_numbers
    set retired_reason = $1::text, retired_at = case when $1::text is not null then now() end, retired_by = $1
    where tenant_id = 2 and bill_number = 'B-7'`;
  await client.query(retire, ['wrong']);
  await assert.rejects(client.query(retire, ['another']), /bill_numbers is append-only/);
  await assert.rejects(client.query(retire, [null]), /bill_numbers is append-only/);
});
