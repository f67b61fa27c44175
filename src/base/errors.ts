// One error class and one table of codes. The table is the documentation: /openapi.json and
// docs/errors.md are made from it, and an operation may answer only with codes from it.

import {
  auth,
  type CodeEntry,
  conflict,
  type ErrorKind,
  limit,
  notFound,
  permission,
  request,
  rule,
} from './error-kinds.ts';

/** If several codes apply to one call, its code is the one that comes first in this table. */
export const errorCodes = {
  MALFORMED_REQUEST: request('The bytes are not a valid HTTP request'),
  UNKNOWN_PATH: { ...request('No operation has this path'), statusCode: 404, type: 'not_found' },
  METHOD_NOT_ALLOWED: request('Every operation is an HTTP POST', 405),
  UNSUPPORTED_MEDIA_TYPE: request('Content-Type must be application/json', 415),
  REQUEST_TOO_LARGE: limit('The request body is larger than allowed', 413),
  MALFORMED_JSON: request('The request body is not valid JSON'),
  MALFORMED_INNER_JSON: request('The text in data.data must be a JSON object'),
  TOO_DEEP: request('The JSON of the request is nested too deeply'),
  WORKSPACE_NOT_FOUND: notFound('No workspace has this name'),
  TOKEN_MISSING: auth('The Authorization header is missing'),
  BEARER_PREFIX_NOT_USED: auth('Send the token alone, without the prefix "Bearer "'),
  TOKEN_INVALID: auth('The token is not known; log in again or ask for a new one'),
  TOKEN_EXPIRED: auth('The token has expired'),
  TOKEN_REVOKED: auth('The token was revoked'),
  TOKEN_WORKSPACE_MISMATCH: auth('The token belongs to another workspace'),
  LOGIN_FAILED: auth('User name or password is wrong'),
  CODE_REQUIRED: auth('The login has a second factor. Send the code of its app as `code`'),
  CODE_WRONG: auth('The code of the second factor is wrong, used or expired'),
  LINK_INVALID: auth('The link is unknown, used or expired. Ask for a new one'),
  LOGIN_LOCKED: auth('Too many failed logins; try again later'),
  DEFAULT_PASSWORD: permission('The demo password works only on the machine of the server'),
  WORKSPACE_SUSPENDED: permission('The workspace is suspended'),
  PERMISSION_DENIED: permission('The role of this login does not allow the operation'),
  RATE_LIMITED: limit('Too many calls; wait and try again', 429),
  OPERATION_MISMATCH: request('method and action do not belong to this path'),
  UNSUPPORTED_API_VERSION: request('apiVersion must be "v2"'),
  INVALID_OPERATION: request('operation must be "schedule"'),
  REQUIRED_FIELD: request('A required field is missing or empty'),
  FIELD_NOT_NULLABLE: request('The field cannot be null'),
  INVALID_TYPE: request('The field has the wrong type'),
  INVALID_CHARACTER: request('The text contains a character that cannot be stored'),
  INVALID_DATE: request('Not a real calendar date in the expected form'),
  INVALID_DATETIME: request('Not a local date and time of the form YYYY-MM-DDTHH:MM:SS'),
  INVALID_ENUM: request('The value is not one of the allowed values'),
  INVALID_NUMBER: request('Not a number in the allowed range'),
  INVALID_EMAIL: request('Not an e-mail address'),
  INVALID_COUNTRY: request('Not an ISO 3166-1 country code'),
  INVALID_FORMAT: request('The text does not have the expected form'),
  PASSWORD_TOO_WEAK: request('The password is too easy to guess'),
  FIELD_TOO_LONG: request('The text is longer than allowed'),
  UNKNOWN_FIELD: request('The field does not exist, and unknown fields are not ignored here'),
  TOO_MANY_ITEMS: request('The array has more items than allowed'),
  INVALID_PAGE: request('page needs pageNumber >= 0 and size 1 to 1000'),
  INVALID_FILTER_VALUE: request('The filter value is not one of the allowed values'),
  BILLING_GROUP_NOT_FOUND: notFound('No billing group has this id'),
  PERIOD_NOT_FOUND: notFound('No billing period has this id'),
  SERVICE_NOT_FOUND: notFound('No pricing context has this code'),
  PLAN_NOT_FOUND: notFound('No plan has this code'),
  BATCH_NOT_FOUND: notFound('No batch has this code'),
  SUBSCRIPTION_NOT_FOUND: notFound('No subscription has this number'),
  PARTY_NOT_FOUND: notFound('No party has this number'),
  ACCOUNT_NOT_FOUND: notFound('No billing account has this id or label'),
  METER_NOT_FOUND: notFound('No meter has this number'),
  METER_TYPE_NOT_FOUND: notFound('No meter type has this id'),
  READING_NOT_FOUND: notFound('No reading has this id'),
  TERM_NOT_FOUND: notFound('No term has this id'),
  BILL_NOT_FOUND: notFound('No bill has this id'),
  DOCUMENT_DELETED: notFound('The document was deleted: its years of retention have passed'),
  E_INVOICE_NOT_POSSIBLE: notFound('The bill has no e-invoice'),
  CREDIT_NOTE_NOT_FOUND: notFound('No credit note has this id'),
  DISPUTE_NOT_FOUND: notFound('No dispute has this id'),
  LINE_NOT_FOUND: notFound('The bill has no line with this number'),
  DELIVERY_NOT_FOUND: notFound('No delivery of the term has this id'),
  PRINT_FILE_NOT_FOUND: notFound('The job has no print file with this number'),
  RUN_NOT_FOUND: notFound('The term has no run with this number'),
  CASH_DESK_NOT_FOUND: notFound('No cash desk has this code'),
  APPROVAL_NOT_FOUND: notFound('No approval has this id'),
  LEDGER_ACCOUNT_NOT_FOUND: notFound('No ledger account has this code'),
  PAYMENT_NOT_FOUND: notFound('No payment has this id'),
  REMINDER_NOT_FOUND: notFound('No reminder has this id'),
  ARRANGEMENT_NOT_FOUND: notFound('No promise or instalment plan has this id'),
  TEMPLATE_NOT_FOUND: notFound('No template has this id'),
  JOB_NOT_FOUND: notFound('No job has this id'),
  COMPONENT_NOT_FOUND: notFound('No component has this name'),
  BANK_ACCOUNT_NOT_FOUND: notFound('The pricing context has no bank account with this id'),
  BANK_LINE_NOT_FOUND: notFound('No bank line has this id'),
  MAPPING_NOT_FOUND: notFound('No bank mapping has this name'),
  UPLOAD_NOT_FOUND: notFound('No upload has this id, or it is older than 24 hours'),
  LOGIN_NOT_FOUND: notFound('No login has this user name'),
  CLIENT_NOT_FOUND: notFound('No API client has this id'),
  WEBHOOK_NOT_FOUND: notFound('No webhook has this id'),
  GATEWAY_NOT_FOUND: notFound('The workspace has no gateway of this adapter'),
  EVENT_NOT_FOUND: notFound('No event has this id, or it is older than 30 days'),
  IDEMPOTENCY_KEY_IN_USE: conflict('A call with this Idempotency-Key is still running'),
  IDEMPOTENCY_KEY_REUSED: conflict('This Idempotency-Key was used for another request'),
  DUPLICATE: conflict('The value is already in use'),
  STALE_OBJECT: conflict(
    'The object has changed since it was read; read it again and repeat the change',
  ),
  SECOND_FACTOR_ACTIVE: conflict('The login has a second factor already'),
  IN_USE: conflict('The object is in use'),
  SERVICE_IN_USE: conflict('The pricing context has subscriptions or open terms'),
  METER_ALREADY_ASSIGNED: conflict(
    'The meter is already installed on these dates; remove it there first',
  ),
  DATE_IN_POSTED_TERM: conflict('The date is in a term that is already posted'),
  READING_LOCKED: conflict(
    'A term has locked this reading or a later one; unpost its readings first',
  ),
  APPROVAL_REQUIRED: conflict('A second person must approve this'),
  MONTH_CLOSED: conflict('The month of the ledger is closed'),
  ALREADY_REVERSED: conflict('The payment was already reversed'),
  INVALID_STATE: conflict('The status of the object does not allow this operation'),
  TERM_OVERLAP: conflict('The days overlap with another term of the batch'),
  JOB_ALREADY_RUNNING: conflict('Another job of this term is running; wait until it has ended'),
  READINGS_NOT_POSTED: conflict('Meter readings must be posted before bills are generated'),
  NOTHING_TO_POST: conflict('The term has no bill that can be posted'),
  TERM_STALE_GENERATE_AGAIN: conflict(
    'The term changed after its bills were generated; generate it again',
  ),
  TERM_HAS_OPEN_BILLS: conflict(
    'Some bills are in Error or on hold; correct or release them first',
  ),
  TERM_NOT_PUBLISHED: conflict(
    'The term is not published yet; publish it before distributing its bills',
  ),
  BILLS_NOT_PUBLISHED: conflict('The documents of some bills could not be created'),
  NO_DELIVERY_CHANNEL: rule(
    'The workspace has no delivery channel; set deliveryChannels in its settings',
  ),
  BILL_NOT_IN_TERM: rule('The bill belongs to another term'),
  SERVICE_ARCHIVED: rule('The pricing context is archived'),
  PLAN_ABSTRACT: rule('The plan is a template for others and cannot be subscribed to'),
  PLAN_NOT_BASE: rule('The plan is an add-on and cannot be subscribed to by itself'),
  PLAN_NOT_AVAILABLE: rule('The plan is not offered to this party'),
  POST_TYPE_MISMATCH: rule('postType differs from the postType of the pricing context'),
  OWNER_REQUIRED: rule('A subscription needs exactly one owner'),
  OWNER_IMMUTABLE: rule('The owner can be changed only with transfer-connection'),
  PARTY_KEY_MISMATCH: rule('partyID and partyNumber name different parties'),
  PARTY_ARCHIVED: rule('The party is archived; restore it first'),
  PARTY_HAS_ACTIVE_SUBSCRIPTIONS: rule('The party still has active subscriptions'),
  PARTY_HAS_BALANCE: rule('The party still has a balance that is not zero'),
  ACCOUNT_AMBIGUOUS: rule('Several billing accounts have this label'),
  SERVICE_CODE_IMMUTABLE: rule('The code of a pricing context cannot change'),
  PLAN_TYPE_IMMUTABLE: rule('planType cannot change after the plan is created'),
  FIELD_IMMUTABLE: rule('The field cannot change after the plan is created'),
  CHARGE_TYPE_MISMATCH: rule('chargeType differs from the chargingType of the pricing context'),
  PARENT_NOT_FOUND: rule('No plan of the pricing context has this code'),
  PARENT_OTHER_SERVICE: rule('The parent belongs to another pricing context'),
  PLAN_CYCLE: rule('A plan cannot inherit from itself or from a descendant'),
  PLAN_TOO_DEEP: rule('The plan has too many levels of parents; at most 8 are allowed'),
  FORMULA_SYNTAX: rule('The formula cannot be read'),
  FORMULA_TOO_LONG: rule('The formula is longer than allowed'),
  FORMULA_TOO_DEEP: rule('The formula is nested too deeply'),
  FORMULA_TOO_COSTLY: rule('The formulas of a plan, or an explanation, take too many steps'),
  FORMULA_UNKNOWN_NAME: rule('The formula names something that does not exist'),
  FORMULA_UNKNOWN_FUNCTION: rule('The formula calls a function that does not exist'),
  FORMULA_ARITY: rule('The formula calls a function with too few or too many arguments'),
  FORMULA_TYPE: rule('The formula combines types that do not match'),
  FORMULA_SCOPE: rule('A rule of a segment cannot read a component of the term'),
  FORMULA_CYCLE: rule('Formulas refer to each other in a circle'),
  SLAB_ORDER: rule('The limits of a slab table must increase'),
  SLAB_OPEN_END_MISSING: rule('The last slab of a table must have no upper limit'),
  EFFECTIVE_DATES_OVERLAP: rule(
    'Two prices or rules with the same name are effective on the same dates',
  ),
  VALUE_UNDEFINED: rule('A plan needs a value that has no price'),
  DEFINITION_INVALID: rule('The definition of the pricing context or plan contradicts itself'),
  TERM_DATES_INVALID: rule('The dates of the term contradict each other'),
  DUE_DATE_TOO_EARLY: rule('Customers would have too few days to pay'),
  SUBSCRIPTION_NOT_IN_TERM: rule('The term does not bill this subscription'),
  COMPONENT_NOT_MANUAL: rule('The component does not take uploaded values'),
  SCHEDULE_TOO_FAR: rule('A step can be scheduled up to 366 days ahead'),
  INVALID_READING_MODE: rule('reading must be current, estimated or previous'),
  CONNECTION_INPUTS_MISMATCH: rule('The inputs do not match those of the pricing context'),
  MISSING_INPUT: rule('A required input is missing'),
  DUPLICATE_INPUT: rule('The input appears twice'),
  INVALID_INPUT_VALUE: rule('The value does not match the type of the input'),
  ADDON_NOT_FOUND: rule('No add-on of the pricing context has this label'),
  VARIANT_NOT_OVERRIDABLE: rule(
    'The value is not overridable: a subscription cannot have its own price',
  ),
  BATCH_UPLOAD_REQUIRED: rule('The field is for bulk loads: send batchUpload: true'),
  OPENING_BALANCE_NOT_ALLOWED: rule('Opening balances are for bulk loads: send batchUpload: true'),
  DATE_TOO_FAR_BACK: rule('The date is too far in the past'),
  DATE_OUT_OF_ORDER: rule('The date is before the change that it must follow'),
  BALANCE_OUTSTANDING: rule('An outstanding balance prevents this'),
  DEPOSIT_UNPAID: rule('The security deposit is not paid'),
  METER_NOT_REGISTERED: rule('No meter with this number is registered'),
  METER_NOT_ASSIGNABLE: rule('Only a meter whose health is ok can be installed'),
  METER_TYPE_NOT_ALLOWED: rule('A meter of this type does not measure what the service bills'),
  METER_REQUIRED: rule('A metered input has no meter'),
  METER_BINDING_AMBIGUOUS: rule('It is not clear which register measures which input'),
  UNKNOWN_INPUT: rule('The pricing context defines no input with this name'),
  REGISTER_REQUIRED: rule('One of the registers of the meter must be named'),
  METER_NOT_ASSIGNED: rule('The meter is not installed on this subscription on this date'),
  READING_DECREASED: rule('The reading is lower than the one before it'),
  DUPLICATE_ROW: rule('The same row appears twice, or differs from one that is already stored'),
  TEMPLATE_INVALID: rule('A placeholder of the template cannot be filled'),
  DOCUMENT_TOO_LONG: rule('The document has more pages or entries than allowed'),
  DOCUMENT_TOO_SLOW: rule('Creating the document takes longer than allowed'),
  DOCUMENT_FAILED: rule('The document could not be created'),
  TARGET_REFUSED: rule('The program does not send to this URL'),
  TOO_MANY_MESSAGES: rule('The range has more messages than one call sends'),
  OVER_ALLOCATED: rule('The allocations are more than the payment, or more than is open on a bill'),
  BILL_OF_OTHER_PARTY: rule('The bill belongs to another party than the payer'),
  CURRENCY_MISMATCH: rule('The currency is not that of the workspace'),
  AMOUNT_ABOVE_OPEN: rule('The amount is more than what is open'),
  STATEMENT_NOT_PROVEN: rule('The lines of a bank statement do not add up to its closing balance'),
  UPLOAD_INCOMPLETE: rule('Parts of the upload are missing'),
  WALLET_TOO_LOW: rule('The wallet of the party holds less than this amount'),
  NOT_CLEARED: rule('The bank has not paid the cheque yet'),
  DATE_IN_FUTURE: rule('The date is in the future'),
  NOT_A_SANDBOX: rule('Only the clock of a sandbox workspace can be moved'),
  CLOCK_BACKWARDS: rule('The clock of a sandbox moves forward only'),
  CLOCK_TOO_FAR: rule('The clock of a sandbox can be at most 10 years ahead of real time'),
  CURRENT_PASSWORD_WRONG: rule('The current password is wrong'),
  LAST_ADMINISTRATOR: rule('A workspace keeps at least one active Administrator'),
  ROWS_REJECTED: rule('Some rows were rejected; nothing was stored'),
  DOCUMENT_DIFFERS: {
    statusCode: 500,
    type: 'internal',
    summary: 'The document differs from the one that was published',
  },
  UNAVAILABLE: {
    statusCode: 503,
    type: 'internal',
    summary: 'The service is not available at the moment; try again',
  },
  INTERNAL_ERROR: { statusCode: 500, type: 'internal', summary: 'Internal error' },
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof errorCodes;

/** Codes with which saving or simulating a definition can be refused. */
export const definitionErrors: readonly ErrorCode[] = [
  'DEFINITION_INVALID',
  'FORMULA_SYNTAX',
  'FORMULA_TYPE',
  'FORMULA_UNKNOWN_NAME',
  'FORMULA_UNKNOWN_FUNCTION',
  'FORMULA_ARITY',
  'FORMULA_CYCLE',
  'FORMULA_SCOPE',
  'FORMULA_TOO_LONG',
  'FORMULA_TOO_DEEP',
  'FORMULA_TOO_COSTLY',
  'VALUE_UNDEFINED',
  'SLAB_ORDER',
  'SLAB_OPEN_END_MISSING',
  'EFFECTIVE_DATES_OVERLAP',
];

export type ErrorDetail = {
  field: string | null;
  code: ErrorCode;
  message: string;
  rejectedValue?: unknown;
  allowed?: readonly unknown[];
  /** Character offset inside a formula. */
  position?: number;
};

type ErrorOptions = {
  message?: string;
  field?: string;
  allowed?: readonly unknown[];
  current?: unknown;
  retryAfterSeconds?: number;
  details?: ErrorDetail[];
  /** Replaces the status of the code: a row of an upload has another status than a field. */
  statusCode?: number;
  cause?: unknown;
};

/** The one error that callers see. Any other exception is answered with INTERNAL_ERROR. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly field: string | null;
  readonly allowed: readonly unknown[] | null;
  readonly current: unknown;
  readonly retryAfterSeconds: number | null;
  readonly details: ErrorDetail[];
  readonly statusCode: number;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(options.message ?? errorCodes[code].summary, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.field = options.field ?? null;
    this.allowed = options.allowed ?? null;
    this.current = options.current;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.details = options.details ?? [];
    this.statusCode = options.statusCode ?? errorCodes[code].statusCode;
  }

  get type(): ErrorKind {
    const { type, statusCode } = errorCodes[this.code];
    return statusCode === this.statusCode ? type : 'rule';
  }
}

const rank = new Map(Object.keys(errorCodes).map((code, index) => [code, index]));

/** An answer lists at most this many details. */
const detailsMax = 500;

/** One error for many problems of a request. Its code is the first of theirs in the table above. */
export function errorFromDetails(details: ErrorDetail[]): AppError {
  const first = details.reduce((best, detail) =>
    (rank.get(detail.code) ?? 0) < (rank.get(best.code) ?? 0) ? detail : best,
  );
  return new AppError(first.code, {
    message: first.message,
    ...(first.field === null ? {} : { field: first.field }),
    ...(first.allowed === undefined ? {} : { allowed: first.allowed }),
    details: details.slice(0, detailsMax),
  });
}

/** Why a row of a batch is rejected, and the name of the field that is wrong. */
export type RowProblem = {
  row: number;
  name: string;
  code: ErrorCode;
  message: string;
  rejectedValue: unknown;
};

/** With each field as a path in the request: `readings[3].value`. */
export function detailsOf(problems: readonly RowProblem[], list: string): ErrorDetail[] {
  return problems.map(({ row, name, ...detail }) => ({
    field: `${list}[${row}].${name}`,
    ...detail,
  }));
}

/**
 * Rejected rows of an all-or-nothing batch as one error. If all rows share one code, that is the
 * error's code; otherwise it is ROWS_REJECTED.
 */
export function errorFromRows(details: ErrorDetail[]): AppError {
  const codes = new Set(details.map((detail) => detail.code));
  const named = details.slice(0, detailsMax);
  const count = `${details.length} problems in the rows`;
  if (codes.size > 1) {
    return new AppError('ROWS_REJECTED', {
      message: `${count}; nothing was stored`,
      details: named,
    });
  }
  const error = errorFromDetails(named);
  if (named.length < details.length) error.message = `${count}, the first: ${error.message}`;
  return error;
}

/**
 * Rejected rows of an upload as one error, with status 422 unless something was not found. Fields
 * are paths in the request, where the rows are in the text `data.data`.
 */
export function errorFromUpload(problems: readonly ErrorDetail[]): AppError {
  const details = problems.map((one) => ({ ...one, field: `data.data.${one.field}` }));
  const { code, message, field, ...rest } = errorFromRows(details);
  const isAbsent = errorCodes[code].type === 'not_found';
  return new AppError(code, {
    message,
    details: rest.details,
    ...(field === null ? {} : { field }),
    ...(isAbsent ? {} : { statusCode: rowStatus }),
  });
}

const rowStatus = 422;
