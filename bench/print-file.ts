// node bench/print-file.ts COUNT: one file of many documents, thrown away as it comes. How fast, and
// how much memory is in use early on and at the end, as JSON.
import { mergePdfs } from '../src/base/pdf/merge.ts';
import { renderBill } from '../src/domain/documents/render-bill.ts';
import { ordinary } from '../test/documents/ordinary-bill.ts';
import { firstNames, numbered } from './numbered-bills.ts';

const count = Number(process.argv[2] ?? 1_000);
const files = Array.from({ length: count }, (_, index) =>
  renderBill(numbered(ordinary, firstNames, index)),
);

const megabytes = () => Math.floor(process.memoryUsage().rss / 1_000_000);
const startedMs = performance.now();
let bytes = 0;
let pieces = 0;
let early = 0;
for await (const piece of mergePdfs(files, { title: 'Bills', language: 'en' })) {
  bytes += piece.length;
  pieces++;
  if (pieces === count / 5) early = megabytes();
}
const seconds = (performance.now() - startedMs) / 1000;
process.stdout.write(
  JSON.stringify({
    pdf_print_file_bills_per_second: Math.floor(count / seconds),
    pdf_print_file_bytes_per_bill: Math.floor(bytes / count),
    pdf_print_file_mb_at_a_fifth: early,
    pdf_print_file_mb_at_the_end: megabytes(),
  }),
);
