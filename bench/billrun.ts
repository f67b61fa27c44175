// Steps 6 and 7 of a bill run, done by real workers over HTTP, one for each processor, beside their
// floors: a bare COPY of the same bills and a bare `insert ... select` of the same entries, in a copy
// of the database. Each round does one after the other on a workspace that nothing was done to before.
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import {
  copyFloor,
  entriesFloor,
  naiveSeconds,
  type PreparedRows,
  prepareRows,
} from './billrun-floors.ts';
import { type BillrunScene, openBillrun, type Place, runStep } from './billrun-scene.ts';
import { benchDelivery, openPost } from './delivery.ts';
import { type BenchOptions, type BenchResult, tell } from './result.ts';

const body = { operation: 'schedule' as const, data: { termID } };
const naiveBills = 500;
/** Bills by which the workers get up to speed before anything counts: 40,000 for each of two. */
const warmUp = 80_000;

type Round = {
  size: number;
  generate: Cost;
  generateFloor: Cost;
  post: Cost;
  postFloor: Cost;
  naive: number;
};

/** Seconds by the clock, and microseconds of processor time for each bill: of Node, of PostgreSQL. */
type Cost = { seconds: number; nodeUs: number; postgresUs: number };

/** Bills of larger terms than `deliverMax` are made and posted, and not published and sent. */
export async function benchBillrun(
  options: BenchOptions & { deliverMax?: number },
): Promise<BenchResult> {
  if (options.quick) {
    const quick = await measure(warmUp, [5_000], { isDelivered: false });
    return { ratios: ratiosOf(quick.rounds), figures: figuresOf(quick) };
  }
  const { deliverMax = Infinity } = options;
  const measureSize = (size: number, rounds: number) =>
    measure(warmUp, Array(rounds).fill(size), { isDelivered: size <= deliverMax });
  const small = await measureSize(10_000, 3);
  const middle = await measureSize(50_000, 1);
  const large = await measureSize(200_000, 1);
  const all = [small, middle, large];
  const delivered = (name: string) =>
    median(all.flatMap(({ delivery }) => delivery.ratios[name] ?? []));
  const perBill = ({ rounds }: Measured) =>
    median(rounds.map((round) => (round.generate.seconds + round.post.seconds) / round.size));
  return {
    ratios: {
      ...ratiosOf(all.flatMap(({ rounds }) => rounds)),
      growth_10k_200k: perBill(large) / perBill(small),
      memory_flat: large.peakMb / small.peakMb,
      publish_vs_rendering: delivered('publish_vs_rendering'),
      distribute_vs_mailing: delivered('distribute_vs_mailing'),
      ...deliveryMemory(all),
    },
    figures: Object.assign({}, ...all.map(figuresOf)),
  };
}

/** Of the largest term that was published and sent over that of the smallest. */
function deliveryMemory(all: readonly Measured[]): Record<string, number> {
  const peaks = all.flatMap(({ size, delivery }) => {
    const peakMb = delivery.figures[`worker_delivery_peak_mb_${size / 1_000}k`];
    return peakMb === undefined ? [] : [peakMb];
  });
  const [first, last] = [peaks[0], peaks.at(-1)];
  if (peaks.length < 2 || first === undefined || last === undefined) return {};
  return { delivery_memory_flat: last / first };
}

const noDelivery: BenchResult = { ratios: {}, figures: {} };

type Measured = { size: number; rounds: Round[]; peakMb: number; delivery: BenchResult };

/** A round for each size; the bills of the last one are published and sent as well, where asked. */
async function measure(
  first: number,
  sizes: readonly number[],
  { isDelivered }: { isDelivered: boolean },
): Promise<Measured> {
  const post = await openPost();
  const scene = await openBillrun([first, ...sizes], post.env);
  try {
    const [warming, ...places] = scene.places as [Place, ...Place[]];
    await roundOf(scene, warming);
    const rounds: Round[] = [];
    for (const place of places) rounds.push(await roundOf(scene, place));
    // Before anything is rendered, which takes memory of its own.
    const peakMb = scene.peakMb();
    const size = Math.max(...sizes);
    const done = { size, rounds, peakMb };
    tell(figuresOf({ ...done, delivery: noDelivery }));
    const last = places.at(-1);
    const delivery = isDelivered && last ? await benchDelivery(scene, last, post) : noDelivery;
    return { ...done, delivery };
  } finally {
    await scene.close();
    await post.close();
  }
}

