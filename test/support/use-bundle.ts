// Loaded before the program (see quick-node.ts): src/main.ts gets the bundled command line. A run
// of single files without test/run.ts has no bundle.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const bundle = process.env.BILLWRIGHT_TEST_BUNDLE;

if (bundle) {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== './command-line.ts') return next(specifier, context);
      hooks.deregister();
      const { href } = pathToFileURL(`${bundle}/src/command-line.js`);
      return { url: href, shortCircuit: true };
    },
  });
}
