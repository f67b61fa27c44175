import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import type { StoredLine } from '../../domain/bills/bill-forms.ts';
import { findRun, type RunRow } from '../../domain/bills/generate/runs-store.ts';
import {
  countDifferences,
  type DifferenceRow,
  type DifferingRow,
  listDifferences,
  listDiffering,
  type Side,
} from '../../domain/bills/review/compare-store.ts';
import type { Cause } from '../../domain/bills/review/differences.ts';
import { causesOf } from '../../domain/bills/review/input-differences.ts';
import { bookOfRun } from '../../domain/bills/run-prices.ts';
import type { PriceBook } from '../../domain/rating/compile/price-book.ts';
import { frozenOf } from '../../domain/rating/frozen-inputs.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { findTerm, type Term } from '../../domain/terms/store.ts';
import { id, maybe, money, nullable, ordinal, page, timestamp } from '../fields.ts';
import { foundAhead, listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const text = Type.String();
const integer = Type.Integer();
const runView = Type.Object({
  runID: integer,
  generatedAt: timestamp,
  bills: integer,
  errors: integer,
  currentCharges: money,
});
const changedAmounts = Type.Array(
  Type.Object({ component: text, before: nullable(money), after: nullable(money) }),
);

export const compareRuns = operation({
  path: '/billing/bills/compare-runs',
  method: 'Retrieve',
  action: 'Compare Runs',
  access: { permission: 'bills:read' },
  summary: 'Shows which bills differ between two generations of a term, and why.',
  request: Type.Object({
    termID: id,
    runID: maybe(ordinal),
    againstRunID: maybe(ordinal),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    run: runView,
    against: runView,
    differences: Type.Array(
      Type.Object({
        connectionNumber: nullable(text),
        billID: integer,
        before: nullable(money),
        after: nullable(money),
        lines: changedAmounts,
        surcharges: changedAmounts,
        causes: Type.Array(
          Type.Object({ kind: text, name: text, before: nullable(text), after: nullable(text) }),
        ),
      }),
    ),
    page,
  }),
  errors: ['TERM_NOT_FOUND', 'RUN_NOT_FOUND'],
  example: { termID: 1, runID: 2, againstRunID: 1, page: { pageNumber: 0, size: 50 } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const term = await findTerm(tx, tenantId, body.termID);
    if (!term) {
      const message = `No term has the id ${body.termID}`;
      throw new AppError('TERM_NOT_FOUND', { message, field: 'termID' });
    }
    const run = await getRun(call, term, body.runID ?? term.run_number, 'runID');
    const earlier = body.againstRunID ?? run.run_number - 1;
    const against = await getRun(call, term, earlier, 'againstRunID');
    const pair = { termId: term.term_id, run: run.run_number, against: against.run_number };
    const books = new Map<number, PriceBook>();
    let ahead = new Map<number, DifferingRow>();
    const explained = async (from: Tx, found: readonly DifferingRow[]): Promise<Explained[]> => {
      const rows = await listDifferences(from, tenantId, pair, found);
      await addBooks(from, tenant, term, rows, books);
      return rows.map((row) => ({ ...row, causes: causesBetween(row, books) }));
    };
    return listing<Explained, never>(call, {
      page: body.page,
      count: (from) => countDifferences(from, tenantId, pair),
      at: async (from, window) =>
        explained(from, await listDiffering(from, tenantId, pair, { ...window, afterUnitId: 0 })),
      after: foundAhead({
        find: async (from, { after, limit }) => {
          const place = { afterUnitId: after?.unit_id ?? 0, offset: 0, limit };
          const found = await listDiffering(from, tenantId, pair, place);
          ahead = new Map(found.map((row) => [row.unit_id, row]));
          return [...ahead.keys()];
        },
        rowsOf: (from, ids) =>
          explained(
            from,
            ids.flatMap((unit) => ahead.get(unit) ?? []),
          ),
        idOf: (row) => row.unit_id,
      }),
      present: (row) => present(row, tenant),
      wrap: (differences) =>
        ({
          run: presentRun(run, tenant),
          against: presentRun(against, tenant),
          differences,
          page: body.page ?? null,
        }) as never,
    });
  },
});

type Explained = DifferenceRow & { causes: Cause[] };

async function getRun(call: Call, term: Term, wanted: number, field: string): Promise<RunRow> {
  const key = { termId: term.term_id, runNumber: wanted };
  const run = wanted > 0 ? await findRun(call.tx, call.tenant.tenantId, key) : undefined;
  if (run) return run;
  const message =
    wanted > 0
      ? `Term ${term.label} has no run ${wanted}`
      : `Term ${term.label} has only one run; generate it again to compare two`;
  throw new AppError('RUN_NOT_FOUND', { message, field });
}

/** Every version was rated by the prices of its first run. */
async function addBooks(
  tx: Tx,
  tenant: Tenant,
  term: Term,
  rows: readonly DifferenceRow[],
  books: Map<number, PriceBook>,
): Promise<void> {
  const runs = new Set(rows.flatMap(({ before, after }) => [before, after].flatMap(firstRun)));
  for (const runNumber of runs) {
    if (books.has(runNumber)) continue;
    const run = await findRun(tx, tenant.tenantId, { termId: term.term_id, runNumber });
    if (run) books.set(runNumber, (await bookOfRun(tx, tenant, term, run)).book);
  }
}

function firstRun(side: Side | null): number[] {
  return side ? [side.firstRun] : [];
}

function causesBetween({ before, after }: DifferenceRow, books: Map<number, PriceBook>): Cause[] {
  const was = before && books.get(before.firstRun);
  const is = after && books.get(after.firstRun);
  if (before && was && after && is) {
    return causesOf({ ...before, book: was }, { ...after, book: is });
  }
  const name = numberOf(before ?? after) ?? '';
  const told = (side: Side | null) => (side ? 'billed' : null);
  return [{ kind: 'Subscription', name, before: told(before), after: told(after) }];
}

function numberOf(side: Side | null): string | null {
  if (!side || 'subscriptions' in side.frozen) return null;
  return frozenOf(side.frozen)[0]?.connection?.connectionNumber ?? null;
}

function presentRun(run: RunRow, tenant: Tenant) {
  const { totals } = run;
  return {
    runID: run.run_number,
    generatedAt: formatTimestamp(run.finished_at ?? run.started_at, tenant.timezone),
    bills: totals?.bills ?? 0,
    errors: totals?.errors ?? 0,
    currentCharges: majorUnits(BigInt(totals?.currentCharges ?? 0), tenant.currencyDecimals),
  };
}

function present(row: Explained, tenant: Tenant) {
  const { before, after, causes } = row;
  const amount = (minor: number | bigint | undefined) =>
    minor === undefined ? null : majorUnits(BigInt(minor), tenant.currencyDecimals);
  const changes = (pick: 'lines' | 'surcharges') => {
    const was = sums(before?.document[pick]);
    const is = sums(after?.document[pick]);
    return [...new Set([...was.keys(), ...is.keys()])]
      .filter((component) => was.get(component) !== is.get(component))
      .map((component) => ({
        component,
        before: amount(was.get(component)),
        after: amount(is.get(component)),
      }));
  };
  return {
    connectionNumber: numberOf(after ?? before),
    billID: (after ?? before)?.billId ?? 0,
    before: amount(before?.currentCharges),
    after: amount(after?.currentCharges),
    // The lines add up to the difference; a surcharge is not one of them until it is charged.
    lines: changes('lines'),
    surcharges: changes('surcharges'),
    causes,
  };
}

function sums(lines: readonly StoredLine[] = []): Map<string, number> {
  const totals = new Map<string, number>();
  for (const { component, amount } of lines) {
    totals.set(component, (totals.get(component) ?? 0) + amount);
  }
  return totals;
}
