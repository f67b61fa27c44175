// Bills per second as PDF: with the embedded Unicode fonts, beside the same bills with the standard
// fonts that need no embedding, by the same layout and painting in the same run. Every bill has a
// name, figures and a payment code of its own, as in a bill run. Bills in Urdu and Hindi, which
// standard fonts cannot set, are figures without a floor.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { notoTypefaces } from '../src/base/typeset/noto.ts';
import { renderBill } from '../src/domain/documents/render-bill.ts';
import { hindi, urdu } from '../test/documents/bills.ts';
import { ordinary } from '../test/documents/ordinary-bill.ts';
import { firstNames, hindiNames, numbered, urduNames } from './numbered-bills.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { standardTypefaces } from './standard-faces.ts';

function perSecond(make: (index: number) => unknown, count: number, from: number): number {
  const startedMs = performance.now();
  for (let index = 0; index < count; index++) make(from + index);
  return (count * 1000) / (performance.now() - startedMs);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** A ratio is the median over the rounds, each of which measured both sides beside each other. */
export async function benchDocuments(options: BenchOptions): Promise<BenchResult> {
  const noto = notoTypefaces();
  const standard = standardTypefaces();
  const ways = {
    embedded: (index: number) => renderBill(numbered(ordinary, firstNames, index), noto),
    standard: (index: number) => renderBill(numbered(ordinary, firstNames, index), standard),
    urdu: (index: number) => renderBill(numbered(urdu, urduNames, index)),
    hindi: (index: number) => renderBill(numbered(hindi, hindiNames, index), noto),
  };
  const holds = (bytes: Buffer) => bytes.includes('/FontFile2');
  assert.ok(holds(ways.embedded(1)) && !holds(ways.standard(1)), 'one embeds, one does not');
  const rounds = options.quick ? 9 : 24;
  const batch = 40;
  const speeds: Record<keyof typeof ways, number[]> = {
    embedded: [],
    standard: [],
    urdu: [],
    hindi: [],
  };
  for (let round = 0; round < rounds; round++) {
    // The one that goes first in a round finds a machine that has just done something else.
    const order = Object.keys(ways) as (keyof typeof ways)[];
    if (round % 2 === 1) order.reverse();
    for (const way of order) speeds[way].push(perSecond(ways[way], batch, round * batch));
  }
  const counted = Math.floor(rounds / 3);
  const ratios = speeds.embedded.map((speed, round) => speed / (speeds.standard[round] as number));
  const figures = {
    pdf_bills_per_second: whole(median(speeds.embedded.slice(counted))),
    pdf_standard_font_bills_per_second: whole(median(speeds.standard.slice(counted))),
    pdf_urdu_bills_per_second: whole(median(speeds.urdu.slice(counted))),
    pdf_hindi_bills_per_second: whole(median(speeds.hindi.slice(counted))),
    pdf_bytes: ways.embedded(7).length,
    pdf_standard_font_bytes: ways.standard(7).length,
    ...benchPrintFile(options.quick ? 1_000 : 10_000),
  };
  const ratio = median(ratios.slice(counted));
  return { ratios: { pdf_vs_standard_font: Number(ratio.toFixed(2)) }, figures };
}

/** In a process of its own, whose memory is that of the print file alone. */
function benchPrintFile(count: number): Record<string, number> {
  const script = fileURLToPath(new URL('print-file.ts', import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [script, String(count)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.equal(status, 0);
  return JSON.parse(stdout);
}

function whole(value: number): number {
  return Math.floor(value);
}

if (import.meta.main) {
  const { ratios, figures } = await benchDocuments({ quick: process.argv.includes('--quick') });
  console.table({ ...figures, ...ratios });
}
