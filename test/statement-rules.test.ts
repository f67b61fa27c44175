// The checker of the rules for SQL: each rule finds its fault, and what keeps the rule passes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckedStatements } from './support/checked-statements.ts';
import { findSqlFaults, type SqlRule } from './support/statement-rules.ts';

const catalogue = {
  tenantTables: new Set(['bills', 'parties', 'terms', 'tenants']),
  readingFunctions: new Set(['search_parties']),
  volatileFunctions: new Set(['clock_timestamp', 'set_config']),
};

/** Statements that break the rule, and those beside them that keep it. */
const cases: Record<SqlRule, { breaks: string[]; keeps: string[] }> = {
  'own tenant': {
    breaks: [
      'select 1 from bills',
      'select 1 from bills where bill_id = $1',
      'select 1 from bills b join parties p on p.tenant_id = b.tenant_id where b.tenant_id = $1',
      'select 1 from bills b join parties p using (tenant_id) where b.tenant_id = $1',
      'select 1 from bills b, parties p where tenant_id = $1',
      'select 1 from bills where tenant_id = $1 or bill_id = $2',
      'select (select 1 from parties p where p.tenant_id = b.tenant_id) from bills b where b.tenant_id = $1',
      'update bills b set ts = 1 from parties p where b.tenant_id = $1 and p.party_id = b.party_id',
      'delete from bills where bill_id = $1',
      'with x as (select 1 from bills) select 1 from x',
      'select 1 from parties where tenant_id = $1 union all select 1 from bills',
      'insert into bills (tenant_id, ts) select p.tenant_id, 1 from parties p',
    ],
    keeps: [
      'select 1 from bills where tenant_id = $1',
      'select 1 from bills b join parties p on p.tenant_id = $2 where b.tenant_id = $1',
      'select 1 from bills b left join parties p on p.tenant_id = $2::bigint and true where b.tenant_id = $1',
      'select 1 from bills b, unnest($2::bigint[]) i where tenant_id = $1',
      'with bills as (select 1) select 1 from bills',
      'select 1 from bills where tenant_id = require_tenant()',
      'select 1 from workspaces',
    ],
  },
  'tenant of insert': {
    breaks: [
      'insert into bills (tenant_id, ts) select $1, t from unnest($2::bigint[]) t',
      'insert into bills (ts, tenant_id) select 1, $1::bigint',
    ],
    keeps: [
      'insert into bills (tenant_id, ts) values ($1, $2), ($1, $3)',
      `insert into bills (tenant_id, ts) select own.tenant_id, t
       from (select tenant_id from tenants where tenant_id = $1) own cross join unnest($2::bigint[]) t`,
    ],
  },
  'writing CTE': {
    breaks: [
      'with gone as (delete from bills where tenant_id = $1 returning 1) select count(*) from gone',
      'with a as (update bills set ts = 1 where tenant_id = $1 returning 1) select 1 from a',
    ],
    keeps: ['with a as (select 1 from bills where tenant_id = $1) select 1 from a'],
  },
  'array element': {
    breaks: [
      'update bills set ts = ($2::bigint[])[bill_id] where tenant_id = $1',
      'insert into bills (tenant_id) values ($1) on conflict (ts) do update set ts = ($2::bigint[])[1]',
    ],
    keeps: ['update bills set ts = coalesce(($2::bigint[])[bill_id], null) where tenant_id = $1'],
  },
  'set_config in CTE': {
    breaks: ["with q as (select set_config('a.b', 'c', true)) select 1 from q"],
    keeps: ["select set_config('a.b', 'c', true)"],
  },
  'volatile update': {
    breaks: [
      'update bills set at = clock_timestamp() where tenant_id = $1',
      'update bills set ts = 1 where tenant_id = $1 returning pg_backend_pid()',
      'insert into bills (tenant_id) values ($1) on conflict (ts) do update set at = clock_timestamp()',
    ],
    keeps: [
      'update bills set at = now() where tenant_id = $1',
      'insert into bills (tenant_id, at) values ($1, clock_timestamp())',
    ],
  },
  'simple case': {
    breaks: [
      "insert into bills (tenant_id, ts) values ($1, case $2 when 'a' then 1 else 2 end)",
      "update bills set ts = case status when 'a' then 1 else 2 end where tenant_id = $1",
    ],
    keeps: [
      "update bills set ts = case when status = 'a' then 1 else 2 end where tenant_id = $1",
      "select case status when 'a' then 1 else 2 end from bills where tenant_id = $1",
      "select 1 union all select case status when 'a' then 1 end from bills where tenant_id = $1",
    ],
  },
  'CTE before insert': {
    breaks: [
      'with n as (select bill_id from bills where tenant_id = $1) insert into bills (tenant_id, bill_id) select t.tenant_id, n.bill_id from (select tenant_id from tenants where tenant_id = $1) t cross join n',
    ],
    keeps: [
      'insert into bills (tenant_id, bill_id) with n as (select bill_id from bills where tenant_id = $1) select t.tenant_id, n.bill_id from (select tenant_id from tenants where tenant_id = $1) t cross join n',
    ],
  },
  'row in query': {
    breaks: [
      'delete from bills where tenant_id = $1 and (bill_id, ts) in (select * from unnest($2::bigint[], $3::bigint[]))',
      'update bills set ts = 1 where tenant_id = $1 and (bill_id, ts) in (select n, n from unnest($2::bigint[]) n)',
    ],
    keeps: [
      'delete from bills b using unnest($2::bigint[], $3::bigint[]) as n (id, ts) where b.tenant_id = $1 and b.bill_id = n.id and b.ts = n.ts',
      'delete from bills where tenant_id = $1 and bill_id in (select unnest($2::bigint[]))',
      'select 1 from bills where tenant_id = $1 and (bill_id, ts) in (select 1, 2)',
    ],
  },
  'reading function': {
    breaks: [
      'select search_parties($1)',
      'select * from search_parties($1)',
      'select 1 from workspaces w cross join search_parties($1)',
    ],
    keeps: [
      'select 1 from parties where tenant_id = $1 and party_id in (select search_parties($2))',
      'select 1 from tenants own cross join search_parties($2) s where own.tenant_id = $1',
    ],
  },
  'generic plan': {
    breaks: ["select set_config('plan_cache_mode', 'force_generic_plan', true)"],
    keeps: ["select set_config('plan_cache_mode', 'auto', true)"],
  },
};

for (const [rule, { breaks, keeps }] of Object.entries(cases)) {
  test(`the checker finds statements that break the rule "${rule}"`, () => {
    for (const text of breaks) {
      const rules = findSqlFaults(text, catalogue).map((fault) => fault.rule);
      assert.ok(rules.includes(rule as SqlRule), text);
    }
  });
  test(`the checker accepts statements that keep the rule "${rule}"`, () => {
    for (const text of keeps) assert.deepEqual(findSqlFaults(text, catalogue), [], text);
  });
}

test('a statement that kept the rules is not checked again, in this process or another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'billwright-statements-'));
  try {
    const one = openCheckedStatements(folder);
    assert.deepEqual(one.unknownOf(['select 1', 'select 2']), ['select 1', 'select 2']);
    one.remember(['select 2']);
    for (const any of [one, openCheckedStatements(folder)]) {
      assert.deepEqual(any.unknownOf(['select 1', 'select 2']), ['select 1']);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
