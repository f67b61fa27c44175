import { LookupError } from '../../base/formula/function-kinds.ts';
import { ArithmeticError } from '../../base/numbers/exact.ts';

/** Why a bill could not be rated; docs/errors.md lists them, too. */
export const billErrorCodes = {
  READING_MISSING: 'A register was not read for the term',
  READING_UNDER_REVIEW: 'The newest reading of a register is under review; accept or reject it',
  READING_DECREASED:
    'A reading is lower than the one before it, and the register did not roll over',
  ESTIMATE_NOT_POSSIBLE: 'A register was not read and cannot be estimated',
  USAGE_MISSING: 'A quantity that the plan needs was not uploaded or agreed',
  INPUT_MISSING: 'A custom field that a formula reads has no value',
  MANUAL_COMPONENT_MISSING: 'A component with a manual value has none for this term',
  DIVISION_BY_ZERO: 'A formula divides by zero',
  FORMULA_TOO_COSTLY: 'The formulas take more steps than one bill may take',
  LOOKUP_NO_ROW: 'A table has no row for the key that a formula looks up',
  AMOUNT_OUT_OF_RANGE: 'A number is too large, or has too many decimals, for a bill',
  NO_PLAN: 'The subscription has no valid plan on some days',
  VALUE_UNDEFINED: 'A value has no price on some days',
  CATCH_UP_TOO_LONG: 'More than 366 days before the term are not billed yet',
  TRANSFER_NOT_BILLED: 'The previous owner must be billed first, by a Final term',
  TOO_MANY_SEGMENTS: 'The bill would have more than 100 segments',
  DEFINITION_INVALID: 'The definition of the pricing context or plan contradicts itself',
  COMPONENT_NOT_FOUND: 'A manual value was uploaded for a component that does not exist',
  COMPONENT_NOT_MANUAL: 'A manual value was uploaded for a component that does not take one',
  VARIANT_NOT_OVERRIDABLE: 'The subscription has its own price for a value that is not overridable',
  INVALID_NUMBER: 'An input of the bill is not a number',
  INVALID_DATE: 'An input of the bill is not a date',
} as const;
export type BillErrorCode = keyof typeof billErrorCodes;

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
