// Step 7 by eight workers over one, each with one part in hand: as much faster as there are
// processors for them. What they share, numbers above all, must not make them wait for each other.
import { availableParallelism } from 'node:os';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { end, launchWorker, openBillrun, type Place, runStep } from './billrun-scene.ts';
import type { BenchOptions, BenchResult } from './result.ts';

const size = 20_000;
const warmUp = 2_000;
const workersMax = 8;
const body = { operation: 'schedule' as const, data: { termID } };

/** Nothing in a quick run: it says little on few processors. */
export async function benchWorkers(options: BenchOptions): Promise<BenchResult> {
  if (options.quick) return { ratios: {}, figures: {} };
  const env = { WORKER_LANES: '1' };
  const scene = await openBillrun([warmUp, size, size], env, 1);
  const others: Awaited<ReturnType<typeof launchWorker>>[] = [];
  try {
    const [first, alone, together] = scene.places as [Place, Place, Place];
    for (const place of scene.places) {
      await runStep(scene, place, (client) => client.generateBills(body));
    }
    const post = async (place: Place) => {
      await scene.superuser.query('checkpoint');
      return place.size / (await runStep(scene, place, (client) => client.postBills(body)));
    };
    await post(first);
    const byOne = await post(alone);
    while (others.length + 1 < workersMax) {
      others.push(await launchWorker(scene.cluster, scene.databaseName, env));
    }
    const byAll = await post(together);
    return {
      ratios: { post_eight_workers_vs_one: byAll / byOne },
      figures: {
        processors: availableParallelism(),
        post_bills_per_second_one_worker: Math.round(byOne),
        post_bills_per_second_eight_workers: Math.round(byAll),
      },
    };
  } finally {
    for (const worker of others) await end(worker);
    await scene.close();
  }
}

if (import.meta.main) {
  const { ratios, figures } = await benchWorkers({ quick: false });
  console.table({ ...figures, ...ratios });
  await stopOwnCluster();
}
