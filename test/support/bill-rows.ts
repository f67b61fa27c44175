// Bills, documents and deliveries under ids of their own, for tests that go through all operations:
// a term whose draft was made twice by the bill run itself, and copies of it as rows: a posted
// term, a published one with a bill whose mail is uncertain and that was printed, and one whose
// bill was credited.
import { generateBillsStep } from '../../src/billrun/generate.ts';
import type { TestClient } from './client.ts';
import { copyBills } from './copied-bills.ts';
import { smallService, smallTariff } from './pricing.ts';
import { type Crew, runStep, whileCrew } from './run-steps.ts';
import type { Scene } from './scene.ts';
import { inTenant } from './spread-client.ts';
import { bookSurcharge } from './surcharges.ts';

export const seeded = {
  generatedTerm: 900,
  postedTerm: 901,
  publishedTerm: 902,
  creditedTerm: 903,
  postedBill: 990,
  publishedBill: 991,
  creditedBill: 992,
  job: 901,
  failedJob: 902,
  waitingJob: 903,
  arrangement: 901,
  delivery: 917,
} as const;

/** For the first party, context and batch of the workspace. */
export async function seedBills(scene: Scene, client: TestClient, mark: string): Promise<void> {
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [client.workspace]);
  const tenantId = Number(rows[0].id);
  await seedPayments(client, mark);
  await whileCrew(scene, client.workspace, (crew) => seedDraft(crew, client, mark));
  await seedBankFile(client, mark);
  const fee = {
    connectionNumber: 'RUN-1',
    component: 'service',
    kind: 'Debit',
    amount: 1,
  } as const;
  const demanded = { amount: 5, reference: `${mark} deposit`, reason: mark };
  await client.demandDeposit({ data: { connectionNumber: 'RUN-1', ...demanded } });
  const paid = { connectionNumber: 'RUN-1', amount: 5, paymentMethod: 'Cash' } as const;
  await client.makePayments({ payments: [{ ...paid, reference: `${mark} deposit paid` }] });
  await client.makeAdjustments({
    adjustments: [{ ...fee, reference: `${mark} fee`, reason: mark }],
  });
  await inTenant(scene.sql, tenantId, async () => {
    await seedRows(scene, tenantId, mark);
    await bookSurcharge(scene, tenantId, seeded.publishedBill, 100);
  });
}

/** Before anything is owed, so that all of it is in the wallet. */
async function seedPayments(client: TestClient, mark: string): Promise<void> {
  const paid = { partyNumber: 100001, paymentMethod: 'Cash', remark: mark } as const;
  await client.makePayments({
    payments: [
      { ...paid, reference: `${mark} 1`, amount: 10 },
      { ...paid, reference: `${mark} 2`, amount: 1_000 },
    ],
  });
  const long = { ...paid, reference: `${mark} 3`, amount: 1, paymentDate: '15/07/2025' };
  await client.makePayments({ payments: [long] });
  const cheque = { ...paid, paymentMethod: 'Cheque', reference: `${mark} 4`, amount: 1 } as const;
  await client.makePayments({ payments: [cheque] });
  await client.closeMonth({ data: { month: '07/2025', reason: mark } });
  await client.makeCashDesks({ cashDesks: [{ code: 'MAIN', name: mark, cashAccountID: 1 }] });
  // A name that no machine has: nothing is ever sent there.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  await client.makeWebhooks({
    webhooks: [{ url: 'https://hooks.invalid/', secret, description: mark }],
  });
}

/** Money of an unknown payer: line 1. */
async function seedBankFile(client: TestClient, mark: string): Promise<void> {
  const columns = { date: '1', amount: '2', text: '3', dateFormat: 'DD/MM/YYYY', decimal: '.' };
  await client.makeMappings({
    mappings: [mark, 'Seeded'].map((name) => ({ name, columns }) as never),
  });
  const contentBase64 = Buffer.from(`01/02/2024,5,${mark}\n`).toString('base64');
  const file = { bankAccountID: 1, format: 'CSV', mappingName: 'Seeded' } as const;
  await client.importBankFile({ ...file, contentBase64, fileName: mark });
}

