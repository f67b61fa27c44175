import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import {
  countTerms,
  listTermsAfter,
  listTermsAt,
  type TermFilter,
} from '../../domain/terms/list-store.ts';
import type { TermRow } from '../../domain/terms/store.ts';
import { termStages } from '../../domain/terms/term.ts';
import { maybe, page } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const day = Type.String({ description: 'DD/MM/YYYY' });

const readingTerm = Type.Object({
  termID: Type.Integer(),
  label: Type.String(),
  serviceCode: Type.String(),
  batchCode: Type.String(),
  startDate: day,
  endDate: day,
  stage: Type.String({ description: termStages.join(', ') }),
});

/** A number that does not exist is not an error: the list is empty. */
const key = maybe(
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-code': 'INVALID_FILTER_VALUE',
  }),
);

export const getReadingTerms = operation({
  path: '/billing/meters/get-reading-terms',
  method: 'Retrieve',
  action: 'Retrieve Reading Terms',
  access: { permission: 'readings:read' },
  summary: 'Lists open terms of metered services, the newest first: those that readings are for.',
  byKey: ({ termID }) => Boolean(termID),
  request: Type.Object({ termID: key, page: Type.Optional(page) }),
  response: Type.Object({ terms: Type.Array(readingTerm) }),
  errors: [],
  example: { page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = { ...openForReadings, termId: body.termID ?? null };
    const oldestFirst = false;
    return listing(call, {
      page: body.page,
      count: (tx) => countTerms(tx, tenantId, filter),
      at: (tx, window) => listTermsAt(tx, tenantId, filter, { ...window, oldestFirst }),
      after: (tx, options) => listTermsAfter(tx, tenantId, filter, { ...options, oldestFirst }),
      present: presentReadingTerm,
      wrap: (terms) => ({ terms }),
    });
  },
});

const openForReadings: TermFilter = {
  isMetered: true,
  status: 'Open',
  contextCode: null,
  termId: null,
  type: null,
  stage: null,
  billId: null,
  batchCode: null,
  subscriptionNumber: null,
  fromDate: null,
  toDate: null,
  updatedSince: null,
  search: null,
};

/** What a route sheet needs to know of a term. No amounts: a meter reader sees none. */
function presentReadingTerm(row: TermRow) {
  return {
    termID: row.term_id,
    label: row.label,
    serviceCode: row.context_code,
    batchCode: row.batch_code,
    startDate: wireDay(row.start_date),
    endDate: wireDay(row.end_date),
    stage: row.stage,
  };
}
