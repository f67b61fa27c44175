import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { storedDay, wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import { divide, fraction, multiply, subtract, zero } from '../../base/numbers/exact.ts';
import { round } from '../../base/numbers/rounding.ts';
import { findRun, type RunRow, type RunTotals } from '../../domain/bills/generate/runs-store.ts';
import { countBills, listBillsAfter, listBillsAt } from '../../domain/bills/list-store.ts';
import {
  findPreviousTerm,
  findTermFigures,
  listExceptions,
  listRetired,
  type SummedTerm,
  summedTerm,
  sumParts,
  type TermFigures,
} from '../../domain/bills/review/summary-store.ts';
import { bookOfRun } from '../../domain/bills/run-prices.ts';
import { listFailedDocuments } from '../../domain/delivery/documents-store.ts';
import { hasBatch } from '../../domain/pricing/batches-store.ts';
import { contextOn } from '../../domain/rating/compile/price-book.ts';
import { findTerm, type Term } from '../../domain/terms/store.ts';
import { id, maybe, money, nullable, type Page, page, timestamp } from '../fields.ts';
import { chunkRows } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { billView, presentBills } from './bill-fields.ts';
import { billChunks } from './bill-listing-fields.ts';

const text = Type.String();
const integer = Type.Integer();

const summary = Type.Object({
  subscriptions: integer,
  bills: integer,
  errors: integer,
  onHold: integer,
  usage: Type.Array(Type.Object({ input: text, unit: nullable(text), quantity: text })),
  currentCharges: money,
  readyCharges: Type.Number({
    ...money,
    description: 'of the bills that are neither in error nor on hold: what posting takes now',
  }),
  taxAmount: money,
  arrears: money,
  payableWithinDueDate: money,
  paidAmount: money,
  outstandingAmount: money,
  components: Type.Array(Type.Object({ component: text, label: text, amount: money })),
  comparison: nullable(
    Type.Object({ previousTermID: integer, currentChargesChangePct: nullable(text) }),
  ),
  retiredNumbers: Type.Array(
    Type.Object({
      first: text,
      last: text,
      count: integer,
      reason: text,
      retiredAt: timestamp,
      retiredBy: text,
    }),
  ),
});
type Summary = Type.Static<typeof summary>;

export const getBillTerm = operation({
  path: '/billing/bills/get-bill-term',
  method: 'Retrieve',
  action: 'Retrieve Bill Term',
  isWordless: true,
  access: { permission: 'bills:read' },
  summary: 'Shows a term with all its bills, sums and exceptions, for review before posting.',
  request: Type.Object({ billTermID: id, batchID: maybe(id), page: Type.Optional(page) }),
  response: Type.Object({
    term: Type.Object({
      termID: integer,
      label: text,
      startDate: text,
      endDate: text,
      dueDate: text,
      status: text,
      stage: text,
      stale: Type.Boolean(),
      serviceCode: text,
      batchCode: text,
      batchID: integer,
      type: text,
      billingPeriodID: integer,
      postType: text,
      runID: nullable(integer),
    }),
    summary,
    bills: Type.Array(billView),
    exceptions: Type.Array(
      Type.Object({ connectionNumber: nullable(text), code: text, message: text, billID: integer }),
    ),
  }),
  errors: ['TERM_NOT_FOUND', 'BATCH_NOT_FOUND'],
  example: { billTermID: 1, batchID: null },
  async handle(call, { billTermID: termId, batchID, page: asked }) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const term = await findTerm(tx, tenantId, termId);
    if (!term) {
      const message = `No term has the id ${termId}`;
      throw new AppError('TERM_NOT_FOUND', { message, field: 'billTermID' });
    }
    const batchId = batchID ?? null;
    if (batchId !== null && !(await hasBatch(tx, tenantId, batchId))) {
      const message = `No batch has the id ${batchId}`;
      throw new AppError('BATCH_NOT_FOUND', { message, field: 'batchID' });
    }
    const filter = { termId, batchId };
    const sums = await summaryOf(call, term, batchId);
    const shown = presentTerm(term);
    return {
      message: `${counted(sums.bills, 'bill')}, ${sums.errors} in error, ${sums.onHold} on hold`,
      // Cancelled ones are listed as well, and in no sum.
      total: await countBills(tx, tenantId, filter),
      wrap: (bills: never[], exceptions: never[] = []) => ({
        term: shown,
        summary: sums,
        bills,
        exceptions,
      }),
      chunks: asked ? pageOfBills(call, filter, asked) : allBills(call, filter),
      also: [exceptionChunks(call, filter)],
    };
  },
});

