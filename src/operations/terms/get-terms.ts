import * as Type from 'typebox';
import { parseDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { listBillsAt } from '../../domain/bills/list-store.ts';
import {
  countTerms,
  listTermsAfter,
  listTermsAt,
  type TermFilter,
} from '../../domain/terms/list-store.ts';
import type { TermRow } from '../../domain/terms/store.ts';
import { termStages, termStatuses, termTypes } from '../../domain/terms/term.ts';
import { type BillView, billView, presentBills } from '../bills/bill-fields.ts';
import { date, filterOf, maybe, metaData, page, text } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { presentTerm, termView } from './term-fields.ts';

/** A number that does not exist is not an error: the list is empty. */
const key = maybe(
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-code': 'INVALID_FILTER_VALUE',
  }),
);

/** Bills that are shown of each term. */
const billsMax = 1_000;

const request = Type.Object({
  serviceCode: maybe(text({ max: 32 })),
  termID: key,
  page: Type.Optional(page),
  filters: maybe(
    Type.Object({
      bills: maybe(
        Type.Boolean({ description: `up to ${billsMax} bills of each; get-bill-term has all` }),
      ),
      batchCode: maybe(text({ max: 32 })),
      connectionNumber: maybe(text({ max: 120 })),
      stage: filterOf(termStages),
      fromDate: maybe(date),
      toDate: maybe(date),
    }),
  ),
  metaData: metaData(['startDate']),
  type: filterOf(termTypes),
  status: filterOf(termStatuses),
  billID: key,
});

const billsView = {
  bills: Type.Array(billView),
  moreBills: Type.Boolean({
    description: 'the term has more than are shown; get-bill-term has all',
  }),
};

export const getTerms = operation({
  path: '/billing/terms/get-terms',
  method: 'Retrieve',
  action: 'Retrieve Terms',
  access: { permission: 'terms:read' },
  summary: 'Lists terms, the newest first: all, a page, or those that match.',
  byKey: ({ termID, filters }) => Boolean(termID) && !filters?.bills,
  request,
  response: Type.Object({
    terms: Type.Array(Type.Partial(Type.Object({ ...termView, ...billsView }))),
  }),
  errors: [],
  example: { serviceCode: 'ELEC', status: 'Open', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = filterOfBody(body);
    const oldestFirst = body.metaData?.sortOrder === 'asc';
    const isWithBills = body.filters?.bills ?? false;
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countTerms(tx, tenantId, filter),
      at: (tx, window) => listTermsAt(tx, tenantId, filter, { ...window, oldestFirst }),
      after: (tx, options) => listTermsAfter(tx, tenantId, filter, { ...options, oldestFirst }),
      more: isWithBills ? (tx, term) => withBills(call, tx, term) : undefined,
      present: ({ shown, ...term }: Shown) => ({ ...presentTerm(term, call.tenant), ...shown }),
      wrap: (terms) => ({ terms }),
    });
  },
});

type Shown = TermRow & { shown?: { bills: readonly BillView[]; moreBills: boolean } };

/** Of one term at a time: a page of many would not fit into memory with all their bills. */
async function withBills(call: Call, tx: Tx, term: TermRow): Promise<Shown> {
  const window = { offset: 0, limit: billsMax + 1 };
  const filter = { termId: term.term_id };
  const rows = await listBillsAt(tx, call.tenant.tenantId, filter, window);
  const bills = await presentBills(tx, call.tenant, rows.slice(0, billsMax));
  return { ...term, shown: { bills, moreBills: rows.length > billsMax } };
}

function filterOfBody(body: Type.Static<typeof request>): TermFilter {
  const narrowing = body.filters ?? {};
  const meta = body.metaData ?? {};
  return {
    contextCode: body.serviceCode || null,
    termId: body.termID ?? null,
    type: body.type ?? null,
    status: body.status ?? null,
    stage: narrowing.stage ?? null,
    billId: body.billID ?? null,
    batchCode: narrowing.batchCode || null,
    subscriptionNumber: narrowing.connectionNumber || null,
    fromDate: (narrowing.fromDate && parseDate(narrowing.fromDate)) || null,
    toDate: (narrowing.toDate && parseDate(narrowing.toDate)) || null,
    updatedSince: meta.updatedSince ?? null,
    search: meta.search || null,
  };
}
