// A term on the wire.
import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import type { TermRow } from '../../domain/terms/store.ts';
import { termStages, termStatuses, termTypes } from '../../domain/terms/term.ts';
import { nullable, timestamp, ts } from '../fields.ts';

const dateText = Type.String({ description: 'DD/MM/YYYY' });

export const termView = {
  termID: Type.Integer(),
  label: Type.String(),
  startDate: dateText,
  endDate: dateText,
  dueDate: dateText,
  issueDate: nullable(dateText),
  status: Type.String({ description: termStatuses.join(', ') }),
  stage: Type.String({ description: termStages.join(', ') }),
  stale: Type.Boolean({ description: 'something changed since bills were last generated' }),
  serviceCode: Type.String(),
  batchCode: Type.String(),
  batchID: Type.Integer(),
  billingPeriodID: Type.Integer(),
  type: Type.String({ description: termTypes.join(', ') }),
  postType: Type.String(),
  cancelReason: nullable(Type.String()),
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
  ts,
};

export function presentTerm(row: TermRow, tenant: Pick<Tenant, 'timezone'>) {
  return {
    termID: row.term_id,
    label: row.label,
    startDate: wireDay(row.start_date),
    endDate: wireDay(row.end_date),
    dueDate: wireDay(row.due_date),
    issueDate: row.issue_date === null ? null : wireDay(row.issue_date),
    status: row.status,
    stage: row.stage,
    stale: row.is_stale,
    serviceCode: row.context_code,
    batchCode: row.batch_code,
    batchID: row.batch_id,
    billingPeriodID: row.billing_period_id,
    type: row.term_type,
    postType: row.post_type,
    cancelReason: row.cancel_reason,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}

/** A message with a warning of days next to a term that no term bills. */
export function withGaps(message: string, gaps: readonly string[]): string {
  if (gaps.length === 0) return message;
  return (
    `${message.replace(/\.$/, '')}. Warning TERM_GAP: ${gaps.join('; ')}. ` +
    'The next term bills days that were left out, unless they get a term of their own first.'
  );
}
