// Steps 6 and 7 of a bill run, done by real workers over HTTP, one for each processor, beside their
// floors: a bare COPY of the same bills and a bare `insert ... select` of the same entries, in a
// copy of the database. Each round does one after the other on a workspace that nothing was done to
// before.
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { type Cost, figuresOf, median, type Round, ratiosOf, sizeName } from './billrun-figures.ts';
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

/** Bills of larger terms than `deliverMax` are made and posted, and not published and sent. */
export async function benchBillrun(
  options: BenchOptions & { deliverMax?: number },
): Promise<BenchResult> {
  if (options.quick) {
    const quick = await measure(warmUp, [5_000], { isDelivered: false });
    return { ratios: ratiosOf(quick.rounds), figures: allFigures(quick) };
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
    figures: Object.assign({}, ...all.map(allFigures)),
  };
}

/** The peak of the largest term that was published and sent over that of the smallest. */
function deliveryMemory(all: readonly Measured[]): Record<string, number> {
  const peaks = all.flatMap(({ size, delivery }) => {
    const peakMb = delivery.figures[`worker_delivery_peak_mb_${sizeName(size)}`];
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
    tell(allFigures({ ...done, delivery: noDelivery }));
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

/** The peak of memory is of all rounds, so that it belongs to the largest. */
function allFigures({ size, rounds, peakMb, delivery }: Measured): Record<string, number> {
  const peak = { [`worker_peak_mb_${sizeName(size)}`]: peakMb };
  return { ...figuresOf(rounds), ...peak, ...delivery.figures };
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
    const last = sizeName(sizes.at(-1) ?? 0);
    const ratios = Object.entries(measured.delivery.ratios).map(([name, ratio]) => [
      `${name}_${last}`,
      ratio,
    ]);
    console.table({ ...allFigures(measured), ...Object.fromEntries(ratios) });
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
