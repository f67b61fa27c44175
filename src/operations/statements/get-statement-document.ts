import * as Type from 'typebox';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { statementPaper } from '../../domain/delivery/statements.ts';
import { documentTypes } from '../bills/shown-document-fields.ts';
import { date, maybe, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  requireStatementKey,
  statementDays,
  statementErrors,
  statementOf,
} from './statement-fields.ts';

export const getStatementDocument = operation({
  path: '/billing/statements/get-statement-document',
  method: 'Retrieve',
  action: 'Retrieve Statement Document',
  access: { permission: 'payments:read', own: 'own-payments:read' },
  summary:
    'The statement of account of a party, an account of it or a subscription as a document: each ' +
    'entry with the balance after it, and the aging. It is made on request and not kept.',
  request: Type.Object({
    ...statementOf,
    fromDate: maybe(date),
    toDate: maybe(date),
    format: Type.Optional(oneOf(['PDF', 'HTML'])),
  }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [...statementErrors, 'DOCUMENT_TOO_LONG', 'DOCUMENT_TOO_SLOW', 'DOCUMENT_FAILED'],
  example: { partyNumber: 100001, format: 'HTML' },
  turns: documentTurns,
  async handle(call, body) {
    const { tx, tenant, now } = call;
    const { format = 'PDF' } = body;
    const key = await requireStatementKey(call, body);
    const { from, to } = statementDays(call, body);
    const account = body.connectionGroupLabel?.trim() || null;
    const connectionNumber = body.connectionNumber || null;
    const wanted = { key, from, to, account, connectionNumber };
    const paper = await statementPaper(tx, tenant.tenantId, wanted, now);
    const { base64 } = await documentThreads().print({ format, paper });
    return { message: '1 found', data: { contentType: documentTypes[format], base64 } };
  },
});
