import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
import { readNoticeLook } from '../../domain/delivery/notice-mail.ts';
import { findNotice } from '../../domain/delivery/notices-store.ts';
import { reminderPapers } from '../../domain/delivery/reminders.ts';
import { documentTypes } from '../bills/shown-document-fields.ts';
import { id, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';

export const getReminderDocument = operation({
  path: '/billing/dunning/get-reminder-document',
  method: 'Retrieve',
  action: 'Retrieve Reminder Document',
  access: { permission: 'collections:read' },
  summary:
    'A reminder of a dunning step as a document. Its file is kept when its mail is sent, and is ' +
    'attached to it; before, it is made on request.',
  request: Type.Object({ reminderID: id, format: Type.Optional(oneOf(['PDF', 'HTML'])) }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'REMINDER_NOT_FOUND',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
    'DOCUMENT_DIFFERS',
    'DOCUMENT_DELETED',
  ],
  example: { reminderID: 17, format: 'HTML' },
  turns: documentTurns,
  async handle({ tx, tenant }, { reminderID, format = 'PDF' }) {
    const { tenantId } = tenant;
    const contentType = documentTypes[format];
    const key = { kind: 'Reminder', subjectId: reminderID } as const;
    const kept = format === 'PDF' ? await findFurther(tx, tenantId, key) : undefined;
    if (kept) {
      const file = await readFile(tx, tenantId, kept);
      return { message: '1 found', data: { contentType, base64: file.toString('base64') } };
    }
    const notice = await findNotice(tx, tenantId, reminderID);
    const notices = notice ? [notice] : [];
    const look = await readNoticeLook(tx, tenantId, notices);
    const paper = (await reminderPapers(tx, tenantId, { notices, look })).get(reminderID);
    if (!paper) throw new AppError('REMINDER_NOT_FOUND', { field: 'reminderID' });
    const { base64 } = await documentThreads().print({ format, paper });
    return { message: '1 found', data: { contentType, base64 } };
  },
});
