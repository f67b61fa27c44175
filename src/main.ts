// The only file that is started. Compiled code is kept beside what is installed: some hundred files
// load in half the time when they were loaded before. Where that cannot be written, they load as
// they are. The processes and threads of this one learn of it by the environment.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/compiled', import.meta.url),
);
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./command-line.ts');
