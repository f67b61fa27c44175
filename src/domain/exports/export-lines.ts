// Whole tables as lines of CSV, in chunks, each read in a short transaction of its own. Columns of
// parties, meters, subscriptions and readings are those of imports, so that what goes out can come
// in elsewhere.
import { startOfDay } from '../../base/calendar.ts';
import { type Cell, csvLines } from '../../base/csv/write.ts';
import type { Tx } from '../../base/db/pool.ts';
import { countAuditEntries, listAuditEntries } from '../audit/store.ts';
import { countJournalLines } from '../ledger/totals-store.ts';
import {
  findStatement,
  listStatement,
  type StatementKey,
  type StatementRow,
} from '../receivables/statement-store.ts';
import type { JobTenant } from '../tenants/tenant.ts';
import { auditCells, billCells, journalCells, ledgerColumns } from './ledger-cells.ts';
import { countPostedBills, listJournalLines, listPostedBills } from './ledger-store.ts';
import { type ReportName, reportCells, reportNames, reports, summaryOf } from './reports.ts';
import type { ReportFilter, ReportRow } from './reports-store.ts';
import { openingCells, statementCells, statementColumns } from './statement-cells.ts';
import {
  countReadings,
  countTable,
  type Days,
  type ExportRow,
  listInputNames,
  listMeters,
  listParties,
  listReadings,
  listSubscriptions,
  type Named,
} from './store.ts';

export const exportKinds = [
  'Parties',
  'Meters',
  'Subscriptions',
  'Readings',
  'Bills',
  'Journals',
  'Audit',
  'Statement',
  ...reportNames,
] as const;
export type ExportKind = (typeof exportKinds)[number];

const datedKinds: readonly ExportKind[] = ['Readings', 'Bills', 'Journals', 'Audit', 'Statement'];

/** Whether the export can be narrowed to some days. */
export function isDated(kind: ExportKind): boolean {
  return isReport(kind) || datedKinds.includes(kind);
}

function isReport(kind: ExportKind): kind is ReportName {
  return (reportNames as readonly string[]).includes(kind);
}

/** Runs a piece of work in a transaction of its own. */
export type Read = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** `statement`: whose statement of account it is. */
export type Export = {
  kind: ExportKind;
  days: Days;
  today: Temporal.PlainDate;
  statement?: StatementKey | undefined;
};

function filterOf({ days, today }: Export): ReportFilter {
  return { from: days.from, to: days.to ?? today, serviceCode: null };
}

const rowsAtOnce = 1_000;

/** A chunk of rows, and what asks for the rows after it; undefined after the last chunk. */
type Chunk = { rows: FlatRow[]; next: Chunks | undefined };
type Chunks = (tx: Tx) => Promise<Chunk>;

/** The first line of the first chunk is the header. */
export async function* exportLines(
  read: Read,
  tenant: JobTenant,
  wanted: Export,
): AsyncGenerator<string[]> {
  const names = await read((tx) => columnsOf(tx, tenant.tenantId, wanted.kind));
  let header = csvLines([names]);
  let chunks: Chunks | undefined = chunksOf(tenant, wanted);
  while (chunks) {
    const { rows, next }: Chunk = await read(chunks);
    yield [...header, ...csvLines(rows.map((row) => names.map((name) => row[name] ?? null)))];
    header = [];
    chunks = next;
  }
}

export async function countRows(tx: Tx, tenant: JobTenant, wanted: Export): Promise<number> {
  const { tenantId } = tenant;
  const { kind, days } = wanted;
  if (isReport(kind)) {
    return (await summaryOf(tx, tenantId, reports[kind], filterOf(wanted))).count;
  }
  switch (kind) {
    case 'Readings':
      return countReadings(tx, tenantId, days);
    case 'Bills':
      return countPostedBills(tx, tenantId, days);
    case 'Journals':
      return countJournalLines(tx, tenantId, days);
    case 'Audit':
      return countAuditEntries(tx, tenantId, auditFilter(tenant, days));
    case 'Statement': {
      const { key, days: within } = statementOf(wanted);
      const { entries } = await findStatement(tx, tenantId, key, within);
      return days.from === null ? entries : entries + 1;
    }
    default:
      return countTable(tx, tenantId, tables[kind]);
  }
}

const tables = { Parties: 'parties', Meters: 'meters', Subscriptions: 'subscriptions' } as const;

type FlatRow = Record<string, Cell>;

