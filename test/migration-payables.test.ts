// The accounts for what a workspace owes, on a database that is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedInSteps } from './support/migrated-in-steps.ts';

const { client, upTo, enter } = await migratedInSteps();

test('a workspace gets both accounts, also if it has one of that name', async () => {
  await upTo(28);
  await enter(1);
  await client.query(
    `insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind)
     values (1, 11, 'PAYABLE', 'PAYABLE', 'Income')`,
  );
  await upTo(29);
  const { rows } = await client.query(
    `select ledger_account_id::int as id, code, is_control from ledger_accounts
     where tenant_id = 1 and ledger_account_id > 10 order by 1`,
  );
  assert.deepEqual(rows, [
    { id: 11, code: 'PAYABLE', is_control: false },
    { id: 1000001, code: 'PAYABLE 1000001', is_control: true },
    { id: 1000002, code: 'EXPENSE', is_control: false },
  ]);
});
