import * as Type from 'typebox';
import type { Encoding } from '../../base/csv/decode.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { importBankFile as importFile, tryBankFile } from '../../billrun/import-bank-file.ts';
import type { SentFile } from '../../domain/bank-files/accept.ts';
import { countsText } from '../../domain/bank-files/counts.ts';
import { bankFormats } from '../../domain/bank-files/statement.ts';
import { empty, id, maybe, oneOf, text } from '../fields.ts';
import { bytesSent, contentMax, uploadId } from '../file-fields.ts';
import { type Call, operation } from '../operation.ts';
import { awaitJob } from '../scheduling.ts';

const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const satisfies Encoding[];

const turns = new FairTurns({
  places: 2,
  share: 1,
  waitingMax: 8,
  waitMs: 60_000,
  what: 'imports of bank files',
});

const request = Type.Object({
  bankAccountID: id,
  format: oneOf(bankFormats),
  contentBase64: maybe(
    Type.String({ maxLength: contentMax, description: 'the bytes of the file' }),
  ),
  uploadID: maybe(uploadId),
  mappingName: maybe(text({ max: 60, description: 'how a CSV file is read' })),
  encoding: maybe(
    Type.Unsafe<(typeof encodings)[number]>({
      ...oneOf(encodings),
      description: 'found from the bytes if it is left out',
    }),
  ),
  fileName: maybe(text({ max: 200 })),
  dryRun: maybe(Type.Boolean({ description: 'counts what would be done and stores nothing' })),
});

export const importBankFile = operation({
  path: '/billing/bank-files/import-bank-file',
  method: 'Create',
  action: 'Import Bank File',
  access: { permission: 'bank-files:write' },
  summary:
    'Imports the file of a bank, whole or not at all; what is certain is posted as payments.',
  takesRows: true,
  request,
  response: empty,
  errors: [
    'BANK_ACCOUNT_NOT_FOUND',
    'MAPPING_NOT_FOUND',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_INCOMPLETE',
    'CURRENCY_MISMATCH',
    'STATEMENT_NOT_PROVEN',
    'DATE_IN_FUTURE',
    'INVALID_STATE',
  ],
  example: {
    bankAccountID: 1,
    format: 'CSV',
    contentBase64: Buffer.from(
      'Booking date,Amount,Reference,Payer,Details,Transaction ID\r\n' +
        '18/08/2025,1500.00,ELEC-00000001,Asha Rao,July bill,TX-88121\r\n',
    ).toString('base64'),
    mappingName: 'First Bank',
    fileName: 'statement-2025-08-18.csv',
  },
  turns,
  async handle(call, body) {
    const file = await fileFrom(call, body);
    const { tenant, now, principal } = call;
    const options = { tenant, now, by: principal.name };
    if (body.dryRun) {
      const { counts, isRepeated } = await tryBankFile(call.tx, file, options);
      const again = isRepeated ? 'The file was imported before: ' : 'Nothing is stored: ';
      return { message: again + countsText(counts), data: {} };
    }
    const done = await importFile(call.tx, file, options);
    const { bankFileId, counts, jobId, isRepeated } = done;
    if (!isRepeated) auditFile(call, body, done);
    const again = isRepeated ? 'The file was imported before: ' : '';
    return {
      message: again + countsText(counts),
      data: {},
      ids: { resourceIds: [bankFileId], ...(jobId === null ? {} : { jobId }) },
    };
  },
  settle: awaitJob,
});

type Body = Type.Static<typeof request>;

async function fileFrom(call: Call, body: Body): Promise<SentFile> {
  return {
    bankAccountId: body.bankAccountID,
    format: body.format,
    name: body.fileName || null,
    mappingName: body.mappingName || null,
    encoding: body.encoding ?? null,
    bytes: await bytesSent(call, body),
  };
}

function auditFile(call: Call, body: Body, done: { bankFileId: number; counts: object }): void {
  const { bankAccountID, format, fileName = null } = body;
  const after = { bankAccountID, format, fileName, lines: done.counts };
  call.audit({ subject: 'bank file', subjectId: done.bankFileId, before: null, after });
}