/** Chunk after chunk of rows: `list` finds those after the last one, `cells` shows one. */
function following<Row>(
  list: (tx: Tx, after: Row | undefined) => Promise<Row[]>,
  cells: (row: Row) => FlatRow,
  after?: Row,
): Chunks {
  return async (tx) => {
    const rows = await list(tx, after);
    const isLast = rows.length < rowsAtOnce;
    const next = isLast ? undefined : following(list, cells, rows.at(-1));
    return { rows: rows.map(cells), next };
  };
}

function chunksOf(tenant: JobTenant, wanted: Export): Chunks {
  const { tenantId } = tenant;
  const { kind, days } = wanted;
  const limit = rowsAtOnce;
  if (isReport(kind)) {
    const report = reports[kind];
    const list = (tx: Tx, after: ReportRow | undefined) => {
      const window = { after: after?.key ?? 0, offset: 0, limit };
      return report.list(tx, tenantId, filterOf(wanted), window);
    };
    return following(list, reportCells(report, tenant));
  }
  const window = (after: { id: number } | undefined) => ({ afterId: after?.id ?? 0, limit });
  switch (kind) {
    case 'Parties':
      return following((tx, after) => listParties(tx, tenantId, window(after)), asItIs);
    case 'Meters':
      return following((tx, after) => listMeters(tx, tenantId, window(after)), asItIs);
    case 'Readings':
      return following((tx, after) => listReadings(tx, tenantId, window(after), days), asItIs);
    case 'Subscriptions':
      return following((tx, after) => listSubscriptions(tx, tenantId, window(after)), flattened);
    case 'Bills':
      return following(
        (tx, after) => listPostedBills(tx, tenantId, days, { after: after?.bill_id ?? 0, limit }),
        billCells(tenant),
      );
    case 'Journals':
      return following(
        (tx, after) => listJournalLines(tx, tenantId, days, { after, limit }),
        journalCells(tenant),
      );
    case 'Audit':
      return following((tx, after) => {
        const place = after && { requestId: after.request_id, position: after.position };
        const options = { limit, offset: 0, ...(place ? { after: place } : {}) };
        return listAuditEntries(tx, tenantId, auditFilter(tenant, days), options);
      }, auditCells(tenant));
    case 'Statement':
      return statementChunks(tenant, wanted);
  }
}

function statementOf({ statement, days, today }: Export) {
  if (!statement) throw new Error('a statement of account names its party');
  const to = (days.to ?? today).toString();
  return { key: statement, days: { from: days.from?.toString() ?? null, to } };
}

/** If days were given, the first row is what was owed before them. */
function statementChunks(tenant: JobTenant, wanted: Export): Chunks {
  const { tenantId } = tenant;
  const { key, days } = statementOf(wanted);
  const list = (tx: Tx, after: StatementRow | undefined) =>
    listStatement(tx, tenantId, key, days, { after, offset: 0, limit: rowsAtOnce });
  return async (tx) => {
    const { opening } = await findStatement(tx, tenantId, key, days);
    const chunk = await following(list, statementCells(tenant, opening))(tx);
    const { from } = wanted.days;
    if (!from) return chunk;
    return { ...chunk, rows: [openingCells(tenant, from, opening), ...chunk.rows] };
  };
}

function asItIs(row: ExportRow): FlatRow {
  return row;
}

function flattened(row: Awaited<ReturnType<typeof listSubscriptions>>[number]): FlatRow {
  const { inputs, quantities, ...own } = row;
  return { ...(own as ExportRow), ...flat('input.', inputs), ...flat('quantity.', quantities) };
}

function auditFilter({ timezone }: JobTenant, { from, to }: Days) {
  return {
    subject: null,
    subjectId: null,
    actor: null,
    from: from && startOfDay(from, timezone),
    to: to && startOfDay(to.add({ days: 1 }), timezone),
  };
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

const columns: Record<Exclude<ExportKind, ReportName>, readonly string[]> = {
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
  ...ledgerColumns,
  Statement: statementColumns,
};

async function columnsOf(tx: Tx, tenantId: number, kind: ExportKind): Promise<string[]> {
  if (isReport(kind)) return reports[kind].columns.map(({ name }) => name);
  if (kind !== 'Subscriptions') return [...columns[kind]];
  const { inputs, quantities } = await listInputNames(tx, tenantId);
  return [
    ...columns.Subscriptions,
    ...inputs.map((name) => `input.${name}`),
    ...quantities.map((name) => `quantity.${name}`),
  ];
}
