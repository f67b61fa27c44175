// Which module writes which table. Where several do, each has a group of columns or of rows.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { openScene } from './support/scene.ts';
import { root } from './support/source.ts';

/** One module, or several with what is theirs of the table. No module: triggers write it. */
type Writers = string | null | Record<string, string>;

const writers: Record<string, Writers> = {
  adjustments: 'domain/receivables',
  approvals: 'domain/receivables',
  arrangements: 'domain/collections',
  assignment_registers: 'domain/meters',
  audit_entries: 'domain/audit',
  bank_accounts: 'domain/pricing',
  bank_files: 'domain/bank-files',
  bank_lines: 'domain/bank-files',
  bank_mappings: 'domain/bank-files',
  bank_payers: 'domain/bank-files',
  batches: 'domain/pricing',
  bill_contents: {
    'domain/bills/generate': 'contents of drafts',
    'domain/terms': 'drafts that a changed input removes',
  },
  bill_documents: 'domain/delivery',
  bill_numbers: 'domain/bills/posting',
  bill_parts: {
    'domain/bills/generate': 'parts of drafts',
    'domain/terms': 'drafts that a changed input removes',
  },
  bill_runs: 'domain/bills/generate',
  billing_accounts: 'domain/parties',
  billing_groups: 'domain/billing-groups',
  billing_periods: 'domain/tenants',
  bills: {
    'domain/bills': 'is_held, hold_reason and the status that follows from them',
    'domain/bills/generate': 'drafts: all columns',
    'domain/bills/late': 'overdue_on, surcharged_on',
    'domain/bills/posting': 'posted bills: status, number, payment and wallet',
    'domain/delivery': 'issue_date, and status Published',
    'domain/terms': 'due_date; drafts that a changed input removes',
  },
  cash_desk_days: 'domain/receivables',
  cash_desks: 'domain/receivables',
  cheques: 'domain/receivables',
  chunk_attempts: 'jobs',
  clients: 'domain/access',
  counters: {
    'domain/tenants': 'numbers that are given out',
    'base/db/backup': 'a gap in the numbers of events after a restore',
  },
  credit_note_lines: 'domain/bills',
  credit_notes: 'domain/bills',
  dispute_resolutions: 'domain/receivables',
  disputes: 'domain/receivables',
  daily_runs: 'domain/tenants',
  deliveries: {
    'domain/delivery': 'deliveries and their outcomes',
    'base/db/backup': 'mails that waited in a restored backup: Uncertain',
  },
  document_contents: 'domain/delivery',
  document_parts: 'domain/delivery',
  document_queue: 'domain/delivery',
  document_settings: 'domain/delivery',
  dunning_actions: 'domain/collections',
  dunning_episodes: 'domain/collections',
  dunning_holds: 'domain/collections',
  ended_workspaces: 'domain/tenants',
  events: {
    'domain/events': 'what happened, and its end after 30 days',
    'base/db/backup': 'written_in of restored events',
  },
  further_documents: 'domain/delivery',
  gateways: 'domain/bank-files',
  idempotency_keys: {
    http: 'keys of calls',
    'domain/access': 'expired keys, which the daily job deletes',
  },
  imports: 'domain/imports',
  instalments: 'domain/collections',
  job_chunks: 'jobs',
  jobs: 'jobs',
  journal_lines: { 'domain/ledger': 'new journals', 'domain/bills/posting': 'reversals' },
  journals: { 'domain/ledger': 'new journals', 'domain/bills/posting': 'reversals' },
  ledger_accounts: 'domain/ledger',
  ledger_day_totals: null,
  open_changes: null,
  open_parties: null,
  open_party_counts: null,
  open_totals: null,
  ledger_months: 'domain/ledger',
  login_failures: 'domain/access',
  login_factors: 'domain/access',
  login_links: 'domain/access',
  login_names: 'domain/access',
  logins: 'domain/access',
  manual_values: {
    'domain/terms': 'values that were given',
    'domain/bills/posting': 'copies for the term that bills a cancelled bill again',
  },
  meter_assignments: 'domain/meters',
  meter_registers: {
    'domain/meters': 'types that a workspace makes',
    'domain/tenants': 'types that a workspace begins with',
  },
  meter_types: {
    'domain/meters': 'types that a workspace makes',
    'domain/tenants': 'types that a workspace begins with',
  },
  meters: 'domain/meters',
  notices: {
    'domain/delivery': 'notices and their outcomes',
    'base/db/backup': 'those that waited in a restored backup: Uncertain',
  },
  number_series: 'domain/tenants',
  operation_counts: 'domain/monitoring',
  open_items: 'domain/ledger',
  opening_items: 'domain/receivables',
  party_notes: 'domain/parties',
  payment_reversals: 'domain/receivables',
  payments: 'domain/receivables',
  party_wallets: 'domain/ledger',
  parties: { 'domain/parties': 'all other columns', 'domain/access': 'portal_status' },
  plan_subscriptions: null,
  plan_versions: 'domain/pricing',
  plans: 'domain/pricing',
  prepaid_balances: 'domain/collections',
  pricing_context_versions: 'domain/pricing',
  pricing_contexts: 'domain/pricing',
  print_files: 'domain/delivery',
  receipts: 'domain/receivables',
  readings: {
    'domain/readings': 'all other columns',
    'domain/terms': 'status of estimates that a term no longer needs',
  },
  row_blocks: null,
  schema_migrations: 'base/db',
  seal_queue: 'domain/audit',
  seals: 'domain/audit',
  sessions: 'domain/access',
  subledger_entries: {
    'domain/ledger': 'entries of journals',
    'domain/bills/posting': 'entries of bills, wallets and reversals',
  },
  subscription_balances: null,
  subscription_counts: null,
  subscription_unique_inputs: {
    'domain/subscriptions': 'inputs of one subscription',
    'domain/pricing': 'inputs of all subscriptions, when a context makes one unique or ends that',
  },
  subscriptions: {
    'domain/subscriptions': 'all other columns',
    'domain/bills/posting':
      'billed_through, and the end of a subscription that a final bill brings',
    'domain/meters': 'is_metered',
  },
  superseded_bills: {
    'domain/bills/generate': 'drafts that a run replaces',
    'domain/terms': 'drafts that a changed input removes',
  },
  template_versions: 'domain/tenants',
  templates: 'domain/tenants',
  tenants: {
    'domain/tenants': 'settings',
    'base/db/backup': 'status and access_epoch of a restored or imported workspace',
  },
  term_readings: {
    'domain/terms': 'readings that a term takes and returns',
    'domain/bills/inputs': 'readings of subscriptions that another term bills',
  },
  term_subscriptions: 'domain/terms',
  term_usage: {
    'domain/terms': 'usage that was uploaded',
    'domain/bills/posting': 'copies for the term that bills a cancelled bill again',
  },
  terms: {
    'domain/terms': 'all other columns',
    'domain/bills/posting': 'is_stale',
    'domain/delivery': 'issue_date',
  },
  tokens: 'domain/access',
  upload_parts: 'domain/imports',
  usage_histories: 'domain/bills/posting',
  webhook_attempts: 'domain/events',
  webhook_messages: 'domain/events',
  webhooks: {
    'domain/events': 'webhooks, and how far each has read',
    'base/db/backup': 'where restored webhooks go on, and with which sequence',
  },
  workers: 'domain/monitoring',
  workspace_webhooks: null,
  workspace_jobs: 'jobs',
  workspaces: {
    'domain/tenants': 'a new workspace',
    'base/db/backup': 'an imported workspace',
  },
};

