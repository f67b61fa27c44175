// node scripts/bundle.mjs FOLDER: writes the program as a few files instead of a thousand, which
// load in half the time. Tests start the program a hundred times, and workers of their own as
// often. What loads files by their place keeps its own: threads, fonts, migrations.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Of the libraries only the one that has most files: the others load files of their own. */
const bundledLibraries = /^typebox(\/|$)/;

/** What tests start as a process of its own. */
const programs = [
  'src/command-line.ts',
  'test/support/doomed-worker.ts',
  'test/support/nightly-worker.ts',
];

const librariesStay = {
  name: 'libraries stay where they are',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || bundledLibraries.test(path) ? undefined : { path, external: true },
    );
  },
};

const placesStay = {
  name: 'each module finds the files that are beside it in src and test',
  setup({ onLoad }) {
    onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, ({ path }) => {
      const place = JSON.stringify(pathToFileURL(path).href);
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', place);
      return { contents, loader: 'ts' };
    });
  },
};

await build({
  entryPoints: programs.map((file) => join(root, file)),
  outbase: root,
  outdir: process.argv[2],
  bundle: true,
  // A command loads only what it needs, as it does from src.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  plugins: [librariesStay, placesStay],
});
