/** The candidate nearest to a mistyped word, if one is near enough to be meant. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  const lower = word.toLowerCase();
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn a into b. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const above = rows[row - 1] as number[];
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = a.charAt(row - 1) === b.charAt(column - 1) ? 0 : 1;
      let fewest = Math.min(
        (above[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (above[column - 1] as number) + change,
      );
      const isSwap =
        a.charAt(row - 1) === b.charAt(column - 2) && a.charAt(row - 2) === b.charAt(column - 1);
      if (row > 1 && column > 1 && isSwap) {
        fewest = Math.min(fewest, (rows[row - 2]?.[column - 2] as number) + 1);
      }
      current.push(fewest);
    }
    rows.push(current);
  }
  return rows[a.length]?.[b.length] as number;
}

export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `; did you mean \`${found}\`?`;
}
