// Subscriptions of the residential electricity plan, made inside PostgreSQL: each with its party,
// account, meter, the readings of a month, three earlier terms, and every second one with a
// balance.
import type pg from 'pg';

/** The only term of its workspace. */
export const termID = 1;

const addressText = `jsonb_build_object('street', 'Street ' || n % 97, 'city', 'Lahore')`;
const stamp = `now(), 'test', now(), 'test', 1`;

const tables = [
  `insert into parties (tenant_id, party_id, party_number, kind, name, email, search_text,
     created_at, created_by, modified_at, modified_by, ts)
   select $1, n, 100000 + n, 'Customer', 'Customer ' || n, 'c' || n || '@example.com',
     lower('customer ' || n), ${stamp}
   from generate_series($2::bigint, $3::bigint) n`,
  `insert into billing_accounts (tenant_id, account_id, party_id, label, created_at, created_by,
     modified_at, modified_by, ts)
   select $1, n, n, 'House ' || n, ${stamp} from generate_series($2::bigint, $3::bigint) n`,
  `insert into subscriptions (tenant_id, subscription_id, subscription_number, context_id, plan_id,
     batch_id, account_id, party_id, status, connection_date, billed_through, is_metered, address,
     plan_history, status_history, connection_inputs, users, search_text, created_at, created_by,
     modified_at, modified_by, ts)
   select $1, n, 'ELEC-' || lpad(n::text, 8, '0'), $4, $5, $6, n, n, 'Active', '2021-03-10',
     '2025-06-30', true, ${addressText},
     jsonb_build_array(jsonb_build_object('planId', $5::bigint, 'fromDate', '2021-03-10')),
     jsonb_build_array(jsonb_build_object('status', 'Active', 'fromDate', '2021-03-10')),
     jsonb_build_array(jsonb_build_object('name', 'sanctionedLoad', 'value', (1 + n % 7)::text),
       jsonb_build_object('name', 'phase', 'value', 'Single')),
     jsonb_build_array(jsonb_build_object('partyId', n, 'role', 'Owner', 'fromDate', '2021-03-10')),
     'elec-' || lpad(n::text, 8, '0'), ${stamp}
   from generate_series($2::bigint, $3::bigint) n`,
  `insert into meters (tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf, status,
     search_text, created_at, created_by, modified_at, modified_by, ts)
   select $1, n, 700000 + n, 'Itron', 1, '2020-01-01', 1, 'Active', (700000 + n)::text, ${stamp}
   from generate_series($2::bigint, $3::bigint) n`,
  `insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id, install_date,
     mf, created_at, created_by, modified_at, modified_by, ts)
   select $1, n, n, n, '2021-03-10', 1, ${stamp} from generate_series($2::bigint, $3::bigint) n`,
  `insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
   select $1, n, 1, n, 'energy' from generate_series($2::bigint, $3::bigint) n`,
  `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
     reading_type, status, created_at, created_by, modified_at, modified_by)
   select $1, n, n, 1, '2025-07-31', 48210 + n % 900 + 130, 'Actual', 'Accepted', now(), 'test',
     now(), 'test'
   from generate_series($2::bigint, $3::bigint) n`,
  `insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
     previous_date, previous_value, previous_type, reading_id, reading_date, value, reading_type,
     locked_at, locked_by)
   select $1, ${termID}, n, n, 1, '2025-06-30', 48210, 'Actual', n, '2025-07-31', 48210 + n % 900 + 130,
     'Actual', now(), 'test'
   from generate_series($2::bigint, $3::bigint) n`,
  `insert into usage_histories (tenant_id, subscription_id, terms)
   select $1, n, array[${['Jun', 'May', 'Apr']
     .map(
       (month, index) => `json_build_object('termId', null, 'label', '${month}-2025', 'days', 30,
         'amount', ${1_500_000 + index} + n % 5000, 'usage', json_build_object('energy',
           json_build_object('quantity', (${300 + index} + n % 400)::text, 'type', 'Actual')))`,
     )
     .join(', ')}]
   from generate_series($2::bigint, $3::bigint) n`,
];

const batch = 50_000;

