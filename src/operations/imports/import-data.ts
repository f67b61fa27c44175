import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import type { Encoding } from '../../base/csv/decode.ts';
import { AppError, errorFromRows } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { importFile } from '../../domain/imports/import-file.ts';
import { lineDetails } from '../../domain/imports/import-rows.ts';
import { empty, maybe, oneOf, text } from '../fields.ts';
import { bytesSent, contentMax, piecesOf, uploadId } from '../file-fields.ts';
import { type Call, operation } from '../operation.ts';
import { importKinds, importPermissions, loaders } from './kind-fields.ts';

const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const satisfies Encoding[];

const turns = new FairTurns({
  places: 4,
  share: 1,
  waitingMax: 8,
  waitMs: 60_000,
  what: 'imports',
});

export const importData = operation({
  path: '/billing/imports/import-data',
  method: 'Create',
  action: 'Import Data',
  access: { permission: 'imports:write' },
  summary: 'Imports a CSV file, all rows or none; each rejected row is named by its line.',
  takesRows: true,
  request: Type.Object({
    kind: oneOf(importKinds),
    content: maybe(
      Type.String({ maxLength: contentMax, description: 'the CSV text: header and rows' }),
    ),
    contentBase64: maybe(
      Type.String({ maxLength: contentMax, description: 'or the bytes of the file' }),
    ),
    uploadID: maybe(uploadId),
    encoding: maybe(
      Type.Unsafe<(typeof encodings)[number]>({
        ...oneOf(encodings),
        description:
          'of contentBase64; found from its bytes if it is left out. content is text already',
      }),
    ),
    fileName: maybe(text({ max: 200 })),
    dryRun: maybe(Type.Boolean({ description: 'checks everything and stores nothing' })),
    again: maybe(
      Type.Boolean({ description: 'true: import the file even if it was imported before' }),
    ),
  }),
  response: empty,
  errors: [
    'DUPLICATE',
    'METER_TYPE_NOT_FOUND',
    'DATE_IN_FUTURE',
    'METER_NOT_FOUND',
    'METER_NOT_ASSIGNED',
    'REGISTER_REQUIRED',
    'DUPLICATE_ROW',
    'READING_LOCKED',
    'SUBSCRIPTION_NOT_FOUND',
    'COMPONENT_NOT_FOUND',
    'PARTY_NOT_FOUND',
    'PARTY_ARCHIVED',
    'PARTY_KEY_MISMATCH',
    'OWNER_REQUIRED',
    'SERVICE_NOT_FOUND',
    'SERVICE_ARCHIVED',
    'PLAN_NOT_FOUND',
    'PLAN_ABSTRACT',
    'PLAN_NOT_BASE',
    'PLAN_NOT_AVAILABLE',
    'POST_TYPE_MISMATCH',
    'BATCH_NOT_FOUND',
    'ADDON_NOT_FOUND',
    'CONNECTION_INPUTS_MISMATCH',
    'UNKNOWN_INPUT',
    'MISSING_INPUT',
    'INVALID_INPUT_VALUE',
    'METER_NOT_REGISTERED',
    'METER_ALREADY_ASSIGNED',
    'METER_NOT_ASSIGNABLE',
    'METER_TYPE_NOT_ALLOWED',
    'METER_REQUIRED',
    'METER_BINDING_AMBIGUOUS',
    'DEFINITION_INVALID',
    'UPLOAD_NOT_FOUND',
    'UPLOAD_INCOMPLETE',
    'ROWS_REJECTED',
  ],
  example: {
    kind: 'Meters',
    content:
      'number,brand,meterType,purchaseDate,mf\r\n' +
      '40019001,Itron,Electric single phase,15/01/2024,1\r\n',
    fileName: 'meters.csv',
  },
  turns,
  async handle(call, body) {
    const { kind } = body;
    assertMay(call.principal.permissions, kind);
    const bytes = await bytesOf(call, body);
    const stamp = { at: call.now, by: call.principal.name };
    const today = dateIn(call.now, call.tenant.timezone);
    const loader = loaders[kind]({ tx: call.tx, tenant: call.tenant, today, stamp });
    const file = {
      kind,
      name: body.fileName ?? null,
      // Text of a request has been decoded once; to read it as another encoding would garble it.
      encoding: body.content ? 'utf-8' : (body.encoding ?? null),
      bytes,
    };
    const isDryRun = body.dryRun ?? false;
    const options = {
      isDryRun,
      isAgain: body.again ?? false,
      onProgress: () => {},
      rowsAtOnce,
    };
    const done = await importFile(call.tx, call.tenant, file, loader, options, stamp);
    if (done.problems.length > 0) throw errorFromRows(lineDetails(done.problems));
    const rows = counted(done.rows, 'row');
    if (done.importId === null) return { message: `${rows} can be imported`, data: {} };
    call.audit({
      subject: 'import',
      subjectId: done.importId,
      before: null,
      after: { kind, rows: done.rows, fileName: body.fileName ?? null },
    });
    return { message: `${rows} imported`, data: {}, ids: { resourceIds: [done.importId] } };
  },
});

function assertMay(held: ReadonlySet<string>, kind: keyof typeof importPermissions): void {
  if (importPermissions[kind].every((permission) => held.has(permission))) return;
  throw new AppError('PERMISSION_DENIED', { message: `The login may not import ${kind}` });
}

type Sent = { content?: string | null; contentBase64?: string | null; uploadID?: string | null };

async function bytesOf(call: Call, body: Sent): Promise<() => AsyncIterable<Uint8Array>> {
  const { content, contentBase64, uploadID } = body;
  const given = [content, contentBase64, uploadID].filter(Boolean).length;
  if (given > 1) {
    throw new AppError('INVALID_FORMAT', {
      message: 'Send the file as content, contentBase64 or uploadID, not as several of them',
      field: 'contentBase64',
    });
  }
  if (given === 0) {
    throw new AppError('REQUIRED_FIELD', {
      message: 'Send the file as content or contentBase64, or name its uploadID',
      field: 'content',
    });
  }
  if (!content) return bytesSent(call, body);
  const bytes = Buffer.from(content);
  return () => piecesOf(bytes);
}

/** Few, so that other calls are served in between. */
const rowsAtOnce = 250;
