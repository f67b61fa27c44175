import pg from 'pg';
import { openDatabase, openingFor, transact } from '../src/base/db/pool.ts';
import { countSubscriptions, listIdsAt, narrow } from '../src/domain/subscriptions/list-store.ts';
import { wholeSubscriptions } from '../src/domain/subscriptions/views.ts';
import { cloneDatabase, dropDatabase, stopOwnCluster, theCluster } from '../test/support/cluster.ts';
import { makeWorkspace } from '../test/support/scene.ts';
const cluster = await theCluster();
const databaseName = await cloneDatabase(cluster);
const total = Number(process.argv[2] ?? 1000000);
const tenantId = await makeWorkspace(cluster, databaseName, Temporal.Now.instant(), 'm', {});
const owner = new pg.Client({ ...cluster.owner, database: databaseName });
await owner.connect();
await owner.query("select set_config('app.tenant', '1', false)");
const q = (s: string, v: unknown[] = []) => owner.query(s, v);
for (const i of ['subscriptions_search', 'parties_search']) await q(`drop index ${i}`);
const st = "now(),'x',now(),'x',1";
await q(`insert into pricing_contexts (tenant_id, context_id, code, name, context_type, charging_type, post_type, billing_period_id, due_date_offset, bills_after_period, settlement_method, cash_account_id, business_unit_id, description, template_id, version, book_version, created_at, created_by, modified_at, modified_by, ts)
 select 1, n, 'C'||n, 'C'||n, 'Sale', case when n%2=0 then 'Postpaid' else 'Prepaid' end, 'Post Subscription', 1, 0, true, 'Chronology', 1, 1, '', 1, 1, 1, ${st} from generate_series(1,5) n`);
await q(`insert into batches (tenant_id,batch_id,context_id,code,label) select 1, c*100+b, c, 'B'||b, 'x' from generate_series(1,5) c, generate_series(1,20) b`);
await q(`insert into plans (tenant_id, plan_id, context_id, code, name, unique_label, plan_type, abstract, custom, visibility, version, created_at, created_by, modified_at, modified_by, ts) select 1, c*100+p, c, 'P'||c||'-'||p, 'x', 'U'||c||'-'||p, 'BASE_PLAN', false,false,'Public',1, ${st} from generate_series(1,5) c, generate_series(1,10) p`);
await q(`insert into parties (tenant_id, party_id, party_number, kind, name, search_text, created_at, created_by, modified_at, modified_by, ts) select 1, n, 100000+n, 'Customer', 'Name '||md5(n::text), 'name '||md5(n::text)||E'\n'||(100000+n), ${st} from generate_series(1,${total / 2}) n`);
await q(`insert into billing_accounts (tenant_id, account_id, party_id, label, created_at, created_by, modified_at, modified_by, ts) select 1, n, n, 'House '||n, ${st} from generate_series(1,${total / 2}) n`);
console.log('parties'); const began = performance.now();
for (let f = 1; f <= total; f += 20000) await q(`insert into subscriptions (tenant_id, subscription_id, subscription_number, reference_number, context_id, plan_id, batch_id, account_id, party_id, status, connection_date, disconnection_kind, billed_through, is_metered, has_quantities, address, plan_history, status_history, users, search_text, created_at, created_by, modified_at, modified_by, ts)
 select 1, n, 'C'||c||'-'||lpad(n::text,8,'0'), 'R'||n, c, c*100+1+(n*7)%10, c*100+1+(n/977)%20, 1+n%${total / 2}, 1+n%${total / 2}, case when n%1000=1 then 'Closed' when n%50=3 then 'Disconnected' else 'Active' end, date '2015-01-01'+(n%4000)::int, case when n%50=3 and n%1000<>1 then 'Temporary' end, null, n%3>0, n%5=0, jsonb_build_object('city', case when n%4=0 then 'Lahore' else 'City '||n%20 end, 'block','B'||n%100,'society','S'||n%500), jsonb_build_array(jsonb_build_object('planId',1,'fromDate','2015-01-01')), '[{"status":"Active","fromDate":"2015-01-01"}]', jsonb_build_array(jsonb_build_object('partyId',1+n%${total / 2},'role','Owner','fromDate','2015-01-01')), lower('C'||c||'-'||lpad(n::text,8,'0')||E'\nR'||n||E'\n'), now(),'x',now(),'x', n
 from (select n, 1+(n/13)%5 as c from generate_series(${f}, ${f + 19999}) n) s`);
