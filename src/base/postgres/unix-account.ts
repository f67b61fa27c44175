import { stat } from 'node:fs/promises';
import { type Account, runCommand } from './command.ts';

const ownAccountName = 'billwright';
const fallbackAccountName = 'postgres';

// PostgreSQL refuses to run as root, so root lends it another account: the owner of what is there
// already, since only the owner may open it, else one of our own.
export async function chooseAccount(folders: {
  cluster: string;
  data: string;
}): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const clusterOwner = await findOwner(folders.cluster);
  if (clusterOwner === 0) {
    throw new Error(
      `${folders.cluster} belongs to root, and PostgreSQL does not run as root. Give it to an ` +
        `account of its own: chown -R ${ownAccountName} ${folders.cluster}/`,
    );
  }
  const owner = clusterOwner ?? (await findOwner(folders.data));
  if (owner) return getAccountOfOwner(owner, folders.data);
  return (
    (await findAccount(ownAccountName)) ??
    (await createAccount(ownAccountName)) ??
    (await findAccount(fallbackAccountName)) ??
    failWithoutAccount()
  );
}

// Asked of the operating system as that account: permissions, access lists and mount options
// together decide, and only trying takes all of them into account.
export async function canEnter(account: Account | undefined, folder: string): Promise<boolean> {
  const result = await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], account);
  return result.code === 0;
}

async function findOwner(folder: string): Promise<number | undefined> {
  try {
    return (await stat(folder)).uid;
  } catch {
    return undefined;
  }
}

async function getAccountOfOwner(uid: number, folder: string): Promise<Account> {
  const found = await findAccount(String(uid));
  if (found) return found;
  throw new Error(
    `${folder} belongs to user id ${uid}, which has no account on this machine, so PostgreSQL ` +
      'cannot run as it. Create the account or change the owner of the folder.',
  );
}

// By name or by number: `id` knows both, on every Unix, whatever the accounts are kept in.
async function findAccount(nameOrUid: string): Promise<Account | undefined> {
  const [name, uid, gid] = await Promise.all([
    runCommand('id', ['-un', nameOrUid]),
    runCommand('id', ['-u', nameOrUid]),
    runCommand('id', ['-g', nameOrUid]),
  ]);
  if (name.code !== 0 || uid.code !== 0 || gid.code !== 0) return undefined;
  return { name: name.output, uid: Number(uid.output), gid: Number(gid.output) };
}

// The result of useradd is not looked at: another program may have created it at the same moment.
async function createAccount(name: string): Promise<Account | undefined> {
  const shell = '/usr/sbin/nologin';
  await runCommand('useradd', ['--system', '--no-create-home', '--shell', shell, name]);
  return findAccount(name);
}

function failWithoutAccount(): never {
  throw new Error(
    'PostgreSQL does not run as root, and there is no other account to run it as: the account ' +
      `"${ownAccountName}" could not be created and "${fallbackAccountName}" does not exist. ` +
      'Create one of them, start the program as an ordinary user, or set DATABASE_URL.',
  );
}
