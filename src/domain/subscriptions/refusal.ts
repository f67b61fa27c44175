// How problems of subscriptions are reported: those of inputs share one code, as the contract names
// the rule.
import {
  AppError,
  type ErrorCode,
  type ErrorDetail,
  errorFromDetails,
  errorFromRows,
} from '../../base/errors.ts';

const ofInputs: ReadonlySet<ErrorCode> = new Set([
  'UNKNOWN_INPUT',
  'MISSING_INPUT',
  'DUPLICATE_INPUT',
  'INVALID_INPUT_VALUE',
]);

/** Of a batch, one code only if all rows share it; otherwise the first by the table of codes. */
export function refusal(problems: readonly ErrorDetail[], isBatch: boolean): AppError {
  const summed = problems.map((one) =>
    ofInputs.has(one.code) ? { ...one, code: 'CONNECTION_INPUTS_MISMATCH' as const } : one,
  );
  const error = isBatch ? errorFromRows(summed) : errorFromDetails(summed);
  const { code, message, field, allowed } = error;
  return new AppError(code, {
    message,
    ...(field === null ? {} : { field }),
    ...(allowed === null ? {} : { allowed }),
    details: problems.slice(0, error.details.length),
  });
}
