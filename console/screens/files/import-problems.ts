// What the server rejects of a file, by row and column.
import { BillingError } from '../../../sdk/client.ts';

export type Problem = { line: number; column: string | null; message: string };

/** Undefined where the refusal is about the file as a whole. */
export function rowProblems(error: unknown): Problem[] | undefined {
  if (!(error instanceof BillingError)) return undefined;
  const found = error.error.details.flatMap(({ field, message }): Problem[] => {
    const [, line, column = null] = /^lines\[(\d+)\](?:\.(.+))?$/.exec(field ?? '') ?? [];
    return line === undefined ? [] : [{ line: Number(line), column, message }];
  });
  return found.length === 0 ? undefined : found;
}

/** By the index of the row. */
export function byRow(
  problems: readonly Problem[],
  lines: readonly number[],
): Map<number, Problem[]> {
  const rows = new Map(lines.map((line, index) => [line, index]));
  const found = new Map<number, Problem[]>();
  for (const problem of problems) {
    const index = rows.get(problem.line);
    if (index === undefined) continue;
    found.set(index, [...(found.get(index) ?? []), problem]);
  }
  return found;
}
