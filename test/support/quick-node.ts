import { fileURLToPath } from 'node:url';

/** Options with which a process of Node loads the program in three quarters of the time. */
export const quickNode = [
  // A young heap that begins with a megabyte is collected all the time.
  '--min-semi-space-size=16',
  // What npm installs has no links: looking for them takes as long as reading the files.
  '--preserve-symlinks',
];

/**
 * For a process that runs many files of tests: most of what they make is dead before so large a
 * young heap is full, and threads that collect it take the processors of others.
 */
export const quickTests = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--no-parallel-scavenge',
  '--preserve-symlinks',
];

/** For src/main.ts, which loads the bundle of the test run. */
export const quickProgram = [
  ...quickNode,
  '--import',
  fileURLToPath(new URL('use-bundle.ts', import.meta.url)),
];
