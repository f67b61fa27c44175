import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import { AppError } from '../../base/errors.ts';
import type { MadeDocument } from '../../domain/delivery/document-thread.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
import { keepReceipt } from '../../domain/delivery/keep-receipt.ts';
import { type ReceiptSource, receiptSources } from '../../domain/delivery/receipts.ts';
import type { ReceiptRow } from '../../domain/delivery/receipts-store.ts';
import { reversedWords } from '../../domain/documents/receipt-view.ts';
import { documentTypes } from '../bills/shown-document-fields.ts';
import { id, maybe, oneOf } from '../fields.ts';
import { type Call, operation, type Principal } from '../operation.ts';

/** Left out, it is Reversed for a payment that is reversed, otherwise the original. */
const receiptKinds = ['Original', 'Reversed', 'Copy'] as const;
type Kind = (typeof receiptKinds)[number];

export const getReceiptDocument = operation({
  path: '/billing/payments/get-receipt-document',
  method: 'Retrieve',
  action: 'Retrieve Receipt Document',
  access: { permission: 'payments:read', own: 'own-payments:read' },
  summary:
    'The receipt of a payment that was received, with what it settled when made. The first call ' +
    'keeps its file, which never changes. The receipt of a reversed payment is marked so.',
  request: Type.Object({
    paymentID: id,
    format: Type.Optional(oneOf(['PDF', 'HTML'])),
    kind: maybe(oneOf(receiptKinds)),
  }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'PAYMENT_NOT_FOUND',
    'INVALID_STATE',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
    'DOCUMENT_DIFFERS',
    'DOCUMENT_DELETED',
  ],
  example: { paymentID: 17, format: 'HTML' },
  turns: documentTurns,
  /** The first call issues the receipt. */
  async prepare({ tenant, principal, now, write }, { paymentID: paymentId, format = 'PDF' }) {
    if (format === 'HTML') return;
    const wanted = { paymentId, ownPartyId: partySeen(principal) };
    await keepReceipt(write, tenant.tenantId, wanted, now);
  },
  async handle(call, { paymentID, format = 'PDF', kind: asked }) {
    const { tx, tenant, ownPartyId } = call;
    const sources = await receiptSources(tx, tenant.tenantId, [paymentID], ownPartyId);
    const source = sources.get(paymentID);
    if (!source) throw new AppError('PAYMENT_NOT_FOUND', { field: 'paymentID' });
    const kind = kindOf(source.row, asked ?? null);
    const contentType = documentTypes[format];
    const { base64 } =
      format === 'PDF' ? await fileOf(call, source, kind) : await pageOf(source, kind);
    return { message: '1 found', data: { contentType, base64 } };
  },
});

function partySeen({ permissions, partyId }: Principal): number | null {
  // No party has the id 0.
  return permissions.has('payments:read') ? null : (partyId ?? 0);
}

/** Refuses a kind that the payment does not have. */
function kindOf(row: ReceiptRow, asked: Kind | null): Kind {
  const isReversed = row.reversal_date !== null;
  const current = { status: isReversed ? 'Reversed' : 'Posted' };
  if (row.direction === 'Out') {
    const message = `Payment ${row.payment_id} was paid out: receipts are for money received`;
    throw new AppError('INVALID_STATE', { message, field: 'paymentID', current });
  }
  const kind = asked ?? (isReversed ? 'Reversed' : 'Original');
  if (kind === 'Reversed' && !isReversed) {
    const what = `Payment ${row.payment_id} is not reversed`;
    const message = `${what}: it has no receipt of the kind Reversed`;
    throw new AppError('INVALID_STATE', { message, field: 'kind', current });
  }
  return kind;
}

/** The file that is kept, with its mark. */
async function fileOf(
  { tx, tenant }: Call,
  { paper, row }: ReceiptSource,
  kind: Kind,
): Promise<MadeDocument> {
  const { tenantId } = tenant;
  const key = { kind: 'Receipt', subjectId: row.payment_id } as const;
  const kept = await findFurther(tx, tenantId, key);
  if (!kept) throw new Error(`the receipt of payment ${row.payment_id} is not kept`);
  const file = await readFile(tx, tenantId, kept);
  if (kind === 'Original') return { base64: file.toString('base64') };
  return documentThreads().mark({
    file,
    mark: kind === 'Copy' ? 'copy' : 'reversed',
    locale: paper.setting.locale,
    title: row.receipt_number ?? `Receipt ${row.payment_id}`,
  });
}

function pageOf({ paper, row }: ReceiptSource, kind: Kind): Promise<MadeDocument> {
  const reversedOn = kind === 'Reversed' && row.reversal_date ? wireDay(row.reversal_date) : null;
  const warning = kind === 'Original' ? null : reversedWords(paper.setting, reversedOn);
  return documentThreads().print({ format: 'HTML', paper: { ...paper, warning } });
}
