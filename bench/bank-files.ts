// A bank file that pays every bill of a term, posted by real workers, beside its floors: a bare COPY
// of all rows that it adds and one indexed update of the bills, and a COPY of the payments alone.
//
//   node bench/bank-files.ts [--size 100000]
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { type BillrunScene, openBillrun, type Place, runStep } from './billrun-scene.ts';
import { bulkFloor, makeFloorTables, narrowFloor } from './receivables-floors.ts';
import { tell } from './result.ts';

const body = { operation: 'schedule' as const, data: { termID } };

const { values } = parseArgs({ options: { size: { type: 'string', default: '100000' } } });
const size = Number(values.size);
const scene = await openBillrun([2_000, size]);
for (const place of scene.places) {
  await runStep(scene, place, (client) => client.generateBills(body));
  await runStep(scene, place, (client) => client.postBills(body));
  await scene.superuser.query('vacuum analyze');
  await makeFloorTables(scene, place);
  const seconds = await payAll(scene, place);
  // Every payment of the workspace is of the file.
  const floor = await bulkFloor(scene, place, '');
  const narrow = await narrowFloor(scene, place, '');
  tell({
    [`bank_file_lines_${place.size}`]: place.size,
    [`bank_file_seconds_${place.size}`]: seconds,
    [`bank_file_floor_seconds_${place.size}`]: floor,
    [`pay_bulk_vs_copy_${place.size}`]: floor / seconds,
    [`pay_bulk_vs_copy_of_payments_${place.size}`]: narrow / seconds,
  });
}
await scene.close();
await stopOwnCluster();

async function payAll({ superuser }: BillrunScene, place: Place): Promise<number> {
  const { tenantId, client } = place;
  await superuser.query(
    `insert into bank_accounts (tenant_id, bank_account_id, context_id, title, is_default)
     select $1, 1, min(context_id), 'Bench', true from pricing_contexts where tenant_id = $1`,
    [tenantId],
  );
  const { rows } = await superuser.query<{ line: string }>(
    `select s.subscription_number || ',' || (b.bill_amount / 100.0)::numeric(20, 2) as line
     from bills b
     join subscriptions s on s.tenant_id = $1 and s.subscription_id = b.subscription_id
     where b.tenant_id = $1 and b.bill_amount > 0
     order by hashtext(b.bill_id::text)`,
    [tenantId],
  );
  const columns = { date: '1', reference: '2', amount: '3', dateFormat: 'DD/MM/YYYY' };
  const mapping = { name: 'bench', columns: { ...columns, decimal: '.' as const } };
  await client.makeMappings({ mappings: [mapping] });
  const content = rows.map(({ line }) => `01/08/2025,${line}\n`).join('');
  const file = { bankAccountID: 1, format: 'CSV', mappingName: 'bench' } as const;
  const contentBase64 = Buffer.from(content).toString('base64');
  const began = performance.now();
  return runStep(scene, place, async () => {
    const answer = await client.importBankFile({ ...file, contentBase64 });
    tell({ [`bank_file_accepted_${place.size}`]: (performance.now() - began) / 1_000 });
    return answer;
  });
}
