// The pricing migration on a database that is in use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedInSteps } from './support/migrated-in-steps.ts';

const { client, upTo, enter } = await migratedInSteps();

/** The second workspace has subscriptions of every status. */
const inUse = `
  insert into parties (tenant_id, party_id, party_number, kind, name, search_text, created_at,
      created_by, modified_at, modified_by, ts)
    values (2, 1, 100001, 'Customer', 'A', 'a', now(), 'x', now(), 'x', 1);
  insert into billing_accounts (tenant_id, account_id, party_id, label, created_at, created_by,
      modified_at, modified_by, ts)
    values (2, 1, 1, 'House', now(), 'x', now(), 'x', 1);
  insert into subscriptions (tenant_id, subscription_id, subscription_number, context_code,
      plan_code, plan_label, account_id, party_id, status)
    select 2, n, 'N-' || n, 'ELEC', 'DOM', 'Domestic', 1, 1,
      (array['Active', 'Disconnected', 'Pending', 'Closed'])[1 + n % 4]
    from generate_series(1, 8) n;
`;

test('workspaces that exist get their templates, and plans their count', async () => {
  await client.query(inUse);
  await upTo(5);
  for (const tenantId of [1, 2]) {
    await enter(tenantId);
    const { rows } = await client.query(
      `select t.template_id::integer as id, t.kind, v.version, v.body <> '' as filled
       from templates t join template_versions v using (tenant_id, template_id)
       where tenant_id = $1 order by 1`,
      [tenantId],
    );
    assert.deepEqual(rows, [
      { id: 1, kind: 'Invoice', version: 1, filled: true },
      { id: 2, kind: 'Email', version: 1, filled: true },
    ]);
  }
  const { rows } = await client.query(
    'select context_code, plan_code, subscriptions::integer from plan_subscriptions',
  );
  assert.deepEqual(rows, [{ context_code: 'ELEC', plan_code: 'DOM', subscriptions: 4 }]);
});
