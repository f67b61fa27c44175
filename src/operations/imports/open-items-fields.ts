// Open items of an old system as rows of a file: debts, credits, advances and deposits.
import * as Type from 'typebox';
import { parseDate } from '../../base/calendar.ts';
import { amountWords, minorUnitsFrom } from '../../base/money.ts';
import type { ImportRow, LineProblem, Loader } from '../../domain/imports/import-rows.ts';
import { openingKinds, type WantedOpening } from '../../domain/receivables/opening-item.ts';
import { bookOpeningItems, storeOpeningItems } from '../../domain/receivables/opening-items.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { date as dateSent, filledText, id, maybe, oneOf, text } from '../fields.ts';
import { decimal } from '../pricing-fields.ts';
import {
  type Cells,
  checkItems,
  date,
  type GoodRow,
  given,
  type ImportContext,
  type Item,
  type RowKind,
  whole,
} from './row-fields.ts';

const columns = [
  'reference',
  'kind',
  'partyNumber',
  'connectionNumber',
  'issueDate',
  'dueDate',
  'amount',
  'component',
  'description',
] as const;

const item = Type.Object({
  reference: filledText({ max: 120 }),
  kind: maybe(oneOf(openingKinds)),
  partyNumber: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  issueDate: maybe(dateSent),
  dueDate: maybe(dateSent),
  amount: decimal,
  component: maybe(text({ max: 64 })),
  description: maybe(text({ max: 250 })),
});
type OpenItemSent = Type.Static<typeof item>;
const schema = Type.Object({ rows: Type.Array(item) });

function openItem(cells: Cells): Item {
  return given({
    reference: cells.get('reference'),
    kind: cells.get('kind'),
    partyNumber: whole(cells, 'partyNumber'),
    connectionNumber: cells.get('connectionNumber'),
    issueDate: date(cells, 'issueDate'),
    dueDate: date(cells, 'dueDate'),
    amount: cells.get('amount'),
    component: cells.get('component'),
    description: cells.get('description'),
  });
}
const kind: RowKind = { columns, itemOf: openItem };

/**
 * Rows are stored as they come, and booked when all are there: locks go in the order of parties.
 */
export function openItemsLoader(context: ImportContext): Loader {
  const { tx, tenant, today, stamp } = context;
  let batch: Promise<number> | undefined;
  const stored = async () => {
    batch ??= takeNumbers(tx, tenant.tenantId, 'opening-batch', 1);
    return { today, stamp, batchId: await batch };
  };
  return {
    columns,
    requiredColumns: ['reference', 'amount'],
    prefixes: [],
    ignoredColumns: [],
    load: async (rows) => load(context, rows, await stored()),
    finish: async () => {
      await bookOpeningItems(tx, tenant.tenantId, await stored());
    },
  };
}

async function load(
  { tx, tenant, today }: ImportContext,
  rows: readonly ImportRow[],
  stored: Parameters<typeof storeOpeningItems>[3],
): Promise<LineProblem[]> {
  const checked = checkItems<OpenItemSent>(schema, rows, kind);
  const { problems } = checked;
  let rest: GoodRow<WantedOpening>[] = [];
  for (const { row, item: sent } of checked.good) {
    const made = wantedFrom(sent, tenant.currencyDecimals, today);
    if ('reference' in made) rest.push({ row, item: made });
    else problems.push({ line: row.line, ...made });
  }
  while (rest.length > 0) {
    const wanted = rest.map((one) => one.item);
    const refused = await storeOpeningItems(tx, tenant.tenantId, wanted, stored);
    if (refused.length === 0) break;
    const bad = new Set(refused.map((problem) => problem.row));
    for (const { row, name, ...problem } of refused) {
      problems.push({ line: rest[row]?.row.line ?? 0, column: name, ...problem });
    }
    rest = rest.filter((_, index) => !bad.has(index));
  }
  return problems;
}

/**
 * An item is due when it was issued, and an advance or a deposit is of today, if no date is given.
 */
function wantedFrom(
  sent: OpenItemSent,
  decimals: number,
  today: Temporal.PlainDate,
): WantedOpening | Omit<LineProblem, 'line'> {
  const openingKind = sent.kind ?? 'OpenItem';
  const amount = minorUnitsFrom(String(sent.amount), decimals);
  if (amount === undefined) {
    const message = `amount is ${amountWords(decimals)}`;
    return { column: 'amount', code: 'INVALID_NUMBER', message, rejectedValue: sent.amount };
  }
  if (sent.partyNumber == null && !sent.connectionNumber) {
    const message = 'Name the party by partyNumber or the subscription by connectionNumber';
    return { column: 'partyNumber', code: 'REQUIRED_FIELD', message };
  }
  const dueDate = sent.dueDate ? parseDate(sent.dueDate) : undefined;
  if (!dueDate && openingKind === 'OpenItem') {
    const message = 'dueDate is needed: settlement, aging and dunning use it';
    return { column: 'dueDate', code: 'REQUIRED_FIELD', message };
  }
  const due = dueDate ?? today;
  const isDue = Temporal.PlainDate.compare(due, today) <= 0;
  return {
    reference: sent.reference.trim(),
    kind: openingKind,
    partyNumber: sent.partyNumber ?? null,
    connectionNumber: sent.connectionNumber || null,
    component: sent.component || null,
    issueDate: (sent.issueDate && parseDate(sent.issueDate)) || (isDue ? due : today),
    dueDate: due,
    amount,
    description: sent.description?.trim() || 'Opening balance',
  };
}
