// What became of the lines of a file, in words.
import { counted } from '../../base/counted.ts';
import type { LineCounts } from './files-store.ts';

/** `990 lines posted, 0 suggested, 10 unmatched, 0 duplicate`. */
export function countsText(counts: LineCounts): string {
  const { Posted, Suggested, Unmatched, Duplicate, Ignored, Received } = counts;
  const parts = [
    `${counted(Posted, 'line')} posted`,
    `${Suggested} suggested`,
    `${Unmatched} unmatched`,
    `${Duplicate} duplicate`,
    ...(Ignored > 0 ? [`${Ignored} ignored`] : []),
    ...(Received > 0 ? [`${Received} still to be posted`] : []),
  ];
  return parts.join(', ');
}
