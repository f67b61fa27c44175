// Microseconds per bill: the compiled plan, beside a function written by hand for the same tariff
// and beside the plain interpreter, on the same facts in the same run.
import assert from 'node:assert/strict';
import type { Bill } from '../src/domain/rating/bill.ts';
import { compilePriceBook, singleVersion } from '../src/domain/rating/compile/price-book.ts';
import type { FrozenConnection, FrozenInputs } from '../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../src/domain/rating/rate/rate-bill.ts';
import { plainBill } from '../test/rating/plain-bill.ts';
import { type TariffCase, tariffCases } from '../test/rating/tariff-cases.ts';
import { appBill, elecBill, waterBill } from './handwritten.ts';
import type { BenchOptions, BenchResult } from './result.ts';

type Contest = {
  name: string;
  tariff: TariffCase;
  facts: FrozenInputs;
  handwritten: ((facts: FrozenInputs) => Bill) | null;
};

/**
 * The last few bills, so that none can be optimised away. A run hands its bills on and forgets
 * them; thousands kept at a time would have the collector move them about, and measure that.
 */
const keptMax = 16;
const kept: unknown[] = new Array(keptMax);

/** Calls of a batch: a tenth of a second or so, against processor time that is counted in ticks. */
const batches = { compiled: 20_000, handwritten: 40_000, interpreted: 1_000 };

function find(id: string): { tariff: TariffCase; facts: FrozenInputs } {
  for (const tariff of tariffCases) {
    const facts = tariff.scenarios.find((scenario) => scenario.id === id);
    if (facts !== undefined) return { tariff, facts };
  }
  throw new Error(`there is no scenario ${id}`);
}

function changed(facts: FrozenInputs, connection: FrozenConnection): FrozenInputs {
  return { ...facts, connection: { ...facts.connection, ...connection } };
}

/** Full terms of the three tariffs, then bills of other kinds for comparison. */
function contests(): Contest[] {
  const water = find('WATER-a');
  const app = find('SAAS-a');
  const fullWater = changed(water.facts, {
    connectionDate: '12/06/2020',
    isFirstBill: false,
    tariffHistory: [{ tariffCode: 'WAT-MET', fromDate: '12/06/2020' }],
    connectionInputs: [
      { name: 'pipeSize', value: '20' },
      { name: 'category', value: 'Commercial' },
    ],
  });
  const seats = [{ name: 'seats', value: '20', fromDate: '01/01/2026' }];
  const fullApp = changed(app.facts, { unmeteredInputs: seats });
  const others = ['ELEC-b', 'WATER-a', 'GAS-a', 'SAAS-a'];
  return [
    { name: 'elec', ...find('ELEC-a'), handwritten: elecBill },
    { name: 'water', tariff: water.tariff, facts: fullWater, handwritten: waterBill },
    { name: 'saas', tariff: app.tariff, facts: fullApp, handwritten: appBill },
    ...others.map((id) => ({ name: `partial_${id}`, ...find(id), handwritten: null })),
  ];
}

/**
 * Microseconds of one call, over one batch: processor time of the whole process, collector and
 * compiler included, of which what else the machine does takes none.
 */
function timed(calls: number, call: () => unknown): number {
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index++) kept[index % keptMax] = call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

type Way = 'compiled' | 'handwritten' | 'interpreted';

/** A contest made ready, with the times of each round. */
type Lane = Contest & {
  ways: readonly { way: Way; calls: number; call: () => unknown }[];
  times: Record<Way, number[]>;
};

function makeLane(contest: Contest): Lane {
  const { tariff, facts, handwritten } = contest;
  const book = compilePriceBook(singleVersion(tariff.service, tariff.tariffs));
  const bill = rateBill(book, facts);
  assert.deepEqual(bill.errors, []);
  if (handwritten !== null) assert.deepEqual(handwritten(facts), bill);
  const interpret = () => plainBill(tariff.service, tariff.tariffs, facts);
  assert.equal(BigInt(bill.payableWithinDueDate), interpret().payable);
  return {
    ...contest,
    ways: [
      { way: 'compiled', calls: batches.compiled, call: () => rateBill(book, facts) },
      ...(handwritten === null
        ? []
        : [
            {
              way: 'handwritten',
              calls: batches.handwritten,
              call: () => handwritten(facts),
            } as const,
          ]),
      { way: 'interpreted', calls: batches.interpreted, call: interpret },
    ],
    times: { compiled: [], handwritten: [], interpreted: [] },
  };
}

/** Refuses a contest of two ways that do not make the same bill. */
export function makeLanes(): Lane[] {
  return contests().map(makeLane);
}

/**
 * All tariffs and all ways take turns, as the bills of a server do. A ratio is the median over the
 * rounds, each of which measured both sides right after each other: what slows the processor down
 * then weighs on both. A figure is the best of all rounds.
 */
export async function benchRating(options: BenchOptions): Promise<BenchResult> {
  const lanes = makeLanes();
  const rounds = options.quick ? 12 : 36;
  for (let round = 0; round < rounds; round++) {
    for (const { ways, times } of lanes) {
      for (const { way, calls, call } of ways) times[way].push(timed(calls, call));
    }
  }
  const figures: Record<string, number> = {};
  const ratios = { rating_vs_handwritten: 0, rating_vs_interpreter: Infinity };
  for (const { name, handwritten, times } of lanes) {
    figures[`rating_${name}_us`] = rounded(Math.min(...times.compiled));
    figures[`rating_${name}_interpreter_us`] = rounded(Math.min(...times.interpreted));
    if (handwritten === null) continue;
    figures[`rating_${name}_handwritten_us`] = rounded(Math.min(...times.handwritten));
    const slower = medianRatio(times.compiled, times.handwritten);
    const faster = medianRatio(times.interpreted, times.compiled);
    ratios.rating_vs_handwritten = Math.max(ratios.rating_vs_handwritten, slower);
    ratios.rating_vs_interpreter = Math.min(ratios.rating_vs_interpreter, faster);
  }
  return { ratios, figures };
}

/** The first third of the rounds warms up and does not count. */
function medianRatio(over: readonly number[], under: readonly number[]): number {
  const ratios = over.map((time, round) => time / (under[round] as number));
  const counted = ratios.slice(Math.floor(ratios.length / 3)).sort((a, b) => a - b);
  return rounded(counted[Math.floor(counted.length / 2)] as number);
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}

if (import.meta.main) {
  const { ratios, figures } = await benchRating({ quick: process.argv.includes('--quick') });
  console.table({ ...figures, ...ratios });
}
