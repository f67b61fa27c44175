// Bills, journals and the audit trail as CSV files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { refuses } from '../support/client.ts';
import { openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const admin = await scene.workspace('accountant');
const parties = ['Ali', 'Khan;=cmd', 'Cem'].map((name) => ({ name }));
const { tenantId, termId, bills, serviceCode } = await openPostedTerm(scene, admin, parties);

type Kind = 'Bills' | 'Journals' | 'Audit';

async function exported(kind: Kind, days: { fromDate?: string; toDate?: string } = {}) {
  const { data, headers } = await admin.exportData({ kind, ...days });
  const rows = parse(data.lines.join('\r\n'), { columns: true }) as Record<string, string>[];
  assert.equal(headers.get('x-total-count'), String(rows.length), 'rows are counted');
  assert.equal(headers.get('x-ignored-fields'), null);
  return { rows, columns: (data.lines[0] ?? '').split(',') };
}

const { rows: posted } = await scene.sql.query(
  `select distinct to_char(posting_date, 'DD/MM/YYYY') as day from journals where tenant_id = $1`,
  [tenantId],
);
const postingDate: string = posted[0].day;

test('bills go out with their dates, customers and amounts', async () => {
  const { rows } = await exported('Bills');
  assert.equal(rows.length, 3);
  const { billID, billNumber, billRefNo, termID, connectionNumber, partyNumber, ...rest } =
    rows[0] ?? {};
  assert.equal(Number(billID), bills[0]?.billId);
  assert.equal(billNumber, bills[0]?.billNumber);
  const { data } = await admin.getBills({ billID: Number(billID) } as never);
  assert.equal(billRefNo, data.bills[0]?.billRefNo);
  assert.deepEqual([Number(termID), Number(partyNumber)], [termId, data.bills[0]?.partyNumber]);
  assert.ok(connectionNumber);
  const { batchCode: _, tariffCode: __, ...facts } = rest;
  assert.deepEqual(facts, {
    billType: 'Regular',
    status: 'Posted',
    paymentStatus: 'Unpaid',
    serviceCode,
    termLabel: 'Jul-2026',
    startDate: '01/07/2026',
    endDate: '31/07/2026',
    billedFrom: '01/07/2026',
    billedTo: '31/07/2026',
    days: '31',
    postingDate,
    issueDate: '',
    dueDate: '15/08/2026',
    partyName: 'Ali',
    currency: 'PKR',
    currentCharges: '550.00',
    taxAmount: '50.00',
    roundingAdjustment: '0.00',
    billAmount: '550.00',
    arrears: '0.00',
    walletApplied: '0.00',
    payableWithinDueDate: '550.00',
    paidAmount: '0.00',
    outstandingAmount: '550.00',
    creditNoteNumber: '',
    creditNoteDate: '',
  });
  assert.equal(rows[1]?.partyName, "Khan;'=cmd");
});

test('a cancelled bill goes out with its credit note, and bills are chosen by the term', async () => {
  const bill = bills[2];
  await admin.cancelBill({ data: { billID: bill?.billId ?? 0, reason: 'Wrong', rebill: false } });
  const { rows } = await exported('Bills', { fromDate: '01/07/2026', toDate: '01/07/2026' });
  const cancelled = rows.find((row) => row.billNumber === bill?.billNumber);
  assert.deepEqual(
    [rows.length, cancelled?.status, cancelled?.outstandingAmount],
    [3, 'Cancelled', '0.00'],
  );
  const { data } = await admin.getCreditNotes();
  assert.equal(cancelled?.creditNoteNumber, data.creditNotes[0]?.reference);
  assert.match(cancelled?.creditNoteDate ?? '', /^\d\d\/\d\d\/\d{4}$/);
  assert.deepEqual((await exported('Bills', { fromDate: '02/07/2026' })).rows, []);
  assert.deepEqual((await exported('Bills', { toDate: '30/06/2026' })).rows, []);
});

test('journals go out line by line, and come to the trial balance', async () => {
  const { rows, columns } = await exported('Journals');
  assert.ok(columns.includes('postingDate') && columns.includes('valueDate'));
  const [first] = rows;
  assert.deepEqual(
    [first?.lineNo, first?.postingDate, first?.valueDate, first?.sourceType, first?.currency],
    ['1', postingDate, postingDate, 'Bills', 'PKR'],
  );
  const cents = (text = '') => Math.round(Number(text || 0) * 100);
  const { data } = await admin.getTrialBalance({ toDate: '31/12/9999' });
  for (const { accountCode, debit, credit } of data.accounts) {
    const own = rows.filter((row) => row.accountCode === accountCode);
    const sum = (side: 'debit' | 'credit') =>
      own.reduce((total, row) => total + cents(row[side]), 0);
    assert.deepEqual([sum('debit'), sum('credit')], [cents(String(debit)), cents(String(credit))]);
  }
});

test('thousands of journal lines go out whole, by day, however chunks cut them', async () => {
  await scene.enter(admin);
  // Ids run against the days, and journals have two to six lines.
  await scene.sql.query(
    `insert into journals (tenant_id, journal_id, source_type, source_id, business_unit_id,
       posting_date, description, created_at, created_by)
     select $1, 500000 + i, 'Adjustment', i, 1, date '2021-12-31' - i / 10, 'Many', now(), 'test'
     from generate_series(1, 700) i`,
    [tenantId],
  );
  await scene.sql.query(
    `insert into journal_lines
       (tenant_id, journal_id, line_number, ledger_account_id, component, amount)
     select $1, 500000 + i, n, case n % 2 when 1 then 1 else 8 end, null,
       case n % 2 when 1 then 5 else -5 end
     from generate_series(1, 700) i, generate_series(1, 6) n where n <= (i % 3 + 1) * 2`,
    [tenantId],
  );
  const { rows } = await exported('Journals', { toDate: '31/12/2021' });
  const iso = (date = '') => date.split('/').reverse().join('');
  const keys = rows.map((row) => `${iso(row.postingDate)} ${row.journalID} ${row.lineNo}`);
  const { rows: wanted } = await scene.sql.query(
    `select to_char(posting_date, 'YYYYMMDD') || ' ' || journal_id || ' ' || line_number as key
     from journals j join journal_lines l using (tenant_id, journal_id)
     where tenant_id = $1 and description = 'Many' order by posting_date, journal_id, line_number`,
    [tenantId],
  );
  assert.ok(wanted.length > 2_500);
  assert.deepEqual(
    keys,
    wanted.map((row) => row.key),
  );
  const some = await exported('Journals', { fromDate: '01/12/2021', toDate: '02/12/2021' });
  assert.deepEqual(
    [...new Set(some.rows.map((row) => row.postingDate))],
    ['01/12/2021', '02/12/2021'],
  );
});

test('the audit trail goes out with what was before and after, by days', async () => {
  const { rows } = await exported('Audit');
  const { data } = await admin.getAudit();
  assert.deepEqual(
    rows.map((row) => [row.at, row.requestID, row.actor, row.subject, row.subjectID]),
    data.entries.map((one) => [one.at, one.requestID, one.actor, one.subject, one.subjectID]),
  );
  const made = rows.find((row) => row.subject === 'party' && row.before === '');
  const entry = data.entries.find((one) => one.requestID === made?.requestID);
  assert.deepEqual(JSON.parse(made?.after ?? ''), entry?.after);
  assert.deepEqual((await exported('Audit', { toDate: '31/12/2019' })).rows, []);
  assert.equal((await exported('Audit', { fromDate: '01/01/2020' })).rows.length, rows.length);
});

test('each file needs the permission for what is in it', async () => {
  const operator = await scene.loginAs(admin, ['Billing Operator']);
  await operator.exportData({ kind: 'Bills' });
  for (const kind of ['Journals', 'Audit'] as const) {
    await refuses(operator.exportData({ kind }), 'PERMISSION_DENIED', { statusCode: 403 });
  }
  const manager = await scene.loginAs(admin, ['Billing Manager']);
  await manager.exportData({ kind: 'Journals' });
  await refuses(manager.exportData({ kind: 'Audit' }), 'PERMISSION_DENIED');
  const auditor = await scene.loginAs(admin, ['Auditor']);
  for (const kind of ['Bills', 'Journals', 'Audit'] as const) await auditor.exportData({ kind });
  const reader = await scene.loginAs(admin, ['Meter Reader']);
  await refuses(reader.exportData({ kind: 'Bills' }), 'PERMISSION_DENIED');
});

test('another workspace exports nothing of this one', async () => {
  const other = await scene.workspace('accountant-other');
  for (const kind of ['Bills', 'Journals'] as const) {
    assert.equal((await other.exportData({ kind })).data.lines.length, 1, kind);
  }
});
