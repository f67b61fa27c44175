// How the CSV files of a bank are to be read, as an operator saves it under a name.
import { AppError } from '../../base/errors.ts';

/** Columns by their headings or, in a file without headings, by their numbers. */
export type MappingColumns = {
  date: string;
  amount?: string | null;
  debit?: string | null;
  credit?: string | null;
  reference?: string | null;
  payer?: string | null;
  payerAccount?: string | null;
  text?: string | null;
  bankID?: string | null;
  currency?: string | null;
  dateFormat: string;
  decimal: '.' | ',';
  delimiter?: string | null;
  skipRows?: number | null;
};

export const columnNames = [
  'date',
  'amount',
  'debit',
  'credit',
  'reference',
  'payer',
  'payerAccount',
  'text',
  'bankID',
  'currency',
] as const;
export type ColumnName = (typeof columnNames)[number];

/** Refuses columns that contradict each other. */
export function assertMapping(columns: MappingColumns, field: string): void {
  const { amount, debit, credit, dateFormat } = columns;
  const refuse = (name: string, message: string) => {
    throw new AppError('INVALID_FORMAT', { message, field: `${field}.${name}` });
  };
  const isSplit = Boolean(debit) && Boolean(credit);
  const isOne = Boolean(amount) && !debit && !credit;
  if (!isOne && !(isSplit && !amount)) {
    refuse('amount', 'Name the column of the amount, or those of debit and credit');
  }
  if (!dateReader(dateFormat)) {
    refuse('dateFormat', `'${dateFormat}' needs a year, a month and a day, such as DD/MM/YYYY`);
  }
  const named = columnNames.flatMap((name) => columns[name] ?? []);
  const numbered = named.filter(isNumber);
  if (numbered.length > 0 && numbered.length < named.length) {
    refuse('date', 'Name all columns by their headings, or all by their numbers');
  }
}

export function isNumber(column: string): boolean {
  return /^[1-9]\d{0,2}$/.test(column);
}

type DateParts = { year: number; month: number; day: number };
const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const formParts = /YYYY|YY|MMM|MM|M|DD|D/g;

/** Reads dates of a form such as DD/MM/YYYY, D.M.YY or DD-MMM-YYYY; undefined for no form. */
export function dateReader(form: string): ((text: string) => DateParts | undefined) | undefined {
  const parts = form.match(formParts) ?? [];
  const kinds = parts.map((part) => part[0]).sort();
  if (kinds.join('') !== 'DMY') return undefined;
  const between = form.split(formParts);
  if (between.some((text) => /[A-Za-z0-9]/.test(text))) return undefined;
  const escaped = between.map((text) => text.replace(/[^\s\w]/g, '\\$&'));
  const pattern = parts.map((part, index) => `${escaped[index]}(${patternOf(part)})`).join('');
  // A time after the date is passed over.
  const matcher = new RegExp(`^${pattern}${escaped.at(-1)}(?:[T ].*)?$`, 'i');
  return (text) => {
    const found = matcher.exec(text.trim());
    if (!found) return undefined;
    const partOf = (kind: string) => {
      const at = parts.findIndex((part) => part.startsWith(kind));
      return { part: parts[at] ?? '', value: found[at + 1] ?? '' };
    };
    const year = partOf('Y');
    const month = partOf('M');
    return {
      year: year.part === 'YY' ? 2000 + Number(year.value) : Number(year.value),
      month:
        month.part === 'MMM'
          ? monthNames.indexOf(month.value.toLowerCase()) + 1
          : Number(month.value),
      day: Number(partOf('D').value),
    };
  };
}

function patternOf(part: string): string {
  if (part === 'MMM') return '[A-Za-z]{3}';
  if (part.length === 1) return String.raw`\d{1,2}`;
  return String.raw`\d{${part.length}}`;
}
