import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { runCommand } from './command.ts';
import type { Layout } from './layout.ts';
import { settingsFile } from './settings.ts';

// One cluster, with what it is run by and how.
export type Server = {
  layout: Layout;
  binaries: Binaries;
  settings: Record<string, string>;
  log: (message: string) => void;
};

export function configurationFile(home: string): string {
  return join(home, 'postgresql.conf');
}

export async function writeConfiguration(server: Server): Promise<void> {
  // Whoever can enter the socket's folder is the account itself or root.
  await writeWhole(hbaFile(server), 'local all all trust\n');
  await writeWhole(configurationFile(server.layout.home), await wantedConfiguration(server));
}

// Whether the server was last started with what would be written now.
export async function isConfigurationCurrent(server: Server): Promise<boolean> {
  const found = await readFile(configurationFile(server.layout.home), 'utf8').catch(() => '');
  return found === (await wantedConfiguration(server));
}

async function wantedConfiguration(server: Server): Promise<string> {
  const { cluster, socket, log } = server.layout;
  return settingsFile({
    folders: { cluster, socket, log, hbaFile: hbaFile(server) },
    // The other way to compress costs a bill run a tenth of its time.
    walCompression: (await supportsLz4(server)) ? 'lz4' : 'off',
    extra: server.settings,
  });
}

function hbaFile(server: Server): string {
  return join(server.layout.home, 'pg_hba.conf');
}

// A build option of PostgreSQL: asked for its value it names it or refuses it, without starting.
async function supportsLz4({ layout, binaries }: Server): Promise<boolean> {
  const args = ['-D', layout.cluster, '-C', 'wal_compression', '-c', 'wal_compression=lz4'];
  return (await runCommand(join(binaries.folder, 'postgres'), args, layout.account)).code === 0;
}

async function writeWhole(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  // "wx" because the folder belongs to the account: root must not follow a link planted there.
  const handle = await open(temporary, 'wx');
  try {
    await handle.writeFile(text);
    // The account must be able to read root's file, whatever the umask of this program is.
    await handle.chmod(0o644);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
