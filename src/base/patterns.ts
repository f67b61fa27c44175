// Patterns that users write. RE2 takes time in proportion to the text, whatever the pattern is; the
// platform's own regular expressions can be made to run for years by fifty characters.
import { RE2JS } from 're2js';

/** As the engine counts steps: a generous form of a customer or plot number has a hundred. */
const stepsMax = 500;
/** Custom fields that have a form are short. */
export const matchedLengthMax = 500;

const keptMax = 1_000;
const kept = new Map<string, RE2JS>();

/** Why a text cannot serve as a pattern; undefined when it can. */
export function patternProblem(pattern: string): string | undefined {
  try {
    return compiled(pattern).programSize() > stepsMax ? 'it is too large' : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether the whole text has the form. */
export function isWhole(pattern: string, text: string): boolean {
  return text.length <= matchedLengthMax && compiled(pattern).matches(text);
}

function compiled(pattern: string): RE2JS {
  const known = kept.get(pattern);
  if (known) return known;
  const made = RE2JS.compile(pattern);
  if (kept.size >= keptMax) kept.clear();
  kept.set(pattern, made);
  return made;
}