type Shown = { termId: number; batchId: number | null };

function allBills(call: Call, filter: Shown): AsyncGenerator<object[]> {
  const { tenantId } = call.tenant;
  const after: Parameters<typeof billChunks>[1]['after'] = (tx, options) =>
    listBillsAfter(tx, tenantId, filter, options);
  return billChunks(call, { after }, null);
}

async function* pageOfBills(
  call: Call,
  filter: Shown,
  { pageNumber, size }: Page,
): AsyncGenerator<object[]> {
  const { tenant } = call;
  const window = { offset: pageNumber * size, limit: size };
  yield await call.read(async (tx) => {
    const rows = await listBillsAt(tx, tenant.tenantId, filter, window);
    return presentBills(tx, tenant, rows);
  });
}

function presentTerm(term: Term) {
  return {
    termID: term.term_id,
    label: term.label,
    startDate: wireDay(term.start_date),
    endDate: wireDay(term.end_date),
    dueDate: wireDay(term.due_date),
    status: term.status,
    stage: term.stage,
    stale: term.is_stale,
    serviceCode: term.context_code,
    batchCode: term.batch_code,
    batchID: term.batch_id,
    type: term.term_type,
    billingPeriodID: term.billing_period_id,
    postType: term.post_type,
    runID: term.run_number === 0 ? null : term.run_number,
  };
}

async function summaryOf(call: Call, term: Term, batchId: number | null): Promise<Summary> {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const termId = term.term_id;
  const amount = (minor: string) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  const summed = summedTerm(term);
  const figures = await findTermFigures(tx, tenantId, { ...summed, batchId });
  const run = await findRun(tx, tenantId, { termId, runNumber: term.run_number });
  const made = isOther(term, batchId) ? null : (run?.totals ?? null);
  const totals = made && (await partsOf(tx, tenantId, summed, made, figures));
  const previous = await findPreviousTerm(tx, tenantId, termId);
  const retired = await listRetired(tx, tenantId, termId);
  return {
    subscriptions: figures.subscriptions,
    bills: figures.bills,
    errors: figures.errors,
    onHold: figures.on_hold,
    usage: Object.entries(totals?.usage ?? {}).map(([input, used]) => ({ input, ...used })),
    currentCharges: amount(figures.current_charges),
    readyCharges: amount(figures.ready_charges),
    taxAmount: amount(figures.tax_amount),
    arrears: amount(figures.arrears),
    payableWithinDueDate: amount(figures.payable),
    paidAmount: amount(figures.paid_amount),
    outstandingAmount: amount(figures.outstanding),
    components: (await inPrintOrder(call, term, run, totals)).map(([component, sum]) => ({
      component,
      label: sum.label,
      amount: amount(sum.amount),
    })),
    comparison: previous
      ? {
          previousTermID: previous.term_id,
          currentChargesChangePct: changePercent(previous.current_charges, figures.current_charges),
        }
      : null,
    retiredNumbers: retired.map((row) => ({
      first: row.first,
      last: row.last,
      count: row.count,
      reason: row.reason,
      retiredAt: formatTimestamp(row.retired_at, tenant.timezone),
      retiredBy: row.retired_by,
    })),
  };
}

type TermSums = Pick<RunTotals, 'components' | 'usage'>;

