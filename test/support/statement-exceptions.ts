// Statements that break a rule for SQL, each with its reason. The list only gets shorter.
import type { SqlRule } from './statement-rules.ts';

export type StatementException = {
  rule: SqlRule;
  /** A part of the statement's text, its white space reduced to single spaces. */
  statement: string;
  reason: string;
};

const searches = [
  'search_parties(',
  'scan_parties(',
  'find_parties_by_email(',
  'find_parties_by_contact(',
  'search_meters(',
  'scan_meters(',
  'search_subscriptions(',
  'scan_subscriptions(',
];

export const statementExceptions: readonly StatementException[] = [
  ...searches.map((statement) => ({
    rule: 'reading function' as const,
    statement,
    reason: 'a search of its own would send up to a million ids to the server and back',
  })),
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