console.log('subs', ((performance.now() - began) / 1000).toFixed(0));
await q('create index subscriptions_search on subscriptions using gin (tenant_id, search_text gin_trgm_ops)');
await q('create index parties_search on parties using gin (tenant_id, search_text gin_trgm_ops)');
await q('update billing_accounts set billing_group_id = null where false');
await q(`insert into billing_groups (tenant_id,billing_group_id,name,created_at,created_by,modified_at,modified_by,ts) values (1,1,'g',${st})`);
await q('update billing_accounts set billing_group_id = 1 where account_id % 10 = 0');
await q('vacuum analyze');
console.log((await q('select count(*) from subscription_counts')).rows[0], (await q("select pg_size_pretty(pg_database_size(current_database()))")).rows[0]);
const api = openDatabase({ connection: { ...cluster.api, database: databaseName }, name: 'b', max: 1 });
const none = Object.fromEntries('contextCode planCode batchCode chargingType isMetered hasQuantities status number referenceNumber meterNumber partyId accountLabel billingGroupId city block society fromDate toDate search updatedSince'.split(' ').map((k) => [k, null])) as never as object;
const D = (s: string) => Temporal.PlainDate.from(s);
const cases: [string, object, number, object?][] = [
 ['all', {}, 0], ['all deep', {}, 0.98], ['all desc deep', {}, 0.98, { by: 'id', descending: true }],
 ['context', { contextCode: 'C2' }, 0.9], ['status Active', { status: 'Active' }, 0.9], ['Closed', { status: 'Closed' }, 0.9], ['Disconnected', { status: 'Disconnected' }, 0.9],
 ['ctx+status', { contextCode: 'C3', status: 'Disconnected' }, 0.9], ['plan', { planCode: 'P1-1' }, 0.9], ['batch', { batchCode: 'B3' }, 0.9], ['prepaid', { chargingType: 'Prepaid' }, 0.9], ['metered', { isMetered: true }, 0.9], ['mixed', { isMetered: true, hasQuantities: true }, 0.9],
 ['number', { number: 'C1-00500000' }, 0], ['ref', { referenceNumber: 'R5' }, 0], ['meter', { meterNumber: 5 }, 0], ['party', { partyId: 77 }, 0], ['label', { accountLabel: 'House 9' }, 0], ['group', { billingGroupId: 1 }, 0.9],
 ['city big', { city: 'lahore' }, 0.9], ['block', { block: 'b7' }, 0.9], ['society', { society: 's7' }, 0.5], ['city+ctx', { city: 'lahore', contextCode: 'C1' }, 0.9],
 ['date narrow', { fromDate: D('2020-01-01'), toDate: D('2020-01-03') }, 0.5], ['date wide', { fromDate: D('2016-01-01') }, 0.9], ['updated few', { updatedSince: total - 100 }, 0], ['updated many', { updatedSince: 1000 }, 0.9],
 ['search number', { search: '0050000' }, 0], ['search name', { search: 'c4ca4' }, 0], ['search 2', { search: 'c1' }, 0], ['search broad', { search: 'c1-00' }, 0], ['search+ctx', { search: '0050000', contextCode: 'C1' }, 0],
 ['sort number', {}, 0.9, { by: 'connectionNumber', descending: false }], ['sort date', {}, 0.9, { by: 'connectionDate', descending: true }], ['sort ts', {}, 0.9, { by: 'ts', descending: true }], ['sort date ctx', { contextCode: 'C1' }, 0.1, { by: 'connectionDate', descending: true }],
];
for (const [name, f, share, s] of cases) {
  let best = [1e9, 1e9, 1e9, 0, 0];
  for (let i = 0; i < 4; i += 1) {
    const r = await transact(api, { opening: openingFor(tenantId), readOnly: true }, async (tx) => {
      const n = await narrow(tx, tenantId, { ...none, ...f } as never); if (!n) return [0, 0, 0, 0, 0];
      const a = performance.now(); const count = await countSubscriptions(tx, tenantId, n);
      const b = performance.now(); const ids = await listIdsAt(tx, tenantId, n, (s ?? { by: 'id', descending: false }) as never, { offset: Math.floor(count * share), limit: 100 });
      const c = performance.now(); await wholeSubscriptions(tx, tenantId, ids, { readings: false, ledger: false });
      return [b - a, c - b, performance.now() - c, count, ids.length];
    });
    best = best.map((x, k) => (k < 3 ? Math.min(x as number, r[k] as number) : (r[k] as number)));
  }
  console.log(name.padEnd(16), 'count', best[0]?.toFixed(1), 'ids', best[1]?.toFixed(1), 'views', best[2]?.toFixed(1), 'n', best[3], best[4]);
}
await api.close(); await owner.end(); await dropDatabase(cluster, databaseName); await stopOwnCluster();
