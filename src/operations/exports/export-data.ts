import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import type { Permission } from '../../domain/access/roles.ts';
import {
  countRows,
  type ExportKind,
  exportKinds,
  exportLines,
  isDated,
} from '../../domain/exports/export-lines.ts';
import { date, maybe, oneOf } from '../fields.ts';
import { daysOf } from '../ledger/ledger-fields.ts';
import { operation } from '../operation.ts';
import {
  requireStatementKey,
  statementErrors,
  statementNames,
  statementOf,
} from '../statements/statement-fields.ts';
import { lineAnswer, linesShown } from './line-fields.ts';

const permissions: Record<ExportKind, Permission> = {
  Parties: 'parties:read',
  Meters: 'meters:read',
  Subscriptions: 'subscriptions:read',
  Readings: 'readings:read',
  Bills: 'bills:read',
  Journals: 'ledger:read',
  Audit: 'audit:read',
  Statement: 'payments:read',
  Aging: 'ledger:read',
  Collection: 'ledger:read',
  Revenue: 'ledger:read',
  TaxSummary: 'ledger:read',
  Consumption: 'ledger:read',
  UnreadMeters: 'ledger:read',
  BillRegister: 'ledger:read',
};

export const exportData = operation({
  path: '/billing/exports/export-data',
  method: 'Retrieve',
  action: 'Export Data',
  access: { permission: 'meters:read' },
  summary: 'Shows parties, bills, journals, reports and more as lines of a CSV file.',
  request: Type.Object({
    kind: oneOf(exportKinds),
    fromDate: maybe(date),
    toDate: maybe(date),
    ...statementOf,
  }),
  response: linesShown,
  errors: statementErrors,
  example: { kind: 'Meters' },
  async handle(call, body) {
    if (!call.principal.permissions.has(permissions[body.kind])) {
      throw new AppError('PERMISSION_DENIED', { message: `The login may not read ${body.kind}` });
    }
    const isStatement = body.kind === 'Statement';
    const unused = [
      ...(isDated(body.kind) ? [] : (['fromDate', 'toDate'] as const)),
      ...(isStatement ? [] : statementNames),
    ];
    call.ignore(unused.filter((name) => body[name] != null));
    const statement = isStatement ? await requireStatementKey(call, body) : undefined;
    const today = dateIn(call.now, call.tenant.timezone);
    const wanted = { kind: body.kind, days: daysOf(body), today, statement };
    const total = await countRows(call.tx, call.tenant, wanted);
    return lineAnswer(exportLines(call.read, call.tenant, wanted), total);
  },
});
