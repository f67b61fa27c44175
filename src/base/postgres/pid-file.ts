import { link, readFile, readlink, rename, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from './command.ts';
import { isAlive } from './living-process.ts';

export type Postmaster = { pid: number; socket: string | undefined };

// Whose process a pid file names. A pid is used again by others after a crash, so a living process
// proves nothing: it must be PostgreSQL, in this very folder.
type Identity = 'ours' | 'other' | 'dead' | 'unknown';

// The server process of this cluster, running, starting or stopping; undefined if it does not run.
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readIfThere(join(cluster, 'postmaster.pid'));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = parsePid(text);
  if (pid === undefined || !(await isPostmaster(pid, cluster))) return undefined;
  return { pid, socket: lines[4] || undefined };
}

export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  return (await identify(pid, cluster)) === 'ours';
}

// PostgreSQL itself takes over from a dead pid but refuses to start for a living one, whoever that
// is. Both of its lock files are removed if the process they name is not PostgreSQL of this folder.
export async function removeStaleLocks(
  cluster: string,
  socketFolder: string,
  log: (message: string) => void,
): Promise<void> {
  const files = [join(cluster, 'postmaster.pid'), join(socketFolder, '.s.PGSQL.5432.lock')];
  for (const file of files) {
    const text = await readIfThere(file);
    const pid = parsePid(text);
    if (text === undefined || pid === undefined) continue;
    if ((await identify(pid, cluster)) !== 'other') continue;
    log(`${file} names process ${pid}, which is not PostgreSQL of this folder; removing the file`);
    await removeIfUnchanged(file, text);
  }
}

async function identify(pid: number, cluster: string): Promise<Identity> {
  if (!isAlive(pid)) return 'dead';
  if (process.platform !== 'linux') return identifyByCommandLine(pid, cluster);
  try {
    // PostgreSQL works in its data folder. "(deleted)" follows the name of a program whose file was
    // replaced, as by a new npm ci.
    const [folder, program] = await Promise.all([
      readlink(`/proc/${pid}/cwd`),
      readlink(`/proc/${pid}/exe`),
    ]);
    const isPostgres = basename(program.replace(/ \(deleted\)$/, '')) === 'postgres';
    return isPostgres && folder === cluster ? 'ours' : 'other';
  } catch (error) {
    // Gone or a zombie: ENOENT. Not ours to look at: another user's, so not PostgreSQL of this
    // folder, unless the system hides even one's own; PostgreSQL then decides by its own rules.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'other' : 'unknown';
  }
}

async function identifyByCommandLine(pid: number, cluster: string): Promise<Identity> {
  const { code, output } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  if (code !== 0) return 'unknown';
  return output.includes('postgres') && output.includes(cluster) ? 'ours' : 'other';
}

// Between reading and removing, another program may have removed the stale file and started
// PostgreSQL, whose new file must not be lost: it is moved aside, looked at, and put back.
async function removeIfUnchanged(file: string, text: string): Promise<void> {
  const aside = `${file}.stale-${process.pid}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    if ((await readFile(aside, 'utf8')) !== text) await link(aside, file);
  } finally {
    await unlink(aside);
  }
}

function parsePid(text: string | undefined): number | undefined {
  const pid = Math.abs(Number.parseInt(text ?? '', 10));
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
