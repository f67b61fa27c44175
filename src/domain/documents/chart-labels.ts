// The labels under the bars of a chart: the label of each term in pieces below each other, month
// above year, because they do not fit side by side.

export type LabelPiece = {
  readonly text: string;
  /** With an ellipsis if neighbouring pieces are left out: for labels with enough room. */
  readonly marked: string;
  /** The name of a month: in smaller type rather than cut. */
  readonly isWhole?: boolean;
};

export const labelPiecesMax = 3;

const ellipsis = '…';

/**
 * Of longer labels, the pieces that tell most terms of the chart apart. Mostly that is the end, as
 * in "Batch North Jul-2025"; of "Jul-2025 Batch North", all ends are the same.
 */
export function chartLabels(labels: readonly string[]): LabelPiece[][] {
  const all = labels.map((label) => label.split(/[ -]/).filter((piece) => piece !== ''));
  const longest = Math.max(0, ...all.map((pieces) => pieces.length));
  let best = { behind: 0, apart: 0 };
  for (let behind = 0; behind <= longest - labelPiecesMax; behind++) {
    const apart = new Set(all.map((pieces) => shownPieces(pieces, behind).join(' '))).size;
    if (apart > best.apart) best = { behind, apart };
  }
  return all.map((pieces) => markedPieces(pieces, best.behind));
}

/** The pieces of a label that are shown, without the last ones, of which there are `behind`. */
function shownPieces(pieces: readonly string[], behind: number): readonly string[] {
  const end = shownEnd(pieces, behind);
  return pieces.slice(Math.max(0, end - labelPiecesMax), end);
}

function shownEnd(pieces: readonly string[], behind: number): number {
  return Math.max(Math.min(labelPiecesMax, pieces.length), pieces.length - behind);
}

function markedPieces(pieces: readonly string[], behind: number): LabelPiece[] {
  const end = shownEnd(pieces, behind);
  const shown = shownPieces(pieces, behind);
  return shown.map((text, index) => {
    const before = index === 0 && end > shown.length ? ellipsis : '';
    const after = index === shown.length - 1 && end < pieces.length ? ellipsis : '';
    return { text, marked: `${before}${text}${after}` };
  });
}
