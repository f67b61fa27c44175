// The only file that is started. Compiled code is kept beside what is installed: some hundred files
// load in half the time when they were loaded before. Where that cannot be written, they load as
// they are.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
await import('./command-line.ts');
