import { LookupError } from '../../base/formula/function-kinds.ts';
import { ArithmeticError } from '../../base/numbers/exact.ts';

/** Why a bill could not be rated. */
export type BillErrorCode =
  | 'READING_MISSING'
  | 'READING_DECREASED'
  | 'READING_UNDER_REVIEW'
  | 'ESTIMATE_NOT_POSSIBLE'
  | 'USAGE_MISSING'
  | 'INPUT_MISSING'
  | 'MANUAL_COMPONENT_MISSING'
  | 'DIVISION_BY_ZERO'
  | 'LOOKUP_NO_ROW'
  | 'AMOUNT_OUT_OF_RANGE'
  | 'NO_PLAN'
  | 'VALUE_UNDEFINED'
  | 'CATCH_UP_TOO_LONG'
  | 'TRANSFER_NOT_BILLED'
  | 'TOO_MANY_SEGMENTS'
  | 'DEFINITION_INVALID'
  | 'COMPONENT_NOT_FOUND'
  | 'COMPONENT_NOT_MANUAL'
  | 'VARIANT_NOT_OVERRIDABLE'
  | 'INVALID_NUMBER'
  | 'INVALID_DATE';

/** Stops one bill; rateBill turns it into an entry of the bill's errors. */
export class RatingError extends Error {
  readonly code: BillErrorCode;
  readonly meterNumber: number | undefined;

  constructor(code: BillErrorCode, message: string, meterNumber?: number) {
    super(message);
    this.code = code;
    this.meterNumber = meterNumber;
  }
}

/** Whether an error stops one bill; any other is a fault of the program. */
export function isRefusal(error: unknown): error is RatingError | ArithmeticError | LookupError {
  return (
    error instanceof RatingError || error instanceof ArithmeticError || error instanceof LookupError
  );
}