/** A bill that is 500 in the first run and 600 in the second, by formulas that can be told. */
async function seedDraft(crew: Crew, client: TestClient, mark: string): Promise<void> {
  await client.createService({
    service: {
      ...smallService,
      code: 'RUN',
      bankAccounts: [{ title: mark }],
      name: mark,
      values: [{ name: 'fee', type: 'Number' }],
      components: [{ name: 'service', label: mark, type: 'Charge' }],
      meteredInputs: [],
    },
  });
  const formula = `fee + IF("${mark}" = "", 1, 0)`;
  const fee = { name: 'fee', fromDate: '01/01/2020', toDate: null, rows: null };
  const tariff = {
    ...smallTariff,
    serviceCode: 'RUN',
    code: 'RUN-A',
    uniqueLabel: 'Run',
    componentRules: [{ component: 'service', scope: 'Term' as const, formula }],
  };
  await client.createTariff({ tariff: { ...tariff, valueFormulas: [{ ...fee, formula: '500' }] } });
  await client.makeConnections({
    batchUpload: true,
    connection: {
      serviceCode: 'RUN',
      tariffCode: 'RUN-A',
      postType: 'Post Subscription',
      connectionNumber: 'RUN-1',
      connectionDate: '01012024',
      users: [{ partyNumber: 100001 }],
    },
  });
  const { scene, tenantId } = crew;
  const { generatedTerm: termId } = seeded;
  await insertTerm(scene, tenantId, termId, { status: 'Open', stage: 'Created', mark });
  await runStep(crew, generateBillsStep, { termId });
  const valueFormulas = [{ ...fee, formula: `IF("${mark}" = "", 1, 600)` }];
  await client.updateTariff({
    tariff: { serviceCode: 'RUN', code: 'RUN-A', valueFormulas, effectiveDate: '01/01/2020' },
  });
  await runStep(crew, generateBillsStep, { termId });
}

async function seedRows(scene: Scene, tenantId: number, mark: string): Promise<void> {
  const { postedTerm, publishedTerm: termId } = seeded;
  await insertTerm(scene, tenantId, postedTerm, { status: 'Posted', stage: 'Posted', mark });
  const published = { status: 'Published', stage: 'Published', mark };
  await insertTerm(scene, tenantId, termId, published);
  await insertTerm(scene, tenantId, seeded.creditedTerm, published);
  await copyDraft(scene, tenantId, postedTerm, seeded.postedBill, 'Posted');
  await copyDraft(scene, tenantId, termId, seeded.publishedBill, 'Published');
  await copyDraft(scene, tenantId, seeded.creditedTerm, seeded.creditedBill, 'Published');
  await scene.sql.query(
    `insert into credit_notes (tenant_id, credit_note_id, credit_note_number, bill_id, party_id,
       amount, to_wallet, issue_date, reason, reference, created_at, created_by)
     values ($1, 901, 'CN-901', $2, 1, 60000, 0, '2024-03-20', $3, $3, now(), $3)`,
    [tenantId, seeded.creditedBill, mark],
  );
  await scene.sql.query(
    `insert into credit_note_lines (tenant_id, credit_note_id, line_number, bill_id,
       subscription_id, component, amount)
     values ($1, 901, 1, $2, 1, $3, 60000)`,
    [tenantId, seeded.creditedBill, mark],
  );
  await scene.sql.query(
    `insert into events (tenant_id, event_id, type, data, at)
     values ($1, 900001, 'bill.posted', $2, now())`,
    [tenantId, JSON.stringify({ note: mark })],
  );
  const refund = { partyID: 1, amount: 1, reference: mark, paymentMethod: 'Cash' };
  await scene.sql.query(
    `insert into approvals (tenant_id, approval_id, kind, reference, amount, request, requested_at,
       requested_by)
     values ($1, 1, 'Refund', $2, 100, $3, now(), 'a clerk')`,
    [tenantId, mark, JSON.stringify(refund)],
  );
  await scene.sql.query(
    `insert into disputes (tenant_id, dispute_id, bill_id, party_id, amount, parts, reason,
       raised_on, journal_id, created_at, created_by)
     values ($1, 901, $2, 1, 100, '[]', $3, '2024-03-20', 1, now(), $3)`,
    [tenantId, seeded.creditedBill, mark],
  );
  const error = { code: 'INTERNAL_ERROR', message: mark, field: null, details: [] };
  await scene.sql.query(
    `insert into jobs (tenant_id, job_id, operation, term_id, status, is_immediate, due_at,
       requested_by, created_at, error)
     values ($1, $2, 'distribute-bills', $5, 'Succeeded', false, now(), $6, now(), null),
       ($1, $3, 'distribute-bills', $5, 'Failed', false, now(), $6, now(), $7),
       ($1, $4, 'distribute-bills', $5, 'Scheduled', false, now() + interval '9 days', $6, now(),
        null)`,
    [
      tenantId,
      seeded.job,
      seeded.failedJob,
      seeded.waitingJob,
      termId,
      mark,
      JSON.stringify(error),
    ],
  );
  await seedDelivered(scene, tenantId, mark);
  await seedDunning(scene, tenantId, mark);
}

