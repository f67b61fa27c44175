// Statements that break a rule for SQL, each with its reason. The list only gets shorter.
import type { SqlRule } from './statement-rules.ts';

export type StatementException = {
  rule: SqlRule;
  /** A part of the statement's text, its white space reduced to single spaces. */
  statement: string;
  reason: string;
};

export const statementExceptions: readonly StatementException[] = [
  ...[
    'select * from enter_call(',
    'select enter_tenant(',
    "set_config('transaction_read_only', 'on', true), * from enter_call(",
    "set_config('transaction_read_only', 'on', true), enter_tenant(",
    'call add_default_templates(',
    'call add_chart_of_accounts(',
  ].map((statement) => ({
    rule: 'reading function' as const,
    statement,
    reason: 'before it, the transaction has no workspace',
  })),
  ...[
    'from watch_operations()',
    'from workspaces_with_documents_to_make()',
    'from unsealed_workspaces()',
    'from webhooks_with_work(',
  ].map((statement) => ({
    rule: 'reading function' as const,
    statement,
    reason: 'of all workspaces, one after the other',
  })),
  {
    rule: 'reading function',
    statement: 'select end_lost_attempts(',
    reason: 'what it ends are connections to the machine that the program is connected to',
  },
  {
    rule: 'reading function',
    statement: 'select delete_ended_rows(',
    reason: 'it deletes from the registry too, which is on every machine',
  },
  {
    rule: 'writing CTE',
    statement: 'locked as ( insert into term_readings as l (',
    reason: 'apart, the open registers of the chunk would be found twice',
  },
  {
    rule: 'own tenant',
    statement: 'select tenant_id from workspace_jobs where next_job_at <=',
    reason: 'asks in which workspaces there is work',
  },
  {
    rule: 'own tenant',
    statement: 'select tenant_id from workspace_jobs where next_job_at is not null union',
    reason: 'asks which workspaces are to be counted',
  },
];
