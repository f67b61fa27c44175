import { createHash } from 'node:crypto';
import { chmod, lchown, lstat, mkdir, readdir, realpath, rmdir, symlink } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Account } from './command.ts';
import { canEnter, chooseAccount } from './unix-account.ts';

// Where everything of one cluster is. `home` holds the rest:
//   cluster/  PostgreSQL's own data folder, made complete or not at all
//   socket/   the Unix socket; its mode 0700 is what guards the cluster
//   log/      server log
export type Layout = {
  dataFolder: string;
  home: string;
  cluster: string;
  log: string;
  socket: string;
  account: Account | undefined;
};

// Root's folder for what an account cannot reach where the program is.
export const sharedFolder = '/var/lib/billwright';

const socketFileName = '.s.PGSQL.5432';
// sun_path has 108 bytes with its closing zero; on macOS 104, so the smaller one for both.
const socketPathMax = 103;
const earlierHomesMax = 1000;

export async function prepareLayout(
  dataFolder: string,
  log: (message: string) => void,
): Promise<Layout> {
  const account = await chooseAccount({
    data: dataFolder,
    cluster: join(dataFolder, 'postgres', 'cluster'),
  });
  await createDataFolder(dataFolder, account);
  const home = await prepareHome(await realpath(dataFolder), account, log);
  const layout = {
    dataFolder,
    home,
    cluster: join(home, 'cluster'),
    log: join(home, 'log'),
    socket: await chooseSocketFolder(home, account),
    account,
  };
  await createFolder(layout.log, account);
  await createFolder(layout.socket, account);
  await checkSocketFolder(layout.socket, account);
  return layout;
}

// Says in words what a refused file operation means; other errors speak for themselves.
export function explainFileError(error: unknown, folder: string): Error {
  const cause = error as NodeJS.ErrnoException;
  const path = cause.path ?? folder;
  if (cause.code === 'EACCES' || cause.code === 'EPERM') {
    const message =
      `no permission for ${path} as user "${userInfo().username}"; if another account made it, ` +
      'start the program as that account';
    return new Error(message, { cause });
  }
  if (cause.code === 'ENOSPC') return new Error(`the disk of ${path} is full`, { cause });
  if (cause.code === 'EROFS') return new Error(`${path} is on a read-only disk`, { cause });
  return cause;
}

// A new one goes to the account: as root's, with mode 700, it would be closed to PostgreSQL. One
// that exists stays as its owner made it.
async function createDataFolder(folder: string, account: Account | undefined): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  await createFolder(folder, account);
}

export async function createFolder(folder: string, account: Account | undefined): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // Also for one that exists: the program may have been killed between the two steps.
  if (account && (await isFolderOfRoot(folder))) await lchown(folder, account.uid, account.gid);
}

// Other accounts can enter it, whatever the umask of this program is.
export async function createOpenFolder(folder: string): Promise<void> {
  if (await mkdir(folder, { recursive: true })) await chmod(folder, 0o755);
}

async function isFolderOfRoot(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  return found.isDirectory() && found.uid === 0;
}

async function prepareHome(
  dataFolder: string,
  account: Account | undefined,
  log: (message: string) => void,
): Promise<string> {
  const place = join(dataFolder, 'postgres');
  if ((await exists(place)) || (await canEnter(account, dataFolder))) {
    await createFolder(place, account);
  } else {
    await createHomeElsewhere(place, account, log);
  }
  const home = await resolveHome(place);
  if (account && !(await canEnter(account, home))) {
    throw new Error(
      `the account "${account.name}", to which the database belongs, cannot enter ${home}: a ` +
        'folder above it is closed to it. Open that folder (chmod o+x) or move the data folder.',
    );
  }
  return home;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

// A link to nowhere means that the database was moved or lost. Starting empty would hide that.
async function resolveHome(place: string): Promise<string> {
  try {
    return await realpath(place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `${place} is a link to a folder that does not exist. Bring the database back there, or ` +
        'remove the link to begin with an empty one.',
      { cause: error },
    );
  }
}

async function createHomeElsewhere(
  place: string,
  account: Account | undefined,
  log: (message: string) => void,
): Promise<void> {
  await createOpenFolder(sharedFolder);
  const home = await chooseUnusedHome(shortHash(dirname(place)), log);
  await createFolder(home, account);
  try {
    await symlink(home, place);
    log(`the account "${account?.name}" cannot reach ${place}; the database is in ${home}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another program linked first. If that was to the same folder it may already be in use: an
    // empty one is removed and one that is not stays.
    if ((await realpath(place)) !== home) await rmdir(home).catch(() => {});
  }
}

// A data folder that was removed leaves its database here. It is neither shown again under a new
// folder of the same name, which its owner expects to be empty, nor deleted.
async function chooseUnusedHome(hash: string, log: (message: string) => void): Promise<string> {
  for (let number = 1; number <= earlierHomesMax; number++) {
    const home = join(sharedFolder, number === 1 ? hash : `${hash}-${number}`);
    if (!(await exists(home)) || (await readdir(home)).length === 0) return home;
    log(`a database of an earlier data folder of this name is kept in ${home}`);
  }
  throw new Error(`too many databases of earlier data folders in ${sharedFolder}`);
}

async function chooseSocketFolder(home: string, account: Account | undefined): Promise<string> {
  const inside = join(home, 'socket');
  if (Buffer.byteLength(join(inside, socketFileName)) <= socketPathMax) return inside;
  const parent = (await canEnter(account, tmpdir())) ? tmpdir() : '/tmp';
  return join(parent, `billwright-${shortHash(home)}`);
}

// Every account can write to the folder of temporary files: a folder of this name that another
// account owns is a trap.
async function checkSocketFolder(folder: string, account: Account | undefined): Promise<void> {
  const found = await lstat(folder);
  const owner = account?.uid ?? process.getuid?.();
  if (found.isDirectory() && found.uid === owner && (found.mode & 0o077) === 0) return;
  throw new Error(
    `${folder} must be a folder of mode 0700 that belongs to user id ${owner}, because it guards ` +
      'the database; it is not. Remove it and start again.',
  );
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