/** The demo makes a workspace with a past, faster than calls could. */
const outside = 'commands/demo';

const writing = /\b(?:insert into|update|delete from|truncate|copy) ([a-z_]+)\b/g;
const tables = await tableNames();

async function tableNames(): Promise<string[]> {
  const { sql } = await openScene();
  const { rows } = await sql.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  );
  return rows.map((row) => row.name);
}

/** The modules that write each table, by the statements in their files. */
function foundWriters(): Map<string, Set<string>> {
  const found = new Map(tables.map((table) => [table, new Set<string>()]));
  for (const file of globSync('src/**/*.ts', { cwd: root })) {
    const module = dirname(relative('src', file));
    if (module === outside) continue;
    for (const [, table] of readFileSync(join(root, file), 'utf8').matchAll(writing)) {
      found.get(table ?? '')?.add(module);
    }
  }
  return found;
}

function modulesOf(named: Writers | undefined): string[] {
  if (named === null || named === undefined) return [];
  return typeof named === 'string' ? [named] : Object.keys(named);
}

test('every table is written by the modules that are named for it, and by no other', () => {
  const found = Object.fromEntries(
    [...foundWriters()].map(([table, modules]) => [table, [...modules].sort()]),
  );
  const named = Object.fromEntries(
    Object.entries(writers).map(([table, one]) => [table, modulesOf(one).sort()]),
  );
  // Rows of contents and bills are copied by a statement that names its table by a variable.
  for (const copied of ['bill_contents', 'bills'])
    found[copied] = [...new Set([...(found[copied] ?? []), 'domain/bills/generate'])].sort();
  assert.deepEqual(found, named);
});

const bookStore = 'domain/ledger/store.ts';
const postStore = 'domain/bills/posting/post-drafts-store.ts';
const unpostStore = 'domain/bills/posting/unpost-store.ts';

/** Files with statements that write the ledger: the store of `book`, posting and its reversal. */
const ledgerFiles: Record<string, readonly string[]> = {
  journals: [unpostStore, bookStore],
  journal_lines: [unpostStore, bookStore],
  subledger_entries: [postStore, unpostStore, bookStore],
  open_items: [bookStore],
};

/** What these files offer to others, and the only files that use it. */
const ledgerUsers: Record<string, readonly string[]> = {
  insertBookings: ['domain/ledger/book.ts'],
  insertHead: ['billrun/post-chunk.ts'],
  insertLines: ['billrun/post-chunk.ts'],
};

function sourceFiles(): { file: string; text: string }[] {
  return globSync('src/**/*.ts', { cwd: root }).map((file) => {
    return { file: relative('src', file), text: readFileSync(join(root, file), 'utf8') };
  });
}

test('only book and posting write journals, their lines, entries and open items', () => {
  for (const [table, files] of Object.entries(ledgerFiles)) {
    const written = new RegExp(`(?:insert into|update|delete from|truncate|copy) ${table}\\b`);
    const found = sourceFiles().filter(({ text }) => written.test(text));
    assert.deepEqual(found.map(({ file }) => file).sort(), files, table);
  }
});

const importing = /import (?:type )?\{([^}]*)\} from '([^']+)'/g;

/** Files that import a name from the store of the ledger. */
function usersOf(name: string): string[] {
  const isUser = ({ file, text }: { file: string; text: string }) =>
    [...text.matchAll(importing)].some(
      ([, names = '', path = '']) =>
        join(dirname(file), path) === bookStore && names.split(/[\s,]+/).includes(name),
    );
  return sourceFiles()
    .filter(isUser)
    .map(({ file }) => file)
    .sort();
}

test('the store of the ledger is called by book and by posting alone', () => {
  for (const [name, files] of Object.entries(ledgerUsers)) {
    assert.deepEqual(usersOf(name), files, name);
  }
});
