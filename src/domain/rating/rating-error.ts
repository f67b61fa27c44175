import type { BillErrorCode } from './bill.ts';

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