/**
 * As the run added them up, without the few that were left out of posting. Only where other bills
 * are gone since, all that are left are added again.
 */
async function partsOf(
  tx: Tx,
  tenantId: number,
  term: SummedTerm,
  made: RunTotals,
  figures: TermFigures,
): Promise<TermSums> {
  const { counted, on_hold: held } = figures;
  if (counted === made.bills && figures.current_charges === made.currentCharges) return made;
  const isFew = term.isPosted && counted + held === made.bills && held < counted;
  const sums = await sumParts(tx, tenantId, term, isFew ? 'Hold' : 'Counted');
  const components: TermSums['components'] = {};
  for (const [name, { label, amount }] of Object.entries(made.components)) {
    const sum = sums.components.get(name);
    if (isFew) components[name] = { label, amount: String(BigInt(amount) - (sum ?? 0n)) };
    else if (sum !== undefined) components[name] = { label, amount: String(sum) };
  }
  const usage: TermSums['usage'] = {};
  for (const [input, { unit, quantity }] of Object.entries(made.usage)) {
    const sum = sums.usage.get(input);
    if (isFew) usage[input] = { unit, quantity: less(quantity, sum ?? '0') };
    else if (sum !== undefined) usage[input] = { unit, quantity: sum };
  }
  return { components, usage };
}

function less(quantity: string, part: string): string {
  return decimalText(subtract(exactFrom(quantity) ?? zero, exactFrom(part) ?? zero));
}

/** As on the bills: by the sequence of the context, then in the order in which it defines them. */
async function inPrintOrder(
  { tx, tenant }: Call,
  term: Term,
  run: RunRow | undefined,
  totals: TermSums | null,
) {
  if (!run || !totals) return [];
  const { book } = await bookOfRun(tx, tenant, term, run);
  const context = contextOn(book, storedDay(term.end_date));
  const defined = (context.definition.components ?? []).toSorted(
    (a, b) => (a.sequence ?? 0) - (b.sequence ?? 0),
  );
  const places = new Map(defined.map(({ name }, place) => [name, place]));
  const placeOf = (component: string) => places.get(component) ?? places.size;
  return Object.entries(totals.components).sort(([a], [b]) => placeOf(a) - placeOf(b));
}

/** A term has the bills of one batch; of any other it has none. */
function isOther(term: Term, batchId: number | null): boolean {
  return batchId !== null && batchId !== term.batch_id;
}

/** With one decimal; null where nothing was charged before. */
function changePercent(previous: string | null, current: string): string | null {
  const before = exactFrom(previous);
  const after = exactFrom(current);
  if (before === undefined || after === undefined || previous === '0') return null;
  const change = divide(multiply(subtract(after, before), fraction(100, 1)), before);
  return decimalText(round(change, 1, 'HalfUp'));
}

/** Bills that could not be priced, and those whose documents could not be made. */
async function* exceptionChunks(call: Call, filter: Shown): AsyncGenerator<object[]> {
  const { tenantId } = call.tenant;
  yield* byBill(call, (tx, place) => listExceptions(tx, tenantId, filter, place));
  yield* byBill(call, async (tx, place) => {
    const failed = await listFailedDocuments(tx, tenantId, filter, place);
    return failed.map(({ error, ...row }) => ({ ...row, ...error }));
  });
}

async function* byBill(
  call: Call,
  list: (
    tx: Tx,
    place: { afterBillId: number; limit: number },
  ) => Promise<
    { bill_id: number; connection_number: string | null; code: string; message: string }[]
  >,
): AsyncGenerator<object[]> {
  let afterBillId = 0;
  for (;;) {
    const place = { afterBillId, limit: chunkRows };
    const rows = await call.read((tx) => list(tx, place));
    yield rows.map((row) => ({
      connectionNumber: row.connection_number,
      code: row.code,
      message: row.message,
      billID: row.bill_id,
    }));
    const last = rows.at(-1)?.bill_id;
    if (last === undefined) return;
    afterBillId = last;
  }
}
