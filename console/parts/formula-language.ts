// The names and functions of the formula language, for the editor: what it colours and completes.

export type FormulaProblem = { message: string; position: number | null };

/** Each function with its arguments. A test compares the names with those of the server. */
export const functions: Readonly<Record<string, string>> = {
  IF: '(condition, then, else)',
  IFS: '(condition, result, …, else)',
  SWITCH: '(value, case, result, …, else)',
  AND: '(a, b, …)',
  OR: '(a, b, …)',
  NOT: '(a)',
  MIN: '(a, b, …)',
  MAX: '(a, b, …)',
  SUM: '(a, b, …)',
  ABS: '(x)',
  INT: '(x)',
  ROUND: '(x, decimals)',
  ROUNDUP: '(x, decimals)',
  ROUNDDOWN: '(x, decimals)',
  CEILING: '(x, multiple)',
  FLOOR: '(x, multiple)',
  SLAB: '(quantity, table, factor)',
  SLABVOLUME: '(quantity, table, factor)',
  SLABPREVIOUS: '(quantity, table, factor)',
  SLABRATE: '(quantity, table, factor)',
  PACKAGE: '(quantity, size, price)',
  LOOKUP: '(table, key, "column")',
  SUMCAT: '("category")',
  HIST: '("input", terms)',
  HISTMAX: '("input", terms)',
  HISTAVG: '("input", terms)',
  HISTSUM: '("input", terms)',
  SUPER: '()',
};

export type FormulaName = { name: string; detail: string };

type Named = { name: string; label?: string; unit?: string | null; source?: string };
type Definitions = {
  values?: readonly Named[] | null;
  components?: readonly Named[] | null;
  connectionInputs?: readonly Named[] | null;
  meteredInputs?: readonly Named[] | null;
  unmeteredInputs?: readonly Named[] | null;
};

const always = [
  ...['days', 'factor', 'months', 'quantity'].map((name) => `segment.${name}`),
  ...['days', 'months'].map((name) => `term.${name}`),
  'connection.isFirstBill',
  ...['arrears', 'overdue', 'overdueAmountDays', 'wallet', 'deposit'].map(
    (name) => `account.${name}`,
  ),
  ...['current', 'net', 'tax', 'arrears', 'payable'].map((name) => `bill.${name}`),
];

/** Every name that formulas of a service can use. */
export function namesOf(service: Definitions): FormulaName[] {
  const under = (space: string, items: readonly Named[] | null | undefined) =>
    (items ?? []).map(({ name, label, unit }) => ({
      name: space === '' ? name : `${space}.${name}`,
      detail: [label ?? '', unit ?? ''].filter((word) => word !== '').join(' · '),
    }));
  const unmetered = service.unmeteredInputs ?? [];
  return [
    ...under('', service.values),
    ...under('usage', service.meteredInputs),
    ...under(
      'usage',
      unmetered.filter(({ source }) => source === 'Uploaded'),
    ),
    ...under(
      'qty',
      unmetered.filter(({ source }) => source !== 'Uploaded'),
    ),
    ...under('input', service.connectionInputs),
    ...under('comp', service.components),
    ...always.map((name) => ({ name, detail: '' })),
  ];
}
