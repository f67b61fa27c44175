// A route sheet: which registers are still to be read, in the order of addresses, each with what it
// showed last and what it is expected to show. Filled in, it comes back as a file of readings.
import { type Cell, csvLines } from '../../base/csv/write.ts';
import { dayOf, formatDay } from '../../base/days.ts';
import { AppError } from '../../base/errors.ts';
import { decimalText } from '../../base/numbers/decimal-text.ts';
import { round } from '../../base/numbers/rounding.ts';
import { expectedRange } from '../readings/judge.ts';
import { findPasts, type Past } from '../readings/past-store.ts';
import { type Factors, findFactors } from '../readings/places-store.ts';
import type { Read } from './export-lines.ts';
import {
  type DescribedStop,
  describeStops,
  findRoute,
  listStops,
  type RouteFilter,
  type RouteStop,
} from './route-store.ts';

export type RouteSheet = RouteFilter & {
  /** The day on which the meters will be read; expectations are for it. */
  date: Temporal.PlainDate;
  today: Temporal.PlainDate;
};

const columns = [
  ...['connectionNumber', 'partyName', 'city', 'society', 'block', 'street', 'buildingNo'],
  ...['buildingName', 'shopNo', 'number', 'register', 'unit', 'digits', 'kind', 'mf'],
  ...['previousDate', 'previousReading', 'expectedLow', 'expectedHigh'],
  ...['readingDate', 'value', 'remark'],
];

const stopsAtOnce = 1_000;

export async function stopsOf(
  read: Read,
  tenantId: number,
  sheet: RouteSheet,
): Promise<RouteStop[]> {
  const { contextCode, batchCode } = sheet;
  const found = await read((tx) => findRoute(tx, tenantId, sheet));
  if (!found.hasContext) {
    const message = `No pricing context has the code ${contextCode}`;
    throw new AppError('SERVICE_NOT_FOUND', { message, field: 'serviceCode' });
  }
  if (batchCode !== null && !found.hasBatch) {
    const message = `${contextCode} has no batch with the code ${batchCode}`;
    throw new AppError('BATCH_NOT_FOUND', { message, field: 'batchCode' });
  }
  return read((tx) => listStops(tx, tenantId, sheet));
}

/** The first line of the first chunk is the header. */
export async function* sheetLines(
  read: Read,
  tenantId: number,
  stops: readonly RouteStop[],
  sheet: RouteSheet,
): AsyncGenerator<string[]> {
  yield csvLines([columns]);
  const factors = await read((tx) => findFactors(tx, tenantId, dayOf(sheet.today)));
  for (let at = 0; at < stops.length; at += stopsAtOnce) {
    const some = stops.slice(at, at + stopsAtOnce);
    const day = dayOf(sheet.date);
    const [described, pasts] = await read((tx) =>
      Promise.all([
        describeStops(tx, tenantId, some),
        findPasts(
          tx,
          tenantId,
          some.map((register) => ({ register, first: day + 1, last: day + 1 })),
        ),
      ]),
    );
    yield csvLines(described.map((stop, index) => lineOf(stop, pasts[index], factors, day)));
  }
}

function lineOf(
  { cells, register }: DescribedStop,
  past: Past | undefined,
  factors: Factors,
  day: number,
): Cell[] {
  const { context, input } = register as typeof register & { context: number; input: string };
  const factor = factors.get(`${context} ${input}`);
  const judged = { ...register, highFactor: factor?.high ?? null, lowFactor: factor?.low ?? null };
  const range = past ? expectedRange(judged, past, day) : null;
  const previous = past?.previous ?? null;
  const found: Record<string, Cell> = {
    ...cells,
    digits: register.digits,
    kind: register.kind,
    mf: register.mf,
    previousDate: previous && formatDay(previous.day),
    previousReading: previous?.value ?? null,
    expectedLow: range && decimalText(round(range.low, register.decimals, 'Floor')),
    expectedHigh: range && decimalText(round(range.high, register.decimals, 'Ceiling')),
  };
  return columns.map((name) => found[name] ?? null);
}
