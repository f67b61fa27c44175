import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import { type CreditNoteRow, listCreditNotes } from '../../domain/bills/credit-notes-store.ts';
import type { RenderSetting } from '../../domain/delivery/document-setting.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { findBillToShow, listDocumentsOf } from '../../domain/delivery/documents-store.ts';
import { previewSetting, settingsByVersion } from '../../domain/delivery/freeze-setting.ts';
import type { CreditNoteDocument } from '../../domain/documents/bill-document.ts';
import { getTerm } from '../../domain/terms/store.ts';
import { id, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

const contentTypes = { PDF: 'application/pdf', HTML: 'text/html; charset=utf-8' };

export const getCreditNoteDocument = operation({
  path: '/billing/credit-notes/get-credit-note-document',
  method: 'Retrieve',
  action: 'Retrieve Credit Note Document',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'The document of a credit note, in the layout and language of its bill.',
  request: Type.Object({ creditNoteID: id, format: Type.Optional(oneOf(['PDF', 'HTML'])) }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'CREDIT_NOTE_NOT_FOUND',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
  ],
  example: { creditNoteID: 17, format: 'HTML' },
  turns: documentTurns,
  async handle(call, { creditNoteID: creditNoteId, format = 'PDF' }) {
    const { tx, tenant } = call;
    const { ownPartyId: partyId } = call;
    const filter = { ...anyCreditNote, creditNoteId, partyId, isPublished: partyId !== null };
    const window = { afterId: 0, offset: 0, limit: 1 };
    const [row] = await listCreditNotes(tx, tenant.tenantId, filter, window);
    if (!row) throw new AppError('CREDIT_NOTE_NOT_FOUND', { field: 'creditNoteID' });
    const bill = await findBillToShow(tx, tenant.tenantId, row.bill_id);
    if (!bill) throw new Error(`bill ${row.bill_id} of credit note ${creditNoteId} is gone`);
    const setting = await settingOf(call, bill);
    const creditNote = documentOf(row, call);
    const task = { setting, bill, cancellation: undefined, creditNote };
    const made = await documentThreads().make({ ...task, format });
    const data = { contentType: contentTypes[format], base64: made.base64 };
    return { message: '1 found', data };
  },
});

const anyCreditNote = {
  creditNoteNumber: null,
  reference: null,
  billId: null,
  subscriptionNumber: null,
  fromDate: null,
  toDate: null,
};

/** That of the published bill, else what would be used if it was published now. */
async function settingOf(
  { tx, tenant: { tenantId } }: Call,
  bill: { bill_id: number; term_id: number },
): Promise<RenderSetting> {
  const documents = await listDocumentsOf(tx, tenantId, [bill.bill_id]);
  const published = documents.find((one) => one.format === 'PDF' && one.error === null);
  if (!published) {
    return previewSetting(tx, tenantId, await getTerm(tx, tenantId, bill.term_id));
  }
  const { setting_version: version } = published;
  const setting = (await settingsByVersion(tx, tenantId, bill.term_id, [version])).get(version);
  if (!setting) throw new Error(`the setting of document ${published.document_id} is gone`);
  return setting;
}

function documentOf(row: CreditNoteRow, { tenant }: Call): CreditNoteDocument {
  const major = (minor: string | number) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  return {
    number: row.credit_note_number,
    issueDate: wireDay(row.issue_date),
    reason: row.reason,
    amount: major(row.amount),
    walletAmount: major(row.to_wallet),
    lines: row.lines.map(({ component, amount }) => ({ component, amount: major(amount) })),
  };
}
