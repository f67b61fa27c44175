// Whole tables as lines of CSV, in chunks, each read in a short transaction of its own. Columns are
// those of imports, so that what goes out can come in elsewhere.
import { type Cell, csvLines } from '../../base/csv/write.ts';
import type { Tx } from '../../base/db/pool.ts';
import {
  countReadings,
  countTable,
  type ExportRow,
  listInputNames,
  listMeters,
  listParties,
  listReadings,
  listSubscriptions,
  type Named,
  type ReadingDays,
  type Window,
} from './store.ts';

export const exportKinds = ['Parties', 'Meters', 'Subscriptions', 'Readings'] as const;
export type ExportKind = (typeof exportKinds)[number];

/** Runs a piece of work in a transaction of its own. */
export type Read = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

export type Export = { kind: ExportKind; days: ReadingDays };

const rowsAtOnce = 1_000;

/** The first line of the first chunk is the header. */
export async function* exportLines(
  read: Read,
  tenantId: number,
  wanted: Export,
): AsyncGenerator<string[]> {
  const names = await read((tx) => columnsOf(tx, tenantId, wanted.kind));
  let afterId = 0;
  let header = csvLines([names]);
  while (true) {
    const rows = await read((tx) => listRows(tx, tenantId, wanted, { afterId, limit: rowsAtOnce }));
    yield [...header, ...csvLines(rows.map((row) => names.map((name) => row[name] ?? null)))];
    if (rows.length < rowsAtOnce) return;
    header = [];
    afterId = Number(rows.at(-1)?.id ?? 0);
  }
}

export function countRows(tx: Tx, tenantId: number, { kind, days }: Export): Promise<number> {
  if (kind === 'Readings') return countReadings(tx, tenantId, days);
  const tables = { Parties: 'parties', Meters: 'meters', Subscriptions: 'subscriptions' } as const;
  return countTable(tx, tenantId, tables[kind]);
}

type FlatRow = Record<string, Cell>;

async function listRows(
  tx: Tx,
  tenantId: number,
  { kind, days }: Export,
  window: Window,
): Promise<FlatRow[]> {
  if (kind === 'Parties') return listParties(tx, tenantId, window);
  if (kind === 'Meters') return listMeters(tx, tenantId, window);
  if (kind === 'Readings') return listReadings(tx, tenantId, window, days);
  const rows = await listSubscriptions(tx, tenantId, window);
  return rows.map(({ inputs, quantities, ...row }) => ({
    ...(row as ExportRow),
    ...flat('input.', inputs),
    ...flat('quantity.', quantities),
  }));
}

/** Of a quantity that changed, the last one holds. */
function flat(prefix: string, named: readonly Named[]): FlatRow {
  return Object.fromEntries(named.map(({ name, value }) => [`${prefix}${name}`, value]));
}

const address = [
  'addressTitle',
  'shopNo',
  'buildingNo',
  'buildingName',
  'street',
  'block',
  'society',
  'city',
  'countryId',
];

const columns: Record<ExportKind, readonly string[]> = {
  Parties: [
    ...['partyNumber', 'userType', 'name', 'email', 'country', 'mobile', 'phone', 'whatsApp'],
    ...['otherEmail', 'fax', 'otherContact', 'identityNumber', 'taxNumber', 'language'],
    ...address,
  ],
  Meters: ['number', 'brand', 'meterType', 'purchaseDate', 'mf', 'status', 'meterHealth'],
  Subscriptions: [
    ...['connectionNumber', 'connectionRefNo', 'serviceCode', 'tariffCode', 'batchCode'],
    ...['postType', 'partyNumber', 'partyName', 'connectionGroupLabel', 'connectionDate'],
    ...['billedThrough', 'status', 'description', 'paymentMethod', 'projectName', 'addons'],
    ...['meterNumber', 'installDate', 'initialReading', 'meteredInput', 'register'],
    ...address,
  ],
  Readings: [
    ...['connectionNumber', 'number', 'register', 'unit', 'value', 'readingDate', 'readingTime'],
    ...['readingType', 'status', 'consumption', 'days', 'flags', 'source', 'remark', 'imageUrl'],
    ...['externalRef', 'rollover'],
  ],
};

async function columnsOf(tx: Tx, tenantId: number, kind: ExportKind): Promise<string[]> {
  if (kind !== 'Subscriptions') return [...columns[kind]];
  const { inputs, quantities } = await listInputNames(tx, tenantId);
  return [
    ...columns.Subscriptions,
    ...inputs.map((name) => `input.${name}`),
    ...quantities.map((name) => `quantity.${name}`),
  ];
}
