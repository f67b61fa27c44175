// The bills of a print file as they are rendered, whether it is written or asked for again.
import { setImmediate as turn } from 'node:timers/promises';
import type { CancellationRow } from '../bills/cancellations-store.ts';
import type { BillDocumentInput } from '../documents/bill-document.ts';
import { type BillToRender, billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';

export type PrintedBill = { version: number; bill: BillToRender; cancellation?: CancellationRow };

export type PrintBatch = {
  /** By version, all that the bills need. */
  settings: ReadonlyMap<number, RenderSetting>;
  bills: readonly PrintedBill[];
};

/** Between two bills other things get their turn: rendering all would take seconds. */
export async function* printInputs(
  batches: AsyncIterable<PrintBatch>,
): AsyncGenerator<BillDocumentInput> {
  const letterheadFor = letterheads();
  for await (const { settings, bills } of batches) {
    for (const { version, bill, cancellation } of bills) {
      const setting = settings.get(version);
      if (!setting) throw new Error(`setting ${version} of documents is missing`);
      yield billInput(setting, letterheadFor(version, setting), bill, cancellation);
      await turn();
    }
  }
}

/** One for each setting, so that its logo is in the file once. */
function letterheads() {
  const known = new Map<number, ReturnType<typeof letterheadOf>>();
  return (version: number, setting: RenderSetting) => {
    let found = known.get(version);
    if (found === undefined) {
      found = letterheadOf(setting);
      known.set(version, found);
    }
    return found;
  };
}
