// Schemas shared by operations: the wire's dates, texts, numbers, pages and filters.
// `x-code` names the error code of a field whose violation has one of its own.
import * as Type from 'typebox';
import { Format } from 'typebox/format';
import { parseCompactDate, parseDate, parseLocalDateTime } from '../base/calendar.ts';
import { countries, countryCode } from '../base/countries.ts';
import { isCurrency } from '../base/currencies.ts';
import type { ErrorCode } from '../base/errors.ts';
import { isPlainAddress } from '../base/mail/address.ts';

declare module 'typebox' {
  interface TSchemaOptions {
    'x-code'?: ErrorCode;
  }
}

/** Rows that one call may carry, and characters in one text. */
export const limits = {
  text: 4_000,
  description: 10_000,
  batch: 1_000,
  readings: 100_000,
  pageSize: 1_000,
  /** Of a billing account, wherever it is given or looked for. */
  accountLabel: 200,
} as const;

const timeOfDayForm = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;

Format.Set('date-dmy', (text) => parseDate(text) !== undefined);
Format.Set('date-compact', (text) => parseCompactDate(text) !== undefined);
Format.Set('local-date-time', (text) => parseLocalDateTime(text) !== undefined);
Format.Set('time-of-day', (text) => timeOfDayForm.test(text));
Format.Set('email', isPlainAddress);
Format.Set('country', (text) => countryCode(text) !== undefined);
Format.Set('currency', (text) => isCurrency(text));

type TextOptions = { max?: number; description?: string };

/** Text that may be empty. */
export function text(options: TextOptions = {}) {
  return Type.String({ maxLength: options.max ?? limits.text, ...described(options) });
}

/** Text that must hold something besides white space. */
export function filledText(options: TextOptions = {}) {
  return Type.String({
    maxLength: options.max ?? limits.text,
    pattern: '\\S',
    'x-code': 'REQUIRED_FIELD',
    ...described(options),
  });
}

export function nullable<T extends Type.TSchema>(schema: T) {
  const typed = schema as unknown as { type?: string | string[]; enum?: readonly unknown[] };
  return Type.Unsafe<Type.Static<T> | null>({
    ...schema,
    ...(typed.type === undefined ? {} : { type: [...new Set([typed.type, 'null'].flat())] }),
    ...(typed.enum === undefined ? {} : { enum: [...typed.enum, null] }),
  });
}

/** A filter or a field that may be left out or null, which mean the same. */
export function maybe<T extends Type.TSchema>(schema: T) {
  return Type.Optional(nullable(schema));
}

export function oneOf<const T extends readonly (string | number | boolean)[]>(
  values: T,
  code: ErrorCode = 'INVALID_ENUM',
) {
  return Type.Unsafe<T[number]>({ enum: [...values], 'x-code': code });
}

/** A filter by one of some words. */
export function filterOf<const T extends readonly string[]>(values: T) {
  return maybe(oneOf(values, 'INVALID_FILTER_VALUE'));
}

export const id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-code': 'INVALID_NUMBER',
});

/** Counts what belongs to something else, from 1, in a column of four bytes. */
export const ordinal = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  'x-code': 'INVALID_NUMBER',
});

export const date = Type.String({
  format: 'date-dmy',
  maxLength: 10,
  'x-code': 'INVALID_DATE',
  description: 'DD/MM/YYYY',
});

export const localDateTime = Type.String({
  format: 'local-date-time',
  maxLength: 19,
  'x-code': 'INVALID_DATETIME',
  description: "YYYY-MM-DDTHH:MM:SS or YYYY-MM-DD HH:MM:SS in the workspace's time zone",
});

export const timeOfDay = Type.String({
  format: 'time-of-day',
  maxLength: 8,
  'x-code': 'INVALID_DATETIME',
  description: 'HH:MM or HH:MM:SS',
});

