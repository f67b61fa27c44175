import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { partsMax, takePart } from '../../domain/imports/upload.ts';
import { empty, maybe, text } from '../fields.ts';
import { bytesFromBase64, contentMax, realNowOf, uploadId } from '../file-fields.ts';
import { operation } from '../operation.ts';

export const uploadPart = operation({
  path: '/billing/imports/upload-part',
  method: 'Create',
  action: 'Upload Part',
  access: { permission: 'imports:write' },
  summary: 'Sends a part of a file of up to 1 GiB; imports name the upload instead of content.',
  takesRows: true,
  request: Type.Object({
    uploadID: uploadId,
    partNo: Type.Integer({
      minimum: 1,
      maximum: partsMax,
      'x-code': 'INVALID_NUMBER',
      description: 'from 1; parts may come in any order',
    }),
    contentBase64: text({ max: contentMax }),
    last: maybe(Type.Boolean({ description: 'true: no part has a higher number' })),
  }),
  response: empty,
  errors: ['DUPLICATE'],
  example: {
    uploadID: 'statement-2025-08',
    partNo: 1,
    contentBase64: Buffer.from('01/08/2025,1500.00').toString('base64'),
    last: true,
  },
  async handle(call, body) {
    const part = {
      uploadId: body.uploadID.trim(),
      number: body.partNo,
      isLast: body.last ?? false,
      content: bytesFromBase64(body.contentBase64),
    };
    const { tenantId } = call.tenant;
    const options = { by: call.principal.name, realNow: realNowOf(call) };
    const done = await takePart(call.tx, tenantId, part, options);
    if (!done.isRepeated) {
      const after = { partNo: part.number, bytes: part.content.length, last: part.isLast };
      call.audit({ subject: 'upload', subjectId: part.uploadId, before: null, after });
    }
    const again = done.isRepeated ? 'The part was sent before; ' : '';
    const size = `${counted(done.parts, 'part')} of ${done.bytes} bytes are stored`;
    return { message: `${again}${size}`, data: {} };
  },
});
