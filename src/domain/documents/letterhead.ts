// The head of a workspace's documents: settings.letterhead, which may have any keys; these are
// read. Fields of an unexpected type are left out: a setting saved before fields were checked must
// not keep a bill from being printed.
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
  /** PNG or JPEG. */
  readonly logo: Buffer | null;
  /** #rrggbb */
  readonly color: string;
  readonly pageSize: PageSize;
  /** What the code on the payment slip says, with placeholders. */
  readonly codeText: string;
};

const letterheadDefaults = {
  color: '#1f4e79',
  codeText: '{{bill.billRefNo}}',
} as const;

export const addressLinesMax = 6;
export const colorPattern = /^#[0-9a-fA-F]{6}$/;
/** Countries that write on Letter. */
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
  const usualSize = letterCountries.has(source.country) ? 'Letter' : 'A4';
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
    logo: readLogo(fields.get('logo')),
    color: color !== null && colorPattern.test(color) ? color : letterheadDefaults.color,
    pageSize: size === 'A4' || size === 'Letter' ? size : usualSize,
    codeText: text('codeText') ?? letterheadDefaults.codeText,
  };
}

/** Base64, with or without the head of a data url. */
export function readLogo(value: unknown): Buffer | null {
  if (typeof value !== 'string' || value === '') return null;
  const bytes = Buffer.from(value.replace(/^data:image\/(?:png|jpeg);base64,/, ''), 'base64');
  return bytes.length > 0 ? bytes : null;
}