/** A subscription that is reminded of a debt, with a promise to pay. */
async function seedDunning(scene: Scene, tenantId: number, mark: string): Promise<void> {
  await scene.sql.query(
    `insert into dunning_episodes (tenant_id, episode_id, subscription_id, party_id, context_id,
       steps_done, last_action, last_step_on, started_on, amount, oldest_due_on)
     select tenant_id, 901, subscription_id, party_id, context_id, 1, 'Remind', '2024-03-20',
       '2024-03-20', 60000, '2024-03-15'
     from subscriptions where tenant_id = $1 and subscription_number = 'RUN-1'`,
    [tenantId],
  );
  await scene.sql.query(
    `insert into dunning_actions (tenant_id, episode_id, step_number, action, done_on, amount,
       problem)
     values ($1, 901, 1, 'Remind', '2024-03-20', 60000, $2)`,
    [tenantId, mark],
  );
  const item = { billId: null, kind: 'Bill', dueDate: '2024-03-15', amount: 60_000 };
  const facts = {
    partyNumber: 100_001,
    connectionNumber: 'RUN-1',
    dueDate: '15/03/2024',
    outstandingAmount: 600,
    creditBalance: 0,
    reminder: { date: '2024-03-20', items: [item] },
  };
  await scene.sql.query(
    `insert into notices (tenant_id, notice_id, kind, party_id, subscription_id, recipient,
       subject, body, context_id, facts, status, created_at, modified_at)
     select tenant_id, 901, 'Reminder', party_id, subscription_id, 'a@b.example', $2, $2,
       context_id, $3, 'Sent', now(), now()
     from subscriptions where tenant_id = $1 and subscription_number = 'RUN-1'`,
    [tenantId, mark, JSON.stringify(facts)],
  );
  await scene.sql.query(
    `insert into arrangements (tenant_id, arrangement_id, kind, party_id, amount, until_date,
       reason, created_at, created_by, modified_at, modified_by)
     values ($1, $2, 'Promise', 1, 60000, '2099-12-31', $3, now(), $3, now(), $3)`,
    [tenantId, seeded.arrangement, mark],
  );
}

