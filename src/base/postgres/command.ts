import { spawn } from 'node:child_process';

// The account PostgreSQL runs as. Undefined everywhere means: the account of this program itself.
export type Account = { name: string; uid: number; gid: number };

export type CommandResult = { code: number; output: string };

const outputMax = 64 * 1024;

// PostgreSQL's programs read PG* variables and translate their messages; neither may depend on the
// shell that happens to start the server, so they get an environment of their own.
export const cleanEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

// Runs a program to its end, as the account if one is given. The working folder is the root folder
// because the program's own may be closed to that account, and initdb insists on entering it.
export function runCommand(
  file: string,
  args: string[],
  account?: Account,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: '/',
      env: cleanEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(account && { uid: account.uid, gid: account.gid }),
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-outputMax);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 128, output: output.trim() }));
  });
}
