// Readings as rows of a file, and route sheets that come back filled in.
import * as Type from 'typebox';
import { dayOf } from '../../base/days.ts';
import type { ImportRow, Loader } from '../../domain/imports/import-rows.ts';
import { storeReadings } from '../../domain/readings/enter.ts';
import { checkReadings } from '../../domain/readings/place.ts';
import { maybe, text } from '../fields.ts';
import { readingRow, readingSent } from '../meters/reading-fields.ts';
import {
  type Cells,
  checkItems,
  date,
  type GoodRow,
  given,
  type ImportContext,
  type Item,
  whole,
} from './row-fields.ts';

const columns = [
  'number',
  'register',
  'value',
  'readingDate',
  'readingTime',
  'readingType',
  'source',
  'remark',
  'imageUrl',
  'externalRef',
  'rollover',
  'connectionNumber',
] as const;

/** What a route sheet and an export tell besides. */
const ignoredColumns = [
  'partyName',
  'addressTitle',
  'shopNo',
  'buildingNo',
  'buildingName',
  'street',
  'block',
  'society',
  'city',
  'unit',
  'previousDate',
  'previousReading',
  'digits',
  'kind',
  'mf',
  'expectedLow',
  'expectedHigh',
  'status',
  'consumption',
  'days',
  'flags',
];

function readingItem(cells: Cells): Item {
  const rollover = cells.get('rollover')?.toLowerCase();
  return given({
    number: whole(cells, 'number'),
    register: cells.get('register'),
    value: cells.get('value'),
    readingDate: date(cells, 'readingDate'),
    readingTime: cells.get('readingTime'),
    readingType: cells.get('readingType'),
    source: cells.get('source'),
    remark: cells.get('remark'),
    imageUrl: cells.get('imageUrl'),
    externalRef: cells.get('externalRef'),
    rollover: rollover === undefined ? undefined : (flags.get(rollover) ?? rollover),
    connectionNumber: cells.get('connectionNumber'),
  });
}

const flags = new Map([
  ['1', true],
  ['true', true],
  ['yes', true],
  ['0', false],
  ['false', false],
  ['no', false],
]);

const item = Type.Object({
  ...readingSent.properties,
  connectionNumber: maybe(text({ max: 120 })),
});
const schema = Type.Object({ rows: Type.Array(item) });
const kind = { columns, itemOf: readingItem };

export function readingsLoader(context: ImportContext): Loader {
  return {
    columns,
    requiredColumns: ['number', 'value', 'readingDate'],
    prefixes: [],
    ignoredColumns,
    // A line of a route sheet that was not filled in is no reading.
    isBlank: ({ cells }) => !cells.has('value') && !cells.has('readingDate'),
    load: (rows) => load(context, rows),
  };
}

async function load({ tx, tenant, today, stamp }: ImportContext, rows: readonly ImportRow[]) {
  const { good, problems } = checkItems<Type.Static<typeof item>>(schema, rows, kind);
  let rest: GoodRow<Type.Static<typeof item>>[] = good;
  while (rest.length > 0) {
    const entered = rest.map((one) => ({
      ...readingRow(one.item, false),
      subscriptionNumber: one.item.connectionNumber ?? null,
    }));
    const options = { today: dayOf(today) };
    const checked = await checkReadings(tx, tenant.tenantId, entered, options);
    if (checked.problems.length === 0) {
      await storeReadings(tx, tenant.tenantId, checked, stamp);
      break;
    }
    const bad = new Set(checked.problems.map((problem) => problem.row));
    for (const { row, name, ...problem } of checked.problems) {
      problems.push({ line: rest[row]?.row.line ?? 0, column: name, ...problem });
    }
    rest = rest.filter((_, index) => !bad.has(index));
  }
  return problems;
}
