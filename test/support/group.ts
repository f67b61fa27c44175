// Files of tests that share a process, one after the other, and the figures of each.
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'node:test';

/** So many files of a folder share a database: one with few rows answers sooner. */
const filesPerWorld = 25;
/** Workers of these files look at all workspaces of a database: each file has its own. */
const ownWorlds = 'test/faults';

let isGrouped = false;
let closeWorld = async () => {};

/** Whether the files of this process share what they open. */
export function isInGroup(): boolean {
  return isGrouped;
}

/** What the files of this process share is closed by this, once they have ended. */
export function closeSharedBy(close: () => Promise<void>): void {
  closeWorld = close;
}

export type FileList = {
  figuresFile: string;
  /** Has an empty file for each that a process has taken. */
  takenFolder: string;
  files: readonly (readonly [file: string, url: string])[];
};

/** Each file is a suite, with hooks of its own, that ends before the next begins. */
export async function runFiles({ figuresFile, takenFolder, files }: FileList): Promise<void> {
  isGrouped = true;
  let folder: string | undefined;
  let sharing = 0;
  for (const [index, [file, url]] of files.entries()) {
    if (!take(join(takenFolder, String(index)))) continue;
    if (dirname(file) !== folder || sharing === filesPerWorld || folder === ownWorlds) {
      await closeWorld();
      folder = dirname(file);
      sharing = 0;
    }
    sharing += 1;
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
  await closeWorld();
}

/** False if another process has taken it. */
function take(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
