// Bills per second as PDF: with the embedded Unicode fonts, beside the same bills with the standard
// fonts that need no embedding, by the same layout and painting in the same run. Every bill has a
// name, figures and a payment code of its own, as in a bill run. Bills in Urdu and Hindi, which
// standard fonts cannot set, are figures without a floor.
import assert from 'node:assert/strict';
import { notoTypefaces } from '../src/base/typeset/noto.ts';
import type { BillDocumentInput } from '../src/domain/documents/bill-document.ts';
import { mergeBills, renderBill } from '../src/domain/documents/render-bill.ts';
import { hindi, ordinary, urdu } from '../test/documents/bills.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { standardTypefaces } from './standard-faces.ts';

const firstNames = 'Ahmed Fatima José Ingrid Bilal Mary-Anne Søren Zoë Tariq Núria'.split(' ');
const lastNames = 'Khan Müller Garcia O’Neill Malik Schmidt-Weiß Ferreira Ali Jönsson'.split(' ');
const urduNames = 'احمد فاطمہ بلال زینب طارق عائشہ'.split(' ');
const hindiNames = 'लक्ष्मी विजय सुनीता कृष्ण अर्जुन श्रेया'.split(' ');

function numbered(base: BillDocumentInput, names: readonly string[], index: number) {
  const { bill } = base;
  const name = `${names[index % names.length]} ${lastNames[index % lastNames.length]}`;
  return {
    ...base,
    bill: {
      ...bill,
      billID: index,
      billNumber: `ELEC-2025-${String(index).padStart(6, '0')}`,
      billRefNo: String(1_000_000_000 + index * 7_919),
      partyName: `${name} ${index}`,
      partyNumber: 100_000 + index,
      connectionNumber: `E-${String(index).padStart(6, '0')}`,
      address: { ...bill.address, buildingNo: String(index), street: `Street ${index % 90}` },
      meterReadings: bill.meterReadings.map((reading, at) => ({
        ...reading,
        meterNumber: 700_000 + index * 2 + at,
        currentReading: String(40_000 + ((index * 37) % 9_000)),
      })),
      lines: bill.lines.map((line) => ({ ...line, amount: line.amount + (index % 997) * 1.07 })),
      currentCharges: bill.currentCharges + index,
      payableWithinDueDate: bill.payableWithinDueDate + index,
      payableAfterDueDate: bill.payableAfterDueDate + index,
    },
  };
}

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
    urdu: (index: number) => renderBill(numbered(urdu, urduNames, index), noto),
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
    ...(await benchPrintFile(options.quick ? 1_000 : 10_000)),
  };
  const ratio = median(ratios.slice(counted));
  return { ratios: { pdf_vs_standard_font: Number(ratio.toFixed(2)) }, figures };
}

/** One file of many bills: how fast, and how much memory is in use early on and at the end. */
async function benchPrintFile(count: number): Promise<Record<string, number>> {
  function* bills() {
    for (let index = 0; index < count; index++) yield numbered(ordinary, firstNames, index);
  }
  const megabytes = () => whole(process.memoryUsage().rss / 1_000_000);
  const startedMs = performance.now();
  let bytes = 0;
  let pieces = 0;
  let early = 0;
  for await (const piece of mergeBills(bills(), (_, error) => assert.fail(error))) {
    bytes += piece.length;
    pieces++;
    if (pieces === count / 5) early = megabytes();
  }
  return {
    pdf_print_file_bills_per_second: whole((count * 1000) / (performance.now() - startedMs)),
    pdf_print_file_bytes_per_bill: whole(bytes / count),
    pdf_print_file_mb_at_a_fifth: early,
    pdf_print_file_mb_at_the_end: megabytes(),
  };
}

function whole(value: number): number {
  return Math.floor(value);
}

if (import.meta.main) {
  const { ratios, figures } = await benchDocuments({ quick: process.argv.includes('--quick') });
  console.table({ ...figures, ...ratios });
}
