// Subscriptions as rows of a file.
import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import type { ImportRow, LineProblem, Loader } from '../../domain/imports/import-rows.ts';
import { listContexts } from '../../domain/pricing/contexts-store.ts';
import { createSubscriptions } from '../../domain/subscriptions/create.ts';
import {
  type ConnectionSent,
  connectionFields,
  connectionsSent,
} from '../connections/new-connection-fields.ts';
import {
  address,
  addressColumns,
  type Cells,
  checkItems,
  date,
  type GoodRow,
  given,
  type ImportContext,
  type Item,
  problemsOf,
  type RowKind,
  whole,
  withoutBad,
} from './row-fields.ts';

/** Columns of a subscription, without its address, owner and the facts of a new meter. */
export const connectionColumns = [
  'connectionNumber',
  'connectionRefNo',
  'serviceCode',
  'tariffCode',
  'batchCode',
  'postType',
  'connectionGroupLabel',
  'connectionDate',
  'billedThrough',
  'status',
  'description',
  'paymentMethod',
  'projectName',
  'addons',
  'meterNumber',
  'installDate',
  'initialReading',
  'meteredInput',
  'register',
  'receivable',
  'advance',
  'securityDeposit',
] as const;

/** `input.load` is the custom field `load`, `quantity.seats` the agreed quantity `seats`. */
export const connectionPrefixes = ['input.', 'quantity.'];

const columns = [...connectionColumns, 'partyNumber', ...addressColumns] as const;

export function connectionItem(cells: Cells, postTypes: ReadonlyMap<string, string>): Item {
  const accounts = [
    { balance: cells.get('receivable'), title: 'Receivable' },
    { balance: cells.get('advance'), title: 'Advance' },
    { balance: cells.get('securityDeposit'), title: 'Security Deposit' },
  ].filter(({ balance }) => balance !== undefined);
  const owner = given({
    partyNumber: whole(cells, 'partyNumber'),
    connectionGroupLabel: cells.get('connectionGroupLabel'),
    role: 'Owner',
  });
  return given({
    connectionNumber: cells.get('connectionNumber'),
    connectionRefNo: cells.get('connectionRefNo'),
    serviceCode: cells.get('serviceCode'),
    tariffCode: cells.get('tariffCode'),
    batchCode: cells.get('batchCode'),
    postType: cells.get('postType') ?? postTypes.get(cells.get('serviceCode') ?? '') ?? '-',
    connectionDate: date(cells, 'connectionDate'),
    billedThrough: date(cells, 'billedThrough'),
    status: cells.get('status'),
    description: cells.get('description'),
    paymentMethod: cells.get('paymentMethod'),
    projectName: cells.get('projectName'),
    addonTariffLabels: cells.get('addons')?.split('|'),
    connectionInputs: named(cells, 'input.'),
    unmeteredInputs: named(cells, 'quantity.'),
    ...metersOf(cells),
    accounts,
    address: address(cells),
    users: [owner],
  });
}

function named(cells: Cells, prefix: string): Item[] {
  return [...cells].flatMap(([column, value]) =>
    column.startsWith(prefix) ? [{ value, name: column.slice(prefix.length) }] : [],
  );
}

/** Of a customer who was billed elsewhere, the last reading there is where this one begins. */
function metersOf(cells: Cells): Item {
  const number = whole(cells, 'meterNumber');
  if (number === undefined) return {};
  const installDate = date(cells, 'installDate') ?? date(cells, 'billedThrough');
  const initialReading = cells.get('initialReading');
  const [name, register] = [cells.get('meteredInput'), cells.get('register')];
  return {
    meters: [given({ number, installDate, initialReading })],
    ...(name === undefined
      ? {}
      : { meteredConnectionInputs: [given({ name, meterNumber: number, register })] }),
  };
}

const schema = Type.Object({ rows: Type.Array(connectionFields) });

export function subscriptionsLoader(context: ImportContext): Loader {
  return {
    columns,
    requiredColumns: ['serviceCode', 'tariffCode', 'partyNumber'],
    prefixes: connectionPrefixes,
    ignoredColumns: ['partyName'],
    load: async (rows) => {
      const kind = await connectionKind(context);
      const { good, problems } = checkItems<ConnectionSent>(schema, rows, kind);
      const unread = missingReadings(rows);
      const refused = await storeConnections(context, withoutBad(good, unread), kind);
      return [...problems, ...unread, ...refused];
    },
  };
}

/** A workspace has few services: all are read at once. */
const contextsMax = 10_000;

async function connectionKind({ tx, tenant }: ImportContext): Promise<RowKind> {
  const postTypes = await postTypesOf({ tx, tenant });
  return { columns, itemOf: (cells) => connectionItem(cells, postTypes) };
}

/** By the code of the context: a file need not repeat what the context says. */
export async function postTypesOf({
  tx,
  tenant,
}: Pick<ImportContext, 'tx' | 'tenant'>): Promise<Map<string, string>> {
  const contexts = await listContexts(tx, tenant.tenantId, { afterId: 0, limit: contextsMax });
  return new Map(contexts.map((row) => [row.code, row.post_type]));
}

/**
 * A meter that is taken over begins with what it shows. One without would begin at zero, and its
 * first bill would be for everything it ever counted.
 */
export function missingReadings(rows: readonly ImportRow[]): LineProblem[] {
  return rows
    .filter(({ cells }) => cells.has('meterNumber') && !cells.has('initialReading'))
    .map(({ line }) => ({
      line,
      column: 'initialReading',
      code: 'REQUIRED_FIELD',
      message: 'initialReading is needed if a meter is named',
    }));
}

/** Stores the subscriptions of good rows and names the others. */
export async function storeConnections(
  { tx, tenant, today, stamp }: ImportContext,
  good: readonly GoodRow<ConnectionSent>[],
  kind: RowKind,
): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  let rest = [...good];
  while (rest.length > 0) {
    try {
      const wanted = connectionsSent(
        rest.map(({ item }) => item),
        tenant.currencyDecimals,
      );
      const options = { isBulk: true, isBatch: true, today };
      await createSubscriptions(tx, tenant, wanted, options, stamp);
      break;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const rows = rest.map(({ row }) => row);
      const found = problemsOf(error.details, 'connection', rows, kind);
      // What names no row is a matter of the whole file.
      if (found.length === 0) throw error;
      problems.push(...found);
      rest = withoutBad(rest, found);
    }
  }
  return problems;
}
