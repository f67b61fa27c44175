import { readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

// Together with log_rotation_size this bounds the log at about 100 MB.
const logFilesMax = 10;
const startLogAgeMaxMs = 24 * 60 * 60_000;
const tailLines = 20;

// What PostgreSQL wrote before its own logging began: why it did not start.
export async function readStartLog(file: string): Promise<string> {
  return lastLines(await readFile(file, 'utf8').catch(() => ''));
}

export async function serverLogTail(folder: string): Promise<string> {
  const newest = (await listLogs(folder)).at(-1);
  return newest ? lastLines(await readFile(join(folder, newest), 'utf8').catch(() => '')) : '';
}

// PostgreSQL begins new log files but never removes one.
export async function pruneLogs(folder: string): Promise<void> {
  for (const name of (await listLogs(folder)).slice(0, -logFilesMax)) {
    await unlink(join(folder, name)).catch(() => {});
  }
  for (const name of (await readdir(folder)).filter((name) => name.startsWith('start-'))) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found || Date.now() - found.mtimeMs < startLogAgeMaxMs) continue;
    await unlink(join(folder, name)).catch(() => {});
  }
}

// Their names are times, so the order of names is the order of time.
async function listLogs(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith('postgresql-')).sort();
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-tailLines).join('\n');
}