/** A term of July that is ready to be billed, and as many subscriptions for it. */
export async function fillTerm(owner: pg.Client, tenantId: number, size: number): Promise<void> {
  const { rows } = await owner.query(
    `select c.context_id, b.batch_id, p.plan_id
     from pricing_contexts c
     join batches b on b.tenant_id = c.tenant_id and b.context_id = c.context_id
     join plans p on p.tenant_id = c.tenant_id and p.code = 'RES-A1'
     where c.tenant_id = $1 and b.code = 'DEFAULT'`,
    [tenantId],
  );
  const [contextId, batchId, planId] = ['context_id', 'batch_id', 'plan_id'].map((name) =>
    Number(rows[0][name]),
  ) as [number, number, number];
  await owner.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, readings_posted_at,
       created_at, created_by, modified_at, modified_by, ts)
     values ($1, $2, $3, $4, 1, 'Regular', 'Jul-2025', '2025-07-01', '2025-07-31', '2025-08-15',
       'Post Subscription', 'Open', 'ReadingsPosted', now() - interval '1 day', ${stamp})`,
    [tenantId, termID, contextId, batchId],
  );
  await fillSubscriptions(owner, { tenantId, contextId, batchId, planId }, size);
}

type Keys = { tenantId: number; contextId: number; batchId: number; planId: number };

/** Numbers of the rows are the numbers of the subscriptions. */
async function fillSubscriptions(owner: pg.Client, keys: Keys, size: number): Promise<void> {
  const { tenantId, contextId, batchId, planId } = keys;
  await owner.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  for (let first = 1; first <= size; first += batch) {
    const last = Math.min(size, first + batch - 1);
    for (const text of tables) {
      const isSubscription = text.startsWith('insert into subscriptions');
      const values = [tenantId, first, last];
      await owner.query(text, isSubscription ? [...values, contextId, planId, batchId] : values);
    }
    await openingBalances(owner, tenantId, first, last);
  }
  await owner.query(
    `insert into counters (tenant_id, series, last_number)
     select $1, series, $2
     from unnest(array['party', 'account', 'subscription', 'meter', 'assignment', 'reading']) series
     on conflict (tenant_id, series) do update set last_number = excluded.last_number`,
    [tenantId, size],
  );
}

/** Every second subscription owes something from before. */
async function openingBalances(
  owner: pg.Client,
  tenantId: number,
  first: number,
  last: number,
): Promise<void> {
  await owner.query('begin');
  // For the triggers, on the machine of the workspace too, where there are several.
  await owner.query(`set local app.tenant = '${tenantId}'`);
  await owner.query(
    `insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
       posting_date, description, created_at, created_by)
     values ($1, $2, 'Opening', 1, 1, '2025-06-30', 'Opening balances', now(), 'test')`,
    [tenantId, first],
  );
  const sum = `(select sum(1000 + n % 700) from generate_series($3::bigint, $4::bigint) n where n % 2 = 0)`;
  await owner.query(
    `insert into journal_lines (tenant_id, journal_id, line_number, ledger_account_id, amount)
     select $1, $2, l.number, l.account, l.amount
     from (values (1, 2, ${sum}), (2, 8, -${sum})) l (number, account, amount)`,
    [tenantId, first, first, last],
  );
  await owner.query(
    `insert into open_items (tenant_id, item_id, kind, ledger_account_id, party_id, subscription_id,
       issue_date, due_date, amount, description, created_at, created_by)
     select $1, n, 'Opening', 2, n, n, '2025-06-30', '2025-06-30', 1000 + n % 700,
       'Opening balance', now(), 'test'
     from generate_series($2::bigint, $3::bigint) n where n % 2 = 0`,
    [tenantId, first, last],
  );
  await owner.query(
    `insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
       subscription_id, kind, item_id, amount, posting_date, created_at, created_by)
     select $1, n, $2, 2, n, n, 'Opening', n, 1000 + n % 700, '2025-06-30', now(), 'test'
     from generate_series($3::bigint, $4::bigint) n where n % 2 = 0`,
    [tenantId, first, first, last],
  );
  await owner.query('commit');
  await owner.query(
    `insert into counters (tenant_id, series, last_number)
     values ($1, 'entry', $2), ($1, 'journal', $2), ($1, 'open-item', $2)
     on conflict (tenant_id, series) do update set last_number = excluded.last_number`,
    [tenantId, last],
  );
}