export const email = Type.String({ format: 'email', maxLength: 254, 'x-code': 'INVALID_EMAIL' });

export const country = Type.String({
  format: 'country',
  maxLength: 3,
  'x-code': 'INVALID_COUNTRY',
  description: 'ISO 3166-1 alpha-2 or alpha-3',
});

export const timestamp = Type.String({ description: 'YYYY-MM-DD HH:MM:SS in local time' });
export const ts = Type.Integer({ description: 'Unix time of the last change, in milliseconds' });
/** If the caller sends it with an update, the update fails if the object has changed since. */
export const tsGuard = Type.Optional(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-code': 'INVALID_NUMBER' }),
);
export const archiveStatus = Type.Integer({ description: '0 = active, 1 = archived' });
export const money = Type.Number({ description: 'Major units of the currency of the workspace' });
export const empty = Type.Object({});

/** As far as the offset of its first row is an exact number. */
const pageNumberMax = Math.floor(Number.MAX_SAFE_INTEGER / limits.pageSize) - 1;

export const page = nullable(
  Type.Object(
    {
      pageNumber: Type.Integer({ minimum: 0, maximum: pageNumberMax, 'x-code': 'INVALID_PAGE' }),
      size: Type.Integer({ minimum: 1, maximum: limits.pageSize, 'x-code': 'INVALID_PAGE' }),
    },
    { 'x-code': 'INVALID_PAGE', description: 'null returns all' },
  ),
);
export type Page = { pageNumber: number; size: number };

const wantedFields = maybe(Type.Array(text({ max: 64 }), { maxItems: 100 }));

/** Of a list that has one order and no search: the other options are named as ignored. */
export const fieldsOnly = maybe(Type.Object({ fields: wantedFields }));

/** Of a list that sorts and searches; `sortBy` takes the names that the operation allows. */
export function metaData<const T extends readonly string[]>(sortable: T) {
  return maybe(
    Type.Object({
      sortBy: filterOf(sortable),
      sortOrder: filterOf(['asc', 'desc']),
      search: maybe(text({ max: 200 })),
      fields: wantedFields,
      includeArchived: maybe(Type.Boolean()),
      updatedSince: maybe(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          'x-code': 'INVALID_FILTER_VALUE',
        }),
      ),
      language: maybe(text({ max: 35 })),
    }),
  );
}

export const address = Type.Object({
  title: maybe(text({ max: 200 })),
  shopNo: maybe(text({ max: 200 })),
  buildingNo: maybe(text({ max: 200 })),
  buildingName: maybe(text({ max: 200 })),
  street: maybe(text({ max: 200 })),
  block: maybe(text({ max: 200 })),
  society: maybe(text({ max: 200 })),
  city: maybe(text({ max: 200 })),
  countryId: maybe(
    Type.Unsafe<number>({
      ...oneOf(
        countries.map(({ id: number }) => number),
        'INVALID_COUNTRY',
      ),
      description: 'the id of a country of get-lookups: ISO 3166-1 numeric',
    }),
  ),
});

/** As it is shown: with every field, whatever was sent of it. */
export const addressView = Type.Object({
  title: nullable(Type.String()),
  shopNo: nullable(Type.String()),
  buildingNo: nullable(Type.String()),
  buildingName: nullable(Type.String()),
  street: nullable(Type.String()),
  block: nullable(Type.String()),
  society: nullable(Type.String()),
  city: nullable(Type.String()),
  countryId: nullable(Type.Integer()),
});

const blankAddress: Type.Static<typeof addressView> = {
  title: null,
  shopNo: null,
  buildingNo: null,
  buildingName: null,
  street: null,
  block: null,
  society: null,
  city: null,
  countryId: null,
};

export function wholeAddress(stored: object | null): Type.Static<typeof addressView> {
  return { ...blankAddress, ...stored };
}

function described(options: TextOptions): { description?: string } {
  return options.description === undefined ? {} : { description: options.description };
}
