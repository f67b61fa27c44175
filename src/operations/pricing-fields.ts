// Schemas that contexts, plans and simulations share.
import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { AppError } from '../base/errors.ts';
import { roundingModes } from '../base/numbers/rounding.ts';
import { definitionNamePattern } from '../domain/rating/definitions/definitions.ts';
import { oneOf } from './fields.ts';

Format.Set('definition-name', (text) => definitionNamePattern.test(text));

/** Longest formula; a longer one is FORMULA_TOO_LONG in every field. */
const formulaMax = 4_000;
/** Rows of a table value. */
const rowsMax = 1_000;
/** As much as any price or quantity needs. */
const amountMax = 1e15;
/** Objects of any shape are kept as they come; their text is limited as a whole. */
const freeFormCharactersMax = 65_536;
/** Tables are the largest things in a definition: 1,000 rows of some columns each. */
const tableCharactersMax = 1_048_576;

export const flag = oneOf([0, 1]);
export const optionalFlag = Type.Optional(flag);
/** The forms in which callers say whether something is archived. */
export const archiveFlag = oneOf([0, 1, '0', '1', true, false]);

export const definitionName = Type.String({
  format: 'definition-name',
  maxLength: 64,
  'x-code': 'DEFINITION_INVALID',
  description: 'letters, digits and _, beginning with a letter',
});

export const formula = Type.String({ maxLength: formulaMax, 'x-code': 'FORMULA_TOO_LONG' });

/** A number as decimal text, or as a JSON number. */
export const decimal = decimalOf<string | number>(['string', 'number']);
export const maybeDecimal = Type.Optional(
  decimalOf<string | number | null>(['string', 'number', 'null']),
);

/** One that is not below zero. */
export const maybeQuantity = Type.Optional(
  decimalOf<string | number | null>(['string', 'number', 'null'], {
    pattern: '^\\+?\\d+(\\.\\d+)?$',
    minimum: 0,
  }),
);

function decimalOf<T>(type: readonly string[], changed: { pattern?: string; minimum?: 0 } = {}) {
  return Type.Unsafe<T>({
    type: [...type],
    maxLength: 64,
    pattern: '^[+-]?\\d+(\\.\\d+)?$',
    minimum: -amountMax,
    maximum: amountMax,
    'x-code': 'INVALID_NUMBER',
    ...changed,
  });
}

export function wholeNumber(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum, 'x-code': 'INVALID_NUMBER' });
}

export const rounding = Type.Object(
  { scale: wholeNumber(-9, 6), mode: oneOf(roundingModes) },
  { additionalProperties: false },
);

export const freeForm = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
});

type Row = Record<string, string | null>;

/** Rows of a table; which columns they have, the definition of the value says. */
export const rows = Type.Unsafe<Row[] | null>({
  type: ['array', 'null'],
  items: { type: 'object', additionalProperties: true },
  maxItems: rowsMax,
});

export const valueDefault = Type.Unsafe<string | number | boolean | Row[] | null>({
  type: ['string', 'number', 'boolean', 'array', 'null'],
  maxLength: formulaMax,
  minimum: -amountMax,
  maximum: amountMax,
  items: { type: 'object', additionalProperties: true },
  maxItems: rowsMax,
  'x-code': 'FORMULA_TOO_LONG',
});

export function assertSmall(field: string, value: unknown, max = freeFormCharactersMax): void {
  if (value === undefined || value === null || JSON.stringify(value).length <= max) return;
  throw new AppError('FIELD_TOO_LONG', {
    message: `${field} may have at most ${max} characters as JSON`,
    field,
  });
}

/** Rows are objects of any columns: each table is limited as a whole. */
export function assertSmallTables<Item extends object>(
  field: string,
  items: readonly Item[] | null | undefined,
  key: keyof Item & string,
): void {
  for (const [index, item] of (items ?? []).entries()) {
    assertSmall(`${field}[${index}].${key}`, item[key], tableCharactersMax);
  }
}

/** What was sent of some optional fields; those left out are not there at all. */
export function sent<T extends object>(
  fields: {
    [Key in keyof T]: T[Key] | undefined;
  },
): Partial<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<T>;
}

/** On create null means that nothing was given. */
export function given<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as T;
}
