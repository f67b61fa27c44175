// Where Chromium is: named by the environment, installed, or unpacked from its npm package.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installedAt = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of the program; undefined where the machine has none and the package does not fit it. */
export function chromiumProgram(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== '') return named;
  return installedAt.find((path) => existsSync(path)) ?? unpackedProgram();
}

/** The package has a program for Linux on x64 only. */
function unpackedProgram(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const installed = fileURLToPath(import.meta.resolve('@sparticuz/chromium'));
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
  const folder = join(cache, `chromium-${process.arch}`);
  const program = join(folder, 'chromium');
  if (!existsSync(program)) unpack({ installed, folder });
  return program;
}

/**
 * The package unpacks into the folder for temporary files and takes any file there for a finished
 * one. Processes of tests begin at the same time, so each unpacks into a folder of its own, and the
 * first to finish gives it the name.
 */
function unpack({ installed, folder }: { installed: string; folder: string }): void {
  mkdirSync(dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  const script = 'await (await import(process.argv[1])).default.executablePath()';
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script, installed],
    { env: { ...process.env, TMPDIR: own }, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`Chromium could not be unpacked: ${stderr}`);
  try {
    renameSync(own, folder);
  } catch {
    rmSync(own, { recursive: true });
  }
}
