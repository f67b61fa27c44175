// What bills say moves into rows of its own, on a database that is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedInSteps } from './support/migrated-in-steps.ts';

const { client, upTo, enter } = await migratedInSteps();

const insertBill = `
  insert into bills (tenant_id, bill_id, term_id, first_run, context_id, batch_id, unit_id,
    party_id, bill_type, status, bill_number, due_date, days, current_charges, tax_amount,
    rounding_adjustment, bill_amount, previous_balance, payments_received, adjustments, arrears,
    payable, credit_balance, late_surcharge, entry_id, unit_ts, hash, document, frozen, created_at,
    created_by, modified_at, modified_by, ts)
  values ($1, $2, 1, 1, 1, 1, $2, 1, 'Regular', 'Posted', 'B-' || $2::bigint, '2025-08-15', 31, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '\\x00', $3, $4, now(), 'x', now(), 'x', 1)`;

test('every bill of every workspace says what it said, byte for byte', async () => {
  await upTo(29);
  const document = '{"lines": [{"component":"fee",  "type":"Charge","amount":5}],"tariffCode":"A"}';
  const frozen = '{ "a" : 1, "name": "کراچی" }';
  for (const [tenantId, billId] of [
    [1, 7],
    [2, 7],
    [2, 8],
  ]) {
    await enter(tenantId as number);
    await client.query(insertBill, [tenantId, billId, document, frozen]);
  }
  await upTo(30);
  for (const [tenantId, count] of [
    [1, 1],
    [2, 2],
  ]) {
    await enter(tenantId as number);
    const { rows } = await client.query<{ document: string; frozen: string }>(
      `select document::text as document, frozen::text as frozen
       from bills join bill_contents using (tenant_id, bill_id) where tenant_id = $1`,
      [tenantId],
    );
    assert.deepEqual(rows, Array(count).fill({ document, frozen }));
    const lines = await client.query(
      'select component, amount::int as amount, plan_code from bill_lines where tenant_id = $1',
      [tenantId],
    );
    assert.deepEqual(
      lines.rows,
      Array(count).fill({ component: 'fee', amount: 5, plan_code: 'A' }),
    );
  }
});

test('what a bill says is not changed, and goes only with the bill', async () => {
  await enter(2);
  await assert.rejects(
    client.query(`update bill_contents set frozen = '{}' where tenant_id = 2`),
    /bill_contents is append-only/,
  );
  await assert.rejects(
    client.query('delete from bill_contents where tenant_id = 2 and bill_id = 7'),
    /a bill is not without its contents/,
  );
});
