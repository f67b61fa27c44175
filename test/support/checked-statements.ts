// Statements that were found to keep the rules for SQL, remembered by their hashes: to parse the
// statements of the whole server takes a second, which each process of each run would spend again.
import { createHash } from 'node:crypto';
import { appendFileSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const usualFolder = join(root, 'node_modules', '.cache', 'statements');

/** All that decides whether a statement keeps the rules. A change of it forgets all statements. */
const deciding = [
  'package-lock.json',
  'migrations/*.sql',
  'test/support/{checked-statements,recorded-statements,statement-*}.ts',
];

export type CheckedStatements = {
  /** Those that neither this nor another process has found to keep the rules. */
  unknownOf(texts: readonly string[]): string[];
  remember(texts: readonly string[]): void;
};

export function openCheckedStatements(folder = usualFolder): CheckedStatements {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, hashOf(decidingTexts()));
  return {
    unknownOf(texts) {
      const known = new Set(readLines(file));
      return texts.filter((text) => !known.has(hashOf(text)));
    },
    remember(texts) {
      // One write: lines of several processes do not mix.
      if (texts.length > 0) appendFileSync(file, texts.map((text) => `${hashOf(text)}\n`).join(''));
    },
  };
}

function decidingTexts(): string {
  const files = globSync(deciding, { cwd: root }).toSorted();
  return files.map((file) => `${file}\n${readFileSync(join(root, file), 'utf8')}`).join('\n');
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
