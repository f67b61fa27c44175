// Files of tests that share a process, one after the other, and the figures of each.
import { appendFileSync } from 'node:fs';
import { describe } from 'node:test';

let isGrouped = false;

/** Whether the files of this process share what they open. */
export function isInGroup(): boolean {
  return isGrouped;
}

/** Each file is a suite, with hooks of its own, that ends before the next begins. */
export async function runFiles(
  figuresFile: string,
  files: readonly (readonly [file: string, url: string])[],
): Promise<void> {
  isGrouped = true;
  for (const [file, url] of files) {
    const begun = performance.now();
    const used = process.cpuUsage();
    await describe(file, () => import(url));
    const { user, system } = process.cpuUsage(used);
    const figures = {
      file,
      seconds: (performance.now() - begun) / 1000,
      processorSeconds: (user + system) / 1e6,
    };
    appendFileSync(figuresFile, `${JSON.stringify(figures)}\n`);
  }
  // No hook of the process does this: the shared server keeps it from coming to an end.
  const { closeSharedWorld } = await import('./world.ts');
  await closeSharedWorld();
}
