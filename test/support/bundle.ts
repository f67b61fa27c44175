// The program as a few files (scripts/bundle.mjs), made once for a test run: a process that a test
// starts loads them instead of src/command-line.ts and all that it imports.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Inside of what is installed: libraries are looked for from there. */
const folder = join(root, 'node_modules', '.cache', `program-${process.pid}`);

const variable = 'BILLWRIGHT_TEST_BUNDLE';

/** Makes it and tells every test process, through the environment, where it is. */
export async function makeBundle(): Promise<void> {
  const script = join(root, 'scripts', 'bundle.mjs');
  await promisify(execFile)(process.execPath, [script, folder]);
  process.env[variable] = pathToFileURL(join(folder, 'command-line.js')).href;
}

export function removeBundle(): void {
  rmSync(folder, { recursive: true, force: true });
}
