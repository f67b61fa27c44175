// npm run clients [-- FOLDER]: the packages for clients of the API. JavaScript with types as a file
// for npm, Python as a project for pip, and a collection for Postman.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describedOperations } from './description.ts';
import { postmanCollection } from './postman.ts';
import { pythonModule } from './python.ts';
import { javaScriptReadme, pythonProject, pythonReadme } from './readmes.ts';
import { typeScriptTypes } from './typescript.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  license: string;
};

const folder = resolve(process.argv[2] ?? join(root, 'dist', 'clients'));
const operations = describedOperations();
rmSync(join(folder, 'javascript'), { recursive: true, force: true });
rmSync(join(folder, 'python'), { recursive: true, force: true });
const packed = await makeJavaScript(join(folder, 'javascript'));
makePython(join(folder, 'python'));
const collection = join(folder, 'billwright.postman_collection.json');
writeFileSync(collection, `${JSON.stringify(postmanCollection(operations), null, 2)}\n`);
for (const made of [packed, join(folder, 'python'), collection]) console.log(made);

async function makeJavaScript(place: string): Promise<string> {
  mkdirSync(place, { recursive: true });
  await build({
    entryPoints: {
      index: join(root, 'sdk/make/browser.ts'),
      node: join(root, 'sdk/make/node.ts'),
    },
    outdir: place,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    external: ['node:http'],
    target: 'es2022',
  });
  declareTypesOfCalls(place);
  writeFileSync(join(place, 'index.d.ts'), typeScriptTypes(operations));
  copyFileSync(join(root, 'LICENSE'), join(place, 'LICENSE'));
  writeFileSync(join(place, 'README.md'), javaScriptReadme);
  const manifest = {
    name: '@billwright/client',
    version,
    description: 'Typed client for the Billwright billing API',
    license,
    type: 'module',
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', node: './node.js', default: './index.js' } },
    types: './index.d.ts',
    sideEffects: false,
  };
  writeFileSync(join(place, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const npm = process.env.npm_execpath;
  const pack = ['pack', '--silent', '--pack-destination', folder];
  // The node that runs npm: the project's own is newer than some releases of npm can use.
  const node = process.env.npm_node_execpath ?? process.execPath;
  const options = { cwd: place, encoding: 'utf8' } as const;
  const name = npm
    ? execFileSync(node, [npm, ...pack], options)
    : execFileSync('npm', pack, options);
  return join(folder, name.trim());
}

/** The types that the client and the server share by name: those of sdk/call.ts. */
function declareTypesOfCalls(place: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--declaration', '--emitDeclarationOnly', '--outDir', place];
  const language = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext'];
  const file = join(root, 'sdk/call.ts');
  execFileSync(
    process.execPath,
    [tsc, '--ignoreConfig', ...options, ...language, '--types', '', '--skipLibCheck', file],
    { stdio: 'inherit' },
  );
}

function makePython(place: string): void {
  mkdirSync(join(place, 'billwright'), { recursive: true });
  writeFileSync(join(place, 'billwright', '__init__.py'), pythonModule(operations));
  writeFileSync(join(place, 'billwright', 'py.typed'), '');
  writeFileSync(join(place, 'pyproject.toml'), pythonProject({ version, license }));
  writeFileSync(join(place, 'README.md'), pythonReadme);
  copyFileSync(join(root, 'LICENSE'), join(place, 'LICENSE'));
}
