// npm run bench [-- [--quick] [--json]]: every figure beside a floor measured in the same run.
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { benchApi } from './api.ts';
import { benchBillrun } from './billrun.ts';
import { benchConsole } from './console.ts';
import { benchDocuments } from './documents.ts';
import { benchImports } from './imports.ts';
import { benchRating } from './rating.ts';
import { benchReceivables } from './receivables.ts';
import { benchBooks } from './receivables-books.ts';
import type { BenchResult } from './result.ts';
import { benchSlowMail } from './slow-mail.ts';
import { benchWorkers } from './workers.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const parts = [
  { title: 'Rating', run: benchRating },
  { title: 'Documents', run: benchDocuments },
  { title: 'API', run: benchApi },
  { title: 'Console', run: benchConsole },
  { title: 'Imports', run: benchImports },
  { title: 'Bill run', run: benchBillrun },
  { title: 'Receivables', run: benchReceivables },
  { title: 'Books', run: benchBooks },
  { title: 'Workers', run: benchWorkers },
  { title: 'Slow mail', run: benchSlowMail },
];

const total: BenchResult = { ratios: {}, figures: {} };
for (const part of parts) {
  process.stderr.write(`${part.title} ...\n`);
  const result = await part.run({ quick: values.quick });
  Object.assign(total.ratios, result.ratios);
  Object.assign(total.figures, result.figures);
}
await stopOwnCluster();
for (const [name, value] of Object.entries(total.ratios)) {
  process.stdout.write(`${name.padEnd(40)} ${value.toFixed(3)}\n`);
}
for (const [name, value] of Object.entries(total.figures)) {
  process.stdout.write(`${name.padEnd(40)} ${value}\n`);
}
if (values.json) process.stdout.write(`${JSON.stringify(total)}\n`);
