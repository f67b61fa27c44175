// Test files one after another in one process: loading the server takes longer than many of them
// do, and what has run before runs faster. Each lane takes the next file that no other has taken.
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const variable = 'BILLWRIGHT_TEST_LANES';

/** Before the lanes are started: where they tell each other what they have taken. */
export function prepareLanes(folder: string): void {
  mkdirSync(folder);
  process.env[variable] = folder;
}

export async function runLane(): Promise<void> {
  const folder = process.env[variable];
  if (!folder) throw new Error('lanes are started by npm test; run a test file by its name');
  for (const file of globSync('{test,src}/**/*.test.ts', { cwd: root }).sort()) {
    if (take(folder, file)) await runFile(file);
  }
}

function take(folder: string, file: string): boolean {
  try {
    mkdirSync(join(folder, encodeURIComponent(file)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** As a suite, so that what the file opens is closed when its last test is over. */
function runFile(file: string): Promise<void> {
  return new Promise((resolve) => {
    suite(file, async () => {
      after(() => resolve());
      await import(pathToFileURL(join(root, file)).href);
    });
  });
}
