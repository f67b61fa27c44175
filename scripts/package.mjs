// node scripts/package.mjs [FOLDER]: packs the server as an npm package, billwright-VERSION.tgz in
// FOLDER (dist). Node refuses TypeScript below node_modules, so the program becomes a few files of
// JavaScript. Libraries stay dependencies, each of the version that package-lock.json has.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outFolder = resolve(process.argv[2] ?? join(root, 'dist'));
/** What the program loads, and what its threads load. */
const programs = [
  'src/main.ts',
  'src/domain/delivery/document-thread.ts',
  'src/domain/delivery/render-thread.ts',
  'src/domain/pricing/calculation-thread.ts',
];
/** Of this library four files are served. It depends on one that reports each installation. */
const bundled = 'swagger-ui-dist';
const bundledFiles = [
  'LICENSE',
  'NOTICE',
  'favicon-32x32.png',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-standalone-preset.js',
  'swagger-ui-standalone-preset.js.LICENSE.txt',
];

const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const own = readJson('package.json');
const library = readJson(`node_modules/${bundled}/package.json`);

/** Each module finds the files beside it where they are in the package. */
const placesMove = {
  name: 'places move',
  setup({ onLoad }) {
    onLoad({ filter: /\/(src|sdk)\/.*\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
        .replaceAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (found, target) => {
          const file = relative(root, join(dirname(path), target));
          if (!file.startsWith('src/')) return found;
          if (!programs.includes(file)) throw new Error(`${path} starts ${file}: add it here`);
          return `new URL('program/${basename(file, '.ts')}.js', placeInPackage(''))`;
        })
        .replaceAll(/import\.meta\.url/g, `placeInPackage('${relative(root, path)}')`);
      return { contents, loader: 'ts' };
    });
  },
};

mkdirSync(outFolder, { recursive: true });
const folder = mkdtempSync(join(outFolder, 'package-'));
try {
  await writeProgram();
  copyFiles();
  writePackage();
  pack();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function writeProgram() {
  await build({
    entryPoints: programs.map((file) => join(root, file)),
    outdir: join(folder, 'program'),
    entryNames: '[name]',
    bundle: true,
    // A command loads only what it needs.
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node26',
    plugins: [placesMove],
    banner: {
      js: "const placeInPackage = (file) => new URL('../' + file, import.meta.url).href;",
    },
  });
}

function copyFiles() {
  const copy = (file, to = file, filter = () => true) =>
    cpSync(join(root, file), join(folder, to), { recursive: true, filter });
  copy('LICENSE');
  copy('packaging/README.md', 'README.md');
  copy('packaging/billwright.mjs', 'bin/billwright.mjs');
  copy('migrations', 'migrations', (file) => basename(file) !== 'schema.sql');
  copy('console/dist', 'console/dist', (file) => basename(file) !== '.built');
  copy('docs', 'docs', (file) => basename(file) !== 'images');
  copy('src/commands/demo/catalogue.json');
  for (const file of bundledFiles) copy(`node_modules/${bundled}/${file}`);
}

function writePackage() {
  const { name, version, license } = library;
  const write = (file, value) =>
    writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);
  write(`node_modules/${bundled}/package.json`, { name, version, license });
  write('package.json', {
    name: own.name,
    version: own.version,
    description: own.description,
    license: own.license,
    type: 'module',
    bin: { billwright: 'bin/billwright.mjs' },
    engines: own.engines,
    dependencies: lockedLibraries(),
    optionalDependencies: own.optionalDependencies,
    bundleDependencies: [bundled],
  });
}

/**
 * The libraries of the program, and theirs: npm reads no lock file of a package that it installs.
 * Tools of developers are left out.
 */
function lockedLibraries() {
  const prefix = 'node_modules/';
  const left = Object.keys(library.dependencies ?? {});
  const locked = Object.entries(readJson('package-lock.json').packages)
    .filter(([path, { dev, optional }]) => path.startsWith(prefix) && !dev && !optional)
    .map(([path, { version }]) => [path.slice(prefix.length), version])
    .filter(([name]) => !name.includes(prefix) && !left.includes(name));
  return Object.fromEntries(locked);
}

function pack() {
  const args = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', outFolder];
  const npm = process.env.npm_execpath;
  const { status } = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], { cwd: folder, stdio: 'inherit' })
    : spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm pack failed; its messages are above');
}
