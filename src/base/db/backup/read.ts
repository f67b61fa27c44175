// Reads a backup file: first all of it, to check that it is whole and unchanged, then its tables.
import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DamagedArchive, type Member, readArchive } from './archive.ts';
import {
  BackupError,
  type BackupHead,
  type BackupKind,
  formatVersion,
  headName,
  type Manifest,
  manifestName,
  type TableSum,
  tableOfPiece,
} from './format.ts';

const decompress = promisify(gunzip);
/** Far more than the program puts into one piece: a single row may be long. */
const pieceBytesMax = 512 * 1024 * 1024;

export type CheckedBackup = { path: string; head: BackupHead; sums: TableSum[] };

/** Throws BackupError if the file is not a backup of this kind, is incomplete or was changed. */
export async function checkBackup(
  path: string,
  kind: BackupKind,
  onBytes?: (bytes: number) => void,
): Promise<CheckedBackup> {
  try {
    return await check(path, kind, onBytes);
  } catch (error) {
    if (error instanceof DamagedArchive) {
      throw new BackupError(`${path} cannot be used: ${error.message}.`);
    }
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new BackupError(`There is no file ${path}.`);
    }
    throw error;
  }
}

async function check(
  path: string,
  kind: BackupKind,
  onBytes?: (bytes: number) => void,
): Promise<CheckedBackup> {
  const refuse = (reason: string) => new DamagedArchive(reason);
  let head: BackupHead | undefined;
  let headHash = '';
  let manifest: Manifest | undefined;
  const found = new Map<string, { hash: Hash; bytes: number; pieces: number }>();
  for await (const member of readArchive(path)) {
    onBytes?.(member.bytes.length);
    if (manifest) throw refuse(`it has a part after ${manifestName}`);
    if (!head) {
      head = headFrom(path, member, kind);
      headHash = createHash('sha256').update(member.bytes).digest('hex');
      for (const { name } of head.tables) {
        found.set(name, { hash: createHash('sha256'), bytes: 0, pieces: 0 });
      }
      continue;
    }
    if (member.name === manifestName) {
      manifest = jsonOf<Manifest>(member);
      continue;
    }
    const piece = tableOfPiece(member.name);
    const table = piece && found.get(piece.table);
    if (!table || piece.number !== table.pieces + 1) throw refuse(`${member.name} is unexpected`);
    const bytes = await unpacked(member);
    table.hash.update(bytes);
    table.bytes += bytes.length;
    table.pieces += 1;
  }
  if (!head || !manifest) throw refuse('it ends too early');
  if (manifest.head !== headHash) throw refuse(`${headName} was changed`);
  if (manifest.tables.length !== found.size) throw refuse(`${manifestName} was changed`);
  for (const sum of manifest.tables) {
    const table = found.get(sum.name);
    if (table?.hash.digest('hex') !== sum.sha256 || table.bytes !== sum.bytes) {
      throw refuse(`the content of table ${sum.name} is not the one that was written (SHA-256)`);
    }
  }
  return { path, head, sums: manifest.tables };
}

function headFrom(path: string, member: Member, kind: BackupKind): BackupHead {
  if (member.name !== headName) throw new DamagedArchive('it is not a backup of Billwright');
  const head = jsonOf<BackupHead>(member);
  if (head.format !== formatVersion) {
    throw new BackupError(
      `${path} was made by a newer Billwright (${head.program}). Use that version.`,
    );
  }
  if (head.kind !== kind) {
    const is =
      head.kind === 'Workspace'
        ? `the workspace '${head.workspace}': use billwright workspace import`
        : 'a whole database: use billwright restore';
    throw new BackupError(`${path} contains ${is}.`);
  }
  return head;
}

function jsonOf<T>(member: Member): T {
  try {
    return JSON.parse(member.bytes.toString()) as T;
  } catch {
    throw new DamagedArchive(`${member.name} is damaged`);
  }
}

async function unpacked(member: Member): Promise<Buffer> {
  try {
    return await decompress(member.bytes, { maxOutputLength: pieceBytesMax });
  } catch {
    throw new DamagedArchive(`${member.name} is damaged`);
  }
}

/** The pieces of all tables, in the order of the file. */
export async function* tablePiecesOf(
  path: string,
): AsyncGenerator<{ table: string; bytes: Buffer }> {
  for await (const member of readArchive(path)) {
    const piece = tableOfPiece(member.name);
    if (piece) yield { table: piece.table, bytes: await unpacked(member) };
  }
}
