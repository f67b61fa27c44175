// Numbers that people see, in the form that the workspace has chosen, such as
// {serviceCode}-{number:8}.

const placeholder = /\{(\w+)(?::(\d{1,2}))?\}/g;
const widthMax = 20;

/** What a format may name besides the number itself. */
const names = new Set(['number', 'serviceCode', 'batchCode', 'year', 'month']);

/** A format needs its number, or every document would get the same one. */
export function isNumberFormat(format: string): boolean {
  const found = [...format.matchAll(placeholder)];
  const isKnown = found.every(([, name = '', width]) => {
    if (width === undefined) return names.has(name);
    return name === 'number' && Number(width) >= 1 && Number(width) <= widthMax;
  });
  const rest = format.replaceAll(placeholder, '');
  return isKnown && !/[{}]/.test(rest) && found.some(([, name]) => name === 'number');
}

export type NumberParts = {
  number: number;
  serviceCode: string;
  batchCode: string;
  date: Temporal.PlainDate;
};

export function formatNumber(format: string, parts: NumberParts): string {
  return format.replaceAll(placeholder, (whole, name: string, width?: string) => {
    switch (name) {
      case 'number':
        return String(parts.number).padStart(Number(width ?? 0), '0');
      case 'serviceCode':
        return parts.serviceCode;
      case 'batchCode':
        return parts.batchCode;
      case 'year':
        return String(parts.date.year);
      case 'month':
        return String(parts.date.month).padStart(2, '0');
      default:
        return whole;
    }
  });
}
