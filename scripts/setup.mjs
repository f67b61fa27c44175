// Installs what is missing or stale, and nothing otherwise. Runs before `npm start`, `npm test` and
// the other scripts, on whatever Node the machine has (20 or newer), so it stays plain JavaScript.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
