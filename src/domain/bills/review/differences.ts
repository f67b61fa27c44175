// Named texts of two versions of a bill side by side, and what differs as causes.

export type CauseKind =
  | 'Reading'
  | 'Usage'
  | 'Manual'
  | 'Plan'
  | 'Value'
  | 'Rule'
  | 'Component'
  | 'Dates'
  | 'Input'
  | 'Quantity'
  | 'AddOn'
  | 'History'
  | 'Account'
  | 'Subscription'
  | 'Party';

export type Cause = {
  kind: CauseKind;
  name: string;
  before: string | null;
  after: string | null;
};

export type Entries = ReadonlyMap<string, string>;

export function differing(kind: CauseKind, before: Entries, after: Entries): Cause[] {
  return namesOf(before, after).flatMap((name) => {
    const a = before.get(name) ?? null;
    const b = after.get(name) ?? null;
    return a === b ? [] : [{ kind, name, before: short(a, b), after: short(b, a) }];
  });
}

/** An item of a definition: the fields that are given, as texts. */
export type Item = {
  /** The field that is shown without its name. */
  readonly main: string;
  readonly fields: Entries;
  /** What holds for fields that are not given. */
  readonly unsaid: Entries;
};
export type Items = ReadonlyMap<string, Item>;

/** If both sides have an item, only the fields that differ are shown. */
export function differingItems(kind: CauseKind, before: Items, after: Items): Cause[] {
  return namesOf(before, after).flatMap((name) => {
    const a = before.get(name);
    const b = after.get(name);
    const cause = { kind, name, before: told(a, b), after: told(b, a) };
    return cause.before === '' && cause.after === '' ? [] : [cause];
  });
}

function namesOf(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].sort();
}

function told(own: Item | undefined, other: Item | undefined): string | null {
  if (own === undefined) return null;
  const fields = new Set([own.main, ...own.fields.keys(), ...(other?.fields.keys() ?? [])]);
  const texts = [...fields].flatMap((field) => {
    const text = own.fields.get(field);
    const beside = other?.fields.get(field);
    if (text === beside) return [];
    const known = text ?? own.unsaid.get(field);
    if (known === undefined) return [`no ${field}`];
    const shown = short(known, beside ?? null);
    return [field === own.main ? shown : `${field} ${shown}`];
  });
  return texts.length === 0 && other === undefined ? 'given' : texts.join('; ');
}

/** A changed price list of a thousand rows is one cause, shown in short. */
const textMax = 200;
/** What is shown before the first difference, to know the place again. */
const leadMax = 20;

/** A long text begins where it differs from the other, or both would look the same. */
function short<Text extends string | null>(text: Text, other: string | null): Text | string {
  if (text === null || text.length <= textMax) return text;
  let same = 0;
  while (other !== null && same < text.length && text[same] === other[same]) same += 1;
  const from = Math.min(Math.max(0, same - leadMax), text.length - textMax);
  const to = from + textMax;
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
}

export function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
