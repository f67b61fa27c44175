// Bills, documents and deliveries as rows under ids of their own, for tests that go through all
// operations: a posted term, and a published one with a bill whose delivery is uncertain.
import type { Scene } from './scene.ts';

export const seeded = {
  postedTerm: 901,
  publishedTerm: 902,
  postedBill: 990,
  publishedBill: 991,
  job: 901,
  delivery: 917,
} as const;

/** For the first party, context and batch of the workspace. */
export async function seedBills(scene: Scene, tenantId: number, mark: string): Promise<void> {
  await insertTerm(scene, tenantId, seeded.postedTerm, 'Posted', mark);
  await insertTerm(scene, tenantId, seeded.publishedTerm, 'Published', mark);
  await insertBill(scene, tenantId, seeded.postedTerm, seeded.postedBill, 'Posted', mark);
  await insertBill(scene, tenantId, seeded.publishedTerm, seeded.publishedBill, 'Published', mark);
  const { publishedTerm: termId, publishedBill: billId, job } = seeded;
  await scene.sql.query(
    `insert into jobs (tenant_id, job_id, operation, term_id, status, is_immediate, due_at,
       requested_by, created_at)
     values ($1, $2, 'distribute-bills', $3, 'Succeeded', false, now(), $4, now())`,
    [tenantId, job, termId, mark],
  );
  const setting = {
    organisation: { name: mark, country: 'PK', letterhead: {} },
    locale: 'en',
    currency: 'PKR',
    currencyDecimals: 2,
    serviceCode: 'ELEC',
    serviceLabel: mark,
    batchCode: 'DEFAULT',
    termID: termId,
    termLabel: mark,
    startDate: '01/02/2024',
    endDate: '29/02/2024',
    bankAccounts: [],
    template: { templateID: 1, version: 1 },
  };
  await scene.sql.query(
    `insert into document_settings (tenant_id, term_id, version, issue_date, setting, created_at,
       created_by)
     values ($1, $2, 1, '2024-03-01', $3, now(), $4)`,
    [tenantId, termId, JSON.stringify(setting), mark],
  );
  await scene.sql.query(
    `insert into bill_documents (tenant_id, document_id, bill_id, term_id, format,
       setting_version, template_id, template_version, edition, size, sha256, created_at)
     values ($1, 901, $2, $3, 'PDF', 1, 1, 1, 'seeded', 1, sha256('x'), now())`,
    [tenantId, billId, termId],
  );
  await scene.sql.query(
    `insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
       status, reason, attempts, message_id, created_at, created_by, modified_at)
     values ($1, $2, $3, $4, $5, 'Email', $6 || '@example.com', 'Uncertain', $6, 1,
       '<' || $6 || '@x>', now(), $6, now())`,
    [tenantId, seeded.delivery, billId, termId, job, mark],
  );
}

async function insertTerm(
  scene: Scene,
  tenantId: number,
  termId: number,
  status: string,
  mark: string,
): Promise<void> {
  await scene.sql.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, created_at, created_by,
       modified_at, modified_by, ts)
     select tenant_id, $2::bigint, context_id, batch_id, 1, 'OffCycle', $4 || ' ' || $2::bigint,
       '2024-02-01', '2024-02-29', '2024-03-15', 'Post Subscription', $3, $3, now(), $4, now(), $4,
       1
     from batches where tenant_id = $1 order by batch_id limit 1`,
    [tenantId, termId, status, mark],
  );
}

async function insertBill(
  scene: Scene,
  tenantId: number,
  termId: number,
  billId: number,
  status: string,
  mark: string,
): Promise<void> {
  const document = {
    partyNumber: 100001,
    partyName: mark,
    lines: [{ component: 'service', label: mark, type: 'Charge', amount: 50_000 }],
  };
  const facts = { term: { startDate: '01/02/2024', endDate: '29/02/2024' }, connection: {} };
  await scene.sql.query(
    `insert into bills (tenant_id, bill_id, term_id, first_run, context_id, batch_id, subject_id,
       party_id, bill_type, status, bill_number, posting, due_date, days, current_charges,
       tax_amount, rounding_adjustment, bill_amount, previous_balance, payments_received,
       adjustments, arrears, payable, credit_balance, late_surcharge, entry_id, subject_ts, hash,
       document, facts, created_at, created_by, modified_at, modified_by, ts)
     select tenant_id, $3::bigint, term_id, 1, context_id, batch_id, $3, 1, 'OffCycle', $4,
       'SEED-' || $3::bigint, 1, due_date, 29, 50000, 0, 0, 50000, 0, 0, 0, 0, 50000, 0, 0, 0, 1,
       sha256('x'), $5, $6, now(), $7, now(), $7, 1
     from terms where tenant_id = $1 and term_id = $2`,
    [tenantId, termId, billId, status, JSON.stringify(document), JSON.stringify(facts), mark],
  );
}
