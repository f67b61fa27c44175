import { postBillsStep } from '../../src/billrun/post.ts';
import type { TestClient } from './client.ts';
import { runStep, whileCrew } from './run-steps.ts';
import type { Scene } from './scene.ts';

/**
 * Posts a term of which every bill is left out. The operation refuses this where no other bill is
 * there; for what follows, it makes no difference whether others were posted.
 */
export async function postNothing(
  { scene, client }: { scene: Scene; client: TestClient },
  termId: number,
): Promise<{ message: string }> {
  return whileCrew(scene, client.workspace, (crew) =>
    runStep(crew, postBillsStep, { termId, isUnguarded: true }),
  );
}
