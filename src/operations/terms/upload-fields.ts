// Uploads carry a JSON object as text inside the JSON of the call: a term and rows of texts.
import * as Type from 'typebox';
import { AppError, type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import { inSlices } from '../../base/slices.ts';
import { validate } from '../../base/validation/validate.ts';
import { id, limits } from '../fields.ts';
import type { Call } from '../operation.ts';
import { scheduleOperation, sheduleTime } from '../scheduling.ts';

/** As long as a whole call can be. */
const innerTextMax = 10 * 1024 * 1024;

/** The body of every upload. */
export function uploadRequest(description: string) {
  return Type.Object({
    operation: scheduleOperation,
    data: Type.Object({
      data: Type.String({ maxLength: innerTextMax, description }),
      sheduleTime,
    }),
  });
}

export type Upload = { termId: number; rows: readonly (readonly string[])[] };

type Columns = { list: string; min: number; max: number };

const rowTextMax = 500;

/** The term and the rows of the text, or all that is wrong with it. */
export async function parseUpload(
  { ignore }: Pick<Call, 'ignore'>,
  text: string,
  columns: Columns,
): Promise<Upload> {
  const { termID: termId, [columns.list]: rows, ...unknown } = await parseObject(text);
  ignore(Object.keys(unknown).map((name) => `data.data.${name}`));
  const problems: ErrorDetail[] = termProblems(termId);
  const field = `data.data.${columns.list}`;
  if (rows === undefined || rows === null) {
    problems.push({ field, code: 'REQUIRED_FIELD', message: `${field} is required` });
  } else if (!Array.isArray(rows)) {
    problems.push({ field, code: 'INVALID_TYPE', message: `${field} must be an array of rows` });
  } else if (rows.length > limits.readings) {
    const message = `${field} may have at most ${limits.readings} rows`;
    problems.push({ field, code: 'TOO_MANY_ITEMS', message });
  } else {
    const wrongRows = rowProblems(rows, columns);
    // With a term and rows, what is left is a matter of the rows.
    if (problems.length === 0 && wrongRows.length > 0) throw errorFromRows(wrongRows);
    problems.push(...wrongRows);
  }
  if (problems.length > 0) throw asError(problems);
  return { termId: termId as number, rows: rows as string[][] };
}

async function parseObject(text: string): Promise<Record<string, unknown>> {
  let inner: unknown;
  try {
    inner = await inSlices(parseJson(Buffer.from(text)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError('MALFORMED_INNER_JSON', { field: 'data.data' });
  }
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    return inner as Record<string, unknown>;
  }
  throw new AppError('MALFORMED_INNER_JSON', { field: 'data.data' });
}

const named = Type.Object({ termID: id });

/** A term is named in the text as it is outside of it. */
function termProblems(termId: unknown): ErrorDetail[] {
  const { problems } = validate(named, termId === undefined ? {} : { termID: termId });
  return problems.map((problem) => ({
    ...problem,
    field: `data.data.${problem.field}`,
    message: `data.data.${problem.message}`,
  }));
}

/** At most this many problems of rows are reported. */
const problemsMax = 500;

function rowProblems(rows: readonly unknown[], columns: Columns): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const { list, min, max } = columns;
  const wanted = min === max ? `${min} texts` : `${min} to ${max} texts`;
  for (const [index, row] of rows.entries()) {
    if (problems.length >= problemsMax) break;
    const field = `data.data.${list}[${index}]`;
    const isRow = Array.isArray(row) && row.length >= min && row.length <= max;
    if (!isRow || !row.every((item) => typeof item === 'string')) {
      problems.push({ field, code: 'INVALID_TYPE', message: `${field} must be ${wanted}` });
      continue;
    }
    if (row.some((item) => item.length > rowTextMax)) {
      const message = `A text of ${field} is longer than ${rowTextMax} characters`;
      problems.push({ field, code: 'FIELD_TOO_LONG', message });
    }
    // PostgreSQL stores no NUL, and half a surrogate pair is no character.
    if (row.some((item) => item.includes('\0') || !item.isWellFormed())) {
      const message = `${field} contains a character that cannot be stored`;
      problems.push({ field, code: 'INVALID_CHARACTER', message });
    }
  }
  return problems;
}

function asError(details: ErrorDetail[]): AppError {
  const [first] = details as [ErrorDetail];
  return new AppError(first.code, {
    message: first.message,
    ...(first.field === null ? {} : { field: first.field }),
    details,
  });
}
