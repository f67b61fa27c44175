// The program, and the workers that tests start as processes, as a few files (scripts/bundle.mjs),
// made once for a test run: a process loads them instead of a thousand files.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Inside of what is installed: libraries are looked for from there. */
const folder = join(root, 'node_modules', '.cache', `program-${process.pid}`);

const variable = 'BILLWRIGHT_TEST_BUNDLE';

/** Makes it and tells every test process, through the environment, where it is. */
export async function makeBundle(): Promise<void> {
  const script = join(root, 'scripts', 'bundle.mjs');
  await promisify(execFile)(process.execPath, [script, folder]);
  process.env[variable] = folder;
}

/** Where to start a file of this repository: bundled, if it is in the bundle of this test run. */
export function startable(file: string): string {
  const bundle = process.env[variable];
  return bundle ? join(bundle, file.replace(/\.ts$/, '.js')) : join(root, file);
}

export function removeBundle(): void {
  rmSync(folder, { recursive: true, force: true });
}
