// Inputs a plan cannot do without.
import type { BillError } from './bill.ts';
import type { Edition } from './edition.ts';
import type { Evaluation, RatedTerm } from './evaluation.ts';
import { stepOn } from './evaluation.ts';
import type { Track } from './tracks.ts';

/** Adds USAGE_MISSING for every required input without a quantity in the term it is read in. */
export function checkRequiredInputs(
  evaluation: Pick<Evaluation, 'steps'>,
  current: RatedTerm,
  previous: RatedTerm | null,
  errors: BillError[],
): void {
  const editions = new Set(current.tracks.map((track: Track) => track.edition));
  for (const edition of editions) {
    for (const item of edition.usageItems) {
      if (item.required !== 1) continue;
      const slot = edition.context.slots.inputs.get(item.input);
      if (slot === undefined || isKnown(evaluation, edition, slot, current, previous)) continue;
      // A meter that could not be read has been reported already.
      if (errors.some((error) => error.meterNumber !== undefined)) continue;
      const message = `the quantity of \`${item.input}\` is missing`;
      if (errors.some((error) => error.message === message)) continue;
      errors.push({ code: 'USAGE_MISSING', message });
    }
  }
}

function isKnown(
  evaluation: Pick<Evaluation, 'steps'>,
  edition: Edition,
  slot: number,
  current: RatedTerm,
  previous: RatedTerm | null,
): boolean {
  const agreed = edition.context.agreedInputs.find((input) => input.slot === slot);
  if (agreed !== undefined) {
    const steps = evaluation.steps.get(slot) ?? [];
    return agreed.fallback !== undefined || stepOn(steps, current.window.lastDay) !== undefined;
  }
  const isPreviousOnly = edition.previousInputs.has(slot) && !edition.currentInputs.has(slot);
  if (!isPreviousOnly) return current.usage.totals[slot] !== undefined;
  return previous === null || previous.usage.totals[slot] !== undefined;
}
