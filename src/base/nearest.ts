// The name that was probably meant.

/** Two names are near where at most this share of their letters differs. */
const changesMax = 0.5;
/** Longer texts are no misspelled names. */
const lengthMax = 64;

/** The known name with the fewest letters changed, if one is near enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (wanted === '' || wanted.length > lengthMax) return undefined;
  let best: { name: string; share: number } | undefined;
  for (const one of known) {
    const share = distance(wanted, one.toLowerCase()) / Math.max(wanted.length, one.length);
    if (share <= changesMax && (!best || share < best.share)) best = { name: one, share };
  }
  return best?.name;
}

/** Levenshtein: letters to be added, removed or exchanged. */
function distance(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const exchanged = one[row - 1] === other[column - 1] ? 0 : 1;
      line.push(
        Math.min(
          (line[column - 1] ?? 0) + 1,
          (before[column] ?? 0) + 1,
          (before[column - 1] ?? 0) + exchanged,
        ),
      );
    }
    before = line;
  }
  return before[other.length] ?? 0;
}
