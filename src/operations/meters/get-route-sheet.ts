import * as Type from 'typebox';
import { dateIn, parseDate } from '../../base/calendar.ts';
import { sheetLines, stopsOf } from '../../domain/exports/route-sheet.ts';
import { getTerm } from '../../domain/terms/store.ts';
import { lineAnswer, linesShown } from '../exports/line-fields.ts';
import { date, filledText, id, maybe } from '../fields.ts';
import { operation } from '../operation.ts';

export const getRouteSheet = operation({
  path: '/billing/meters/get-route-sheet',
  method: 'Retrieve',
  action: 'Retrieve Route Sheet',
  access: { permission: 'readings:read' },
  summary: 'Shows the meters of a batch that are still to be read, in the order of addresses.',
  request: Type.Object({
    serviceCode: filledText({ max: 32 }),
    batchCode: maybe(filledText({ max: 32 })),
    sinceDate: maybe(date),
    readingDate: maybe(date),
    termID: maybe(id),
  }),
  response: linesShown,
  errors: ['SERVICE_NOT_FOUND', 'BATCH_NOT_FOUND', 'TERM_NOT_FOUND'],
  example: {
    serviceCode: 'ELEC',
    batchCode: 'DEFAULT',
    sinceDate: '01/02/2026',
    readingDate: '28/02/2026',
  },
  async handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const today = dateIn(call.now, timezone);
    const key = { contextCode: body.serviceCode.trim(), batchCode: body.batchCode?.trim() ?? null };
    const sheet = {
      ...key,
      since: (body.sinceDate && parseDate(body.sinceDate)) || null,
      date: (body.readingDate && parseDate(body.readingDate)) || today,
      today,
      termId: body.termID ?? null,
    };
    const { termId } = sheet;
    if (termId !== null) {
      await call.read((tx) => getTerm(tx, tenantId, termId, { field: 'termID' }));
    }
    const stops = await stopsOf(call.read, tenantId, sheet);
    return lineAnswer(sheetLines(call.read, tenantId, stops, sheet), stops.length);
  },
});
