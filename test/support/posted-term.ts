// A term whose bills are posted, for tests of what comes after.

import type { RequestOf } from '../../sdk/client.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import type { TestClient } from './client.ts';
import { newService, newTariff, type Service } from './pricing.ts';
import { type Crew, openCrew, runStep } from './run-steps.ts';
import type { Scene } from './scene.ts';
import { insertScenario, insertTerm } from './term-rows.ts';

export type PartyFields = RequestOf<'makeUsers'>['users'][number];

export type PostedBill = { billId: number; billNumber: string; partyId: number };

export type PostedTerm = {
  crew: Crew;
  tenantId: number;
  termId: number;
  serviceCode: string;
  bills: PostedBill[];
};

const flatFee: Partial<Service> = {
  name: 'Water',
  values: [{ name: 'fee', type: 'Number', default: '500' }],
  components: [
    { name: 'service', label: 'Service', type: 'Charge', categories: ['taxable'] },
    { name: 'gst', label: 'GST', type: 'Tax' },
  ],
  meteredInputs: [],
};

const rules = [
  { component: 'service', scope: 'Term' as const, formula: 'fee' },
  { component: 'gst', scope: 'Term' as const, formula: 'SUMCAT("taxable") * 10%' },
];

/** One bill for each party, of July 2026. */
export async function openPostedTerm(
  scene: Scene,
  client: TestClient,
  parties: readonly PartyFields[],
  service: Partial<Service> = {},
): Promise<PostedTerm> {
  const crew = await openCrew(scene, client.workspace);
  const { tenantId } = crew;
  const serviceCode = await newService(client, { ...flatFee, ...service });
  const plan = await newTariff(client, serviceCode, { componentRules: rules });
  const { headers } = await client.makeUsers({ userType: 'customer', users: [...parties] });
  const partyIds = (headers.get('x-resource-id') ?? '').split(',').map(Number);
  const term = { startDate: '01/07/2026', endDate: '31/07/2026' };
  const dates = { ...term, dueDate: '15/08/2026' };
  const label = 'Jul-2026';
  const termId = await insertTerm(scene, tenantId, { serviceCode, label, ...dates });
  for (const partyID of partyIds) {
    const connectionGroups = [{ connectionGroupLabel: 'House' }];
    await client.updateUser({ user: { partyID, connectionGroups } });
  }
  const { rows } = await scene.sql.query<{ partyId: number; accountId: number }>(
    `select party_id::integer as "partyId", account_id::integer as "accountId"
     from billing_accounts where tenant_id = $1 and party_id = any($2) order by party_id`,
    [tenantId, partyIds],
  );
  for (const owner of rows) {
    const facts = {
      term,
      connection: {
        connectionDate: '01/07/2026',
        isFirstBill: true,
        tariffHistory: [{ tariffCode: plan.code, fromDate: '01/07/2026' }],
      },
    };
    await insertScenario(scene, tenantId, termId, facts, owner);
  }
  await runStep(crew, generateBillsStep, { termId });
  await runStep(crew, postBillsStep, { termId });
  const bills = await billsOf(scene, tenantId, termId);
  return { crew, tenantId, termId, serviceCode, bills };
}

async function billsOf(scene: Scene, tenantId: number, termId: number): Promise<PostedBill[]> {
  const { rows } = await scene.sql.query(
    `select bill_id, bill_number, party_id from bills
     where tenant_id = $1 and term_id = $2 and status = 'Posted' order by bill_id`,
    [tenantId, termId],
  );
  return rows.map((row) => ({
    billId: Number(row.bill_id),
    billNumber: row.bill_number,
    partyId: Number(row.party_id),
  }));
}

/** So many parties, with an address each. */
export function mailParties(count: number, domain = 'example.com'): PartyFields[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `Customer ${index + 1}`,
    email: `c${index + 1}@${domain}`,
  }));
}

/** Puts something else in the place of what a bill says, and returns how to put that back. */
export async function spoilBill(
  scene: Scene,
  { tenantId, billId }: { tenantId: number; billId: number },
  document: string,
): Promise<() => Promise<void>> {
  const key = [tenantId, billId];
  const where = 'where tenant_id = $1 and bill_id = $2';
  const { rows } = await scene.sql.query(
    `select document::text as document from bill_contents ${where}`,
    key,
  );
  const write = async (what: string, values: readonly unknown[]) => {
    await scene.sql.query('alter table bill_contents disable trigger bill_contents_fixed');
    await scene.sql.query(`update bill_contents set document = (${what})::json ${where}`, [
      ...key,
      ...values,
    ]);
    await scene.sql.query('alter table bill_contents enable trigger bill_contents_fixed');
  };
  await write(document, []);
  return () => write('$3', [rows[0].document]);
}
