import * as Type from 'typebox';
import { dateIn, formatDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { AppError, definitionErrors } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { majorUnits } from '../../base/money.ts';
import { slicing } from '../../base/slices.ts';
import { findRun } from '../../domain/bills/generate/runs-store.ts';
import {
  addImpact,
  type Change,
  type Counts,
  type Impact,
  noImpact,
  type Sums,
} from '../../domain/bills/review/impact.ts';
import {
  type BillCustomer,
  listBillCustomers,
  listFrozenBills,
} from '../../domain/bills/review/impact-store.ts';
import { summedTerm } from '../../domain/bills/review/summary-store.ts';
import { bookOfRun } from '../../domain/bills/run-prices.ts';
import { checkDefinitionsFrom } from '../../domain/pricing/calculator.ts';
import { assertSound } from '../../domain/pricing/check-definitions.ts';
import { loadPinned } from '../../domain/pricing/price-books.ts';
import { compilePriceBook, type PriceBook } from '../../domain/rating/compile/price-book.ts';
import { findTerm, type Term } from '../../domain/terms/store.ts';
import { id, money, nullable, type Page, page } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { placesOf, unsavedTariff, withUnsavedPlans } from '../tariffs/unsaved-fields.ts';

const text = Type.String();
const integer = Type.Integer();
const sums = { before: money, after: money, change: money };
const outcomes = { betterOff: integer, worseOff: integer, unchanged: integer };
const total = Type.Object({ bills: integer, currentCharges: money, taxAmount: money });
const changeView = Type.Object({
  billID: integer,
  connectionNumber: nullable(text),
  partyNumber: integer,
  partyName: text,
  ...sums,
});

const request = Type.Object({
  termID: id,
  tariffs: Type.Array(unsavedTariff, { minItems: 1, maxItems: 500 }),
  page: Type.Optional(page),
});
type Request = Type.Static<typeof request>;

const turns = new FairTurns({
  places: 4,
  share: 1,
  waitingMax: 2,
  waitMs: 20_000,
  what: 'simulations of terms',
});

export const simulateTerm = operation({
  path: '/billing/terms/simulate-term',
  method: 'Retrieve',
  action: 'Simulate Term',
  access: { permission: 'bills:read' },
  summary: 'Prices the bills of a term again with changed plans, and stores nothing.',
  request,
  response: Type.Object({
    before: total,
    after: total,
    components: Type.Array(Type.Object({ component: text, label: text, ...sums })),
    plans: Type.Array(Type.Object({ tariffCode: text, bills: integer, ...sums, ...outcomes })),
    ...outcomes,
    largest: Type.Array(changeView),
    bills: Type.Array(changeView, { description: 'the bills that change; only if a page is sent' }),
    page: nullable(Type.Object({ pageNumber: integer, size: integer })),
    failed: Type.Integer({ description: 'bills that the changed plans cannot rate' }),
    failures: Type.Array(
      Type.Object({ billID: integer, connectionNumber: text, code: text, message: text }),
    ),
  }),
  errors: [
    'TERM_NOT_FOUND',
    'INVALID_STATE',
    'PARENT_NOT_FOUND',
    'PLAN_CYCLE',
    'PLAN_TOO_DEEP',
    'DUPLICATE',
    ...definitionErrors,
  ],
  example: {
    termID: 1,
    tariffs: [
      {
        code: 'RES-A1',
        uniqueLabel: 'Residential A-1',
        valueFormulas: [{ name: 'rate', formula: '21' }],
      },
    ],
  },
  turns,
  async handle(call, body) {
    const { tx, tenant } = call;
    const term = await findTerm(tx, tenant.tenantId, body.termID);
    if (!term) {
      const message = `No term has the id ${body.termID}`;
      throw new AppError('TERM_NOT_FOUND', { message, field: 'termID' });
    }
    if (term.run_number === 0) {
      throw new AppError('INVALID_STATE', {
        message: `Nothing was generated of term ${term.label} yet`,
        field: 'termID',
        current: term.stage,
        allowed: ['Generated', 'Posted', 'Published'],
      });
    }
    const other = await changedBook(call, term, body);
    const impact = await rateTerm(call, term, other, windowOf(body.page ?? null));
    return {
      message: `${counted(impact.bills, 'bill')} simulated, ${impact.changed} of them change`,
      total: impact.changed,
      data: await present(call, impact, body.page ?? null),
    };
  },
});

function windowOf(asked: Page | null): Impact['window'] {
  if (!asked) return { offset: 0, limit: 0 };
  return { offset: asked.pageNumber * asked.size, limit: asked.size };
}

/** The prices of the newest run, with the plans that were sent in the place of its own. */
async function changedBook(call: Call, term: Term, body: Request): Promise<PriceBook> {
  const { tx, tenant } = call;
  const run = await runOf(call, term, term.run_number);
  const context = { context_id: term.context_id, code: term.context_code };
  const stored = await loadPinned(tx, tenant.tenantId, context, tenant, run.versions);
  const definitions = withUnsavedPlans(stored.definitions, body.tariffs);
  const today = formatDate(dateIn(call.now, tenant.timezone));
  const places = { context: null, plans: placesOf(body.tariffs) };
  const { errors } = await checkDefinitionsFrom(tenant.tenantId, definitions, today);
  assertSound(errors, places);
  return compilePriceBook(definitions);
}

async function runOf(call: Call, term: Term, runNumber: number) {
  const key = { termId: term.term_id, runNumber };
  const run = await findRun(call.tx, call.tenant.tenantId, key);
  if (!run) throw new Error(`term ${term.term_id} has no run ${runNumber}`);
  return run;
}

const chunkBills = 500;

async function rateTerm(
  call: Call,
  term: Term,
  other: PriceBook,
  window: Impact['window'],
): Promise<Impact> {
  const { tenant } = call;
  const impact = noImpact(window);
  const books = new Map<number, PriceBook>();
  const summed = summedTerm(term);
  for (let afterUnitId = 0; ; ) {
    if (call.isGone()) throw new AppError('UNAVAILABLE', { message: 'The caller has gone' });
    const next = { afterUnitId, limit: chunkBills };
    const bills = await listFrozenBills(call.tx, tenant.tenantId, summed, next);
    for (const { first_run: runNumber } of bills) {
      if (books.has(runNumber)) continue;
      const run = await runOf(call, term, runNumber);
      books.set(runNumber, (await bookOfRun(call.tx, tenant, term, run)).book);
    }
    const slices = slicing();
    for (const bill of bills) {
      addImpact(impact, bill, { own: books.get(bill.first_run) as PriceBook, other });
      await slices.pause();
    }
    const last = bills.at(-1);
    if (!last || bills.length < chunkBills) return impact;
    afterUnitId = last.unit_id;
  }
}

async function present(call: Call, impact: Impact, asked: Page | null) {
  const { tx, tenant } = call;
  const billIds = [...impact.changes, ...impact.shown].map((change) => change.billId);
  const rows = await listBillCustomers(tx, tenant.tenantId, [...new Set(billIds)]);
  const customers = new Map(rows.map((row) => [row.bill_id, row]));
  const amount = (minor: bigint) => majorUnits(minor, tenant.currencyDecimals);
  const both = ({ before, after }: Sums) => ({
    before: amount(before),
    after: amount(after),
    change: amount(after - before),
  });
  const totalOf = (side: keyof Sums) => ({
    bills: impact.bills,
    currentCharges: amount(impact[side]),
    taxAmount: amount(impact.tax[side]),
  });
  const outcomesOf = ({ betterOff, worseOff, unchanged }: Counts) => ({
    ...{ betterOff, worseOff, unchanged },
  });
  const changeOf = (change: Change) => {
    const { party_number, party_name } = customers.get(change.billId) as BillCustomer;
    const { billId: billID, connectionNumber } = change;
    const customer = { partyNumber: party_number, partyName: party_name };
    return { billID, connectionNumber, ...customer, ...both(change) };
  };
  return {
    before: totalOf('before'),
    after: totalOf('after'),
    components: [...impact.components.values()].map(({ component, label, ...one }) => {
      return { component, label, ...both(one) };
    }),
    plans: [...impact.plans.values()].map(({ tariffCode, bills, ...one }) => {
      return { tariffCode, bills, ...both(one), ...outcomesOf({ bills, ...one }) };
    }),
    ...outcomesOf(impact),
    largest: impact.changes.map(changeOf),
    bills: impact.shown.map(changeOf),
    page: asked,
    failed: impact.failed,
    failures: impact.failures.map(({ billId, ...failure }) => ({ billID: billId, ...failure })),
  };
}