async function roundOf(scene: BillrunScene, place: Place): Promise<Round> {
  // What was written before is written out now, and not while something is measured.
  await scene.superuser.query('checkpoint');
  const generate = await costOf(scene, place, 'worker', () =>
    runStep(scene, place, (client) => client.generateBills(body)),
  );
  const prepared: PreparedRows = await prepareRows(scene, place);
  const generateFloor = await costOf(scene, place, 'bench', () =>
    copyFloor(scene, place, prepared),
  );
  const post = await costOf(scene, place, 'worker', () =>
    runStep(scene, place, (client) => client.postBills(body)),
  );
  const postFloor = await costOf(scene, place, 'bench', () => entriesFloor(scene, place));
  const naive = await naiveSeconds(scene, place, naiveBills);
  return { size: place.size, generate, generateFloor, post, postFloor, naive };
}

async function costOf(
  scene: BillrunScene,
  place: Place,
  by: 'worker' | 'bench',
  work: () => Promise<number>,
): Promise<Cost> {
  const before = scene.cpu();
  const seconds = await work();
  const after = scene.cpu();
  return {
    seconds,
    nodeUs: (after[by] - before[by]) / place.size,
    postgresUs: (after.postgres - before.postgres) / place.size,
  };
}

/** Of all rounds together: each counts by its bills. */
function ratiosOf(rounds: readonly Round[]): Record<string, number> {
  const sum = (pick: (round: Round) => number) =>
    rounds.reduce((total, round) => total + pick(round), 0);
  const generate = sum((round) => round.generate.seconds);
  return {
    generate_vs_floor: sum((round) => round.generateFloor.seconds) / generate,
    generate_vs_naive: sum((round) => round.naive * round.size) / generate,
    post_vs_floor: sum((round) => round.postFloor.seconds) / sum((round) => round.post.seconds),
  };
}

function figuresOf({ size, rounds, peakMb, delivery }: Measured): Record<string, number> {
  const figures: Record<string, number> = {};
  const at = `${size / 1_000}k`;
  const figure = (name: string, pick: (round: Round) => number) => {
    figures[`${name}_${at}`] = Math.round(median(rounds.map(pick)));
  };
  const cost = (name: string, pick: (round: Round) => Cost) => {
    figure(`${name}_per_second`, (round) => size / pick(round).seconds);
    figure(`${name}_node_cpu_us`, (round) => pick(round).nodeUs);
    figure(`${name}_postgres_cpu_us`, (round) => pick(round).postgresUs);
  };
  cost('generate_bills', (round) => round.generate);
  cost('generate_floor_bills', (round) => round.generateFloor);
  figure('generate_naive_bills_per_second', (round) => 1 / round.naive);
  cost('post_bills', (round) => round.post);
  cost('post_floor_entries', (round) => round.postFloor);
  figure('generate_and_post_ms', ({ generate, post }) => (generate.seconds + post.seconds) * 1e3);
  figures[`worker_peak_mb_${at}`] = peakMb;
  for (const [name, ratio] of Object.entries(ratiosOf(rounds))) {
    figures[`${name}_${at}`] = Math.round(ratio * 100) / 100;
  }
  return { ...figures, ...delivery.figures };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      sizes: { type: 'string' },
      deliver: { type: 'boolean', default: false },
      'deliver-max': { type: 'string', default: 'Infinity' },
    },
  });
  const began = performance.now();
  if (values.sizes) {
    const sizes = values.sizes.split(',').map(Number);
    const measured = await measure(warmUp, sizes, { isDelivered: values.deliver });
    const ratios = { ...ratiosOf(measured.rounds), ...measured.delivery.ratios };
    console.table({ ...figuresOf(measured), ...ratios });
  } else {
    const { ratios, figures } = await benchBillrun({
      quick: values.quick,
      deliverMax: Number(values['deliver-max']),
    });
    console.table({ ...figures, ...ratios });
  }
  process.stderr.write(`${Math.round((performance.now() - began) / 1_000)} seconds\n`);
  await stopOwnCluster();
}
