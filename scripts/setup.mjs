// Installs what is missing or stale, and nothing otherwise. Runs before `npm start`, `npm test` and
// the other scripts, on whatever Node the machine has (20 or newer), so it stays plain JavaScript.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, 'node_modules', '.billwright-installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package.json')))
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform}-${process.arch}`)
  .digest('hex');

if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== wanted) install();
buildConsole();

/** Builds the console where its sources changed since it was built. */
function buildConsole() {
  const folder = join(root, 'console');
  const hash = createHash('sha256').update(wanted);
  for (const file of [...filesIn(folder), ...filesIn(join(root, 'sdk'))]) {
    hash.update(file.slice(root.length)).update(readFileSync(file));
  }
  const state = hash.digest('hex');
  const builtFile = join(folder, 'dist', '.built');
  if (existsSync(builtFile) && readFileSync(builtFile, 'utf8') === state) return;
  console.log('Building the console (once, and again only when it changes) ...');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', join(folder, 'vite.config.ts')];
  const node = join(root, 'node_modules', '.bin', 'node');
  const done = spawnSync(existsSync(node) ? node : process.execPath, args, { stdio: 'inherit' });
  if (done.status !== 0) {
    console.error('The console could not be built; the messages are above.');
    process.exit(done.status ?? 1);
  }
  writeFileSync(builtFile, state);
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'dist')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path) : [path];
    });
}

function install() {
  const npm = process.env.npm_execpath;
  // The node that runs npm, not the one in node_modules, which this very install replaces.
  const node = process.env.npm_node_execpath ?? process.execPath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  console.log('Installing dependencies (once, and again only when they change) ...');
  const done = npm
    ? spawnSync(node, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) {
    console.error('npm ci failed; its messages are above.');
    process.exit(done.status ?? 1);
  }
  writeFileSync(stampFile, wanted);
}
