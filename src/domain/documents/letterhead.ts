// The letterhead of a workspace's documents, from settings.letterhead. Unknown keys are ignored. So
// are fields of the wrong type: a setting that was saved before types were checked must not prevent
// a bill from being printed.
import { lineText } from './plain-text.ts';

export const pageSizes = ['A4', 'Letter'] as const;
export type PageSize = (typeof pageSizes)[number];

export type Letterhead = {
  readonly name: string;
  readonly addressLines: readonly string[];
  readonly phone: string | null;
  readonly email: string | null;
  readonly website: string | null;
  readonly taxNumber: string | null;
  /** Where complaints go, and when the office is open. */
  readonly complaintPhone: string | null;
  readonly complaintEmail: string | null;
  readonly officeHours: string | null;
  /** PNG or JPEG. */
  readonly logo: Buffer | null;
  /** #rrggbb */
  readonly color: string;
  readonly pageSize: PageSize;
  /** The text of the QR code on the payment slip, with placeholders. */
  readonly codeText: string;
  /** The text of the bar code for counters, with placeholders. */
  readonly barcodeText: string | null;
};

const letterheadDefaults = {
  color: '#1f4e79',
  codeText: '{{bill.billRefNo}}',
} as const;

export const addressLinesMax = 6;
export const colorPattern = /^#[0-9a-fA-F]{6}$/;
/** Countries in which the usual paper size is Letter. */
const letterCountries = new Set(['US', 'CA', 'MX', 'PH', 'CL', 'CO', 'VE', 'GT', 'SV', 'CR', 'PA']);

export type LetterheadSource = {
  /** Name of the workspace, printed if the letterhead has none. */
  readonly name: string;
  readonly country: string;
  readonly letterhead: unknown;
};

export function readLetterhead(source: LetterheadSource): Letterhead {
  const fields = new Map(Object.entries(Object(source.letterhead ?? {})));
  const text = (name: string) => lineText(fields.get(name)) || null;
  const lines = fields.get('addressLines');
  const color = text('color');
  const size = text('pageSize');
  const sizeOfCountry = letterCountries.has(source.country) ? 'Letter' : 'A4';
  return {
    name: text('name') ?? lineText(source.name),
    addressLines: (Array.isArray(lines) ? lines : [])
      .slice(0, addressLinesMax)
      .map(lineText)
      .filter((line) => line !== ''),
    phone: text('phone'),
    email: text('email'),
    website: text('website'),
    taxNumber: text('taxNumber'),
    complaintPhone: text('complaintPhone'),
    complaintEmail: text('complaintEmail'),
    officeHours: text('officeHours'),
    logo: readLogo(fields.get('logo')),
    color: color !== null && colorPattern.test(color) ? color : letterheadDefaults.color,
    pageSize: size === 'A4' || size === 'Letter' ? size : sizeOfCountry,
    codeText: text('codeText') ?? letterheadDefaults.codeText,
    barcodeText: text('barcodeText'),
  };
}

/** The image from base64, with or without a prefix such as `data:image/png;base64,`. */
export function readLogo(value: unknown): Buffer | null {
  if (typeof value !== 'string' || value === '') return null;
  const bytes = Buffer.from(value.replace(/^data:image\/(?:png|jpeg);base64,/, ''), 'base64');
  return bytes.length > 0 ? bytes : null;
}