/** The document of the published bill, and how it was sent. */
async function seedDelivered(scene: Scene, tenantId: number, mark: string): Promise<void> {
  const { publishedTerm: termId, publishedBill: billId } = seeded;
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
       setting_version, template_id, template_version, size, sha256, created_at)
     values ($1, 901, $2, $3, 'PDF', 1, 1, 1, length($4), sha256($4::bytea), now())`,
    [tenantId, billId, termId, Buffer.from(onePage(mark))],
  );
  await scene.sql.query(
    `insert into document_contents (tenant_id, document_id, own, part_offsets, part_hashes)
     values ($1, 901, $2, '{}', '{}')`,
    [tenantId, Buffer.from(onePage(mark))],
  );
  await scene.sql.query(
    `insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
       status, reason, attempts, message_id, created_at, created_by, modified_at)
     values ($1, $2, $3, $4, $5, 'Email', $6 || '@example.com', 'Uncertain', $6, 1,
       '<' || $6 || '@x>', now(), $6, now())`,
    [tenantId, seeded.delivery, billId, termId, seeded.job, mark],
  );
  await scene.sql.query(
    `insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, status,
       reason, attempts, message_id, created_at, created_by, modified_at)
     values ($1, 918, $2, $3, $4, 'Print', 'Sent', $5, 1, '<' || $5 || '@y>', now(), $5, now())`,
    [tenantId, billId, termId, seeded.job, mark],
  );
  await scene.sql.query(
    `insert into print_files (tenant_id, job_id, part, term_id, name, first_delivery_id,
       last_delivery_id, bills, size, sha256, created_at, created_by)
     values ($1, $2, 1, $3, $4, 918, 918, 1, 1, sha256('x'), now(), $4)`,
    [tenantId, seeded.job, termId, mark],
  );
}

async function insertTerm(
  scene: Scene,
  tenantId: number,
  termId: number,
  { status, stage, mark }: { status: string; stage: string; mark: string },
): Promise<void> {
  await scene.sql.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, created_at, created_by,
       modified_at, modified_by, ts)
     select b.tenant_id, $2::bigint, b.context_id, b.batch_id, 1,
       case when $3 = 'Open' then 'Regular' else 'OffCycle' end, $5 || ' ' || $2::bigint,
       '2024-02-01', '2024-02-29', '2024-03-15', 'Post Subscription', $3, $4, now(), $5, now(), $5,
       1
     from batches b
     join pricing_contexts c on c.tenant_id = b.tenant_id and c.context_id = b.context_id
     where b.tenant_id = $1 and c.code = 'RUN'`,
    [tenantId, termId, status, stage, mark],
  );
}

/** The draft and its runs once more, in another term and of no subscription. */
async function copyDraft(
  scene: Scene,
  tenantId: number,
  termId: number,
  billId: number,
  status: string,
): Promise<void> {
  await scene.sql.query(
    `insert into bill_runs
     select (jsonb_populate_record(r, jsonb_build_object('term_id', $2::bigint))).*
     from bill_runs r where r.tenant_id = $1 and r.term_id = $3`,
    [tenantId, termId, seeded.generatedTerm],
  );
  const changed = {
    bill_id: billId,
    term_id: termId,
    unit_id: billId,
    subscription_id: null,
    bill_type: 'OffCycle',
    status,
    bill_number: `SEED-${billId}`,
    posting: 1,
  };
  await copyBills(
    scene,
    { changed: '$2::jsonb', from: 'bills b where b.tenant_id = $1 and b.term_id = $3' },
    [tenantId, JSON.stringify(changed), seeded.generatedTerm],
  );
  await scene.sql.query(
    `insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days, unit_ts)
     select b.tenant_id, b.bill_id, s.subscription_id, b.bill_amount, b.arrears, b.days, s.ts
     from bills b
     join subscriptions s on s.tenant_id = $1 and s.subscription_number = 'RUN-1'
     where b.tenant_id = $1 and b.bill_id = $2`,
    [tenantId, billId],
  );
  await scene.sql.query(
    `insert into bill_contents (tenant_id, bill_id, document, frozen)
     select k.tenant_id, $2, k.document, k.frozen
     from bills b join bill_contents k using (tenant_id, bill_id)
     where b.tenant_id = $1 and b.term_id = $3`,
    [tenantId, billId, seeded.generatedTerm],
  );
}

/** The smallest file that a print file can be made of. */
function onePage(mark: string): string {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Parent 2 0 R /Type /Page /MediaBox [0 0 99 99] /Mark (${mark}) >>`,
  ];
  let text = '%PDF-1.7\n';
  const entries = objects.map((object, index) => {
    const entry = `${String(text.length).padStart(10, '0')} 00000 n \n`;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return entry;
  });
  const table = `xref\n0 4\n0000000000 65535 f \n${entries.join('')}`;
  return `${text}${table}trailer\n<< /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
}
