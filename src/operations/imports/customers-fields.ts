// A customer in one row: the party, its subscription and its meter, as a utility has them in one
// spreadsheet.
import * as Type from 'typebox';
import { formatDate } from '../../base/calendar.ts';
import type { ImportRow, LineProblem, Loader } from '../../domain/imports/import-rows.ts';
import type { NewMeter } from '../../domain/meters/meter.ts';
import { findPartyNames } from '../../domain/parties/store.ts';
import { type ConnectionSent, connectionFields } from '../connections/new-connection-fields.ts';
import { maybe } from '../fields.ts';
import { newMeterFields, newMeterFrom } from '../meters/meter-fields.ts';
import { factProblems } from '../users/party-fields.ts';
import { meterTypeSent, meterTypes, storeMeters } from './meters-fields.ts';
import {
  holdNumbers,
  type PartySent,
  partyColumns,
  partyItem,
  partySent,
  storeParties,
} from './parties-fields.ts';
import {
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
import {
  connectionColumns,
  connectionItem,
  connectionPrefixes,
  missingReadings,
  postTypesOf,
  storeConnections,
} from './subscriptions-fields.ts';

const meterColumns = ['meterType', 'meterBrand', 'meterPurchaseDate', 'meterMf'] as const;
const columns = [...partyColumns, ...connectionColumns, ...meterColumns] as const;

const item = Type.Object({
  party: partySent,
  meter: maybe(Type.Object({ ...newMeterFields, meterType: meterTypeSent })),
  connection: connectionFields,
});
type CustomerSent = {
  party: PartySent;
  meter?: Parameters<typeof newMeterFrom>[0] & { meterType: string };
  connection: ConnectionSent;
};
const schema = Type.Object({ rows: Type.Array(item) });

export function customersLoader(context: ImportContext): Loader {
  return {
    columns,
    requiredColumns: ['name', 'serviceCode', 'tariffCode'],
    prefixes: connectionPrefixes,
    ignoredColumns: [],
    load: (rows) => load(context, rows),
  };
}

/** A row that says nothing of the meter's type means one that is registered already. */
function meterItem(cells: Cells, today: string): Item | undefined {
  const meterType = cells.get('meterType');
  if (meterType === undefined) return undefined;
  const dates = ['meterPurchaseDate', 'installDate', 'connectionDate'];
  return given({
    number: whole(cells, 'meterNumber'),
    meterType,
    brand: cells.get('meterBrand') ?? 'Unknown',
    purchaseDate: dates.map((column) => date(cells, column)).find(Boolean) ?? today,
    mf: whole(cells, 'meterMf') ?? 1,
  });
}

async function load(context: ImportContext, rows: readonly ImportRow[]): Promise<LineProblem[]> {
  const postTypes = await postTypesOf(context);
  const today = formatDate(context.today);
  const connectionOf = (cells: Cells) => connectionItem(cells, postTypes);
  const kind: RowKind = {
    columns,
    itemOf: (cells) =>
      given({
        party: partyItem(cells),
        meter: meterItem(cells, today),
        connection: connectionOf(cells),
      }),
  };
  const { good, problems } = checkItems<CustomerSent>(schema, rows, kind);
  const facts = good.flatMap(({ item: { party } }, index) =>
    factProblems(party, `rows[${index}].party`),
  );
  const lines = good.map(({ row }) => row);
  problems.push(...problemsOf(facts, 'rows', lines, kind));
  problems.push(...missingReadings(rows));
  problems.push(...(await mixedUp(context, withoutBad(good, problems))));
  problems.push(...(await registerOwnMeters(context, withoutBad(good, problems))));
  const owned = await withOwners(context, withoutBad(good, problems));
  problems.push(...(await storeConnections(context, owned, { columns, itemOf: connectionOf })));
  return problems;
}

/** A number that a row gives to one name and another row, or the workspace, to another. */
async function mixedUp(
  context: ImportContext,
  good: readonly GoodRow<CustomerSent>[],
): Promise<LineProblem[]> {
  const { tx, tenant } = context;
  const numbers = good.flatMap(({ item: { party } }) => party.partyNumber ?? []);
  await holdNumbers(context, numbers);
  const names = await findPartyNames(tx, tenant.tenantId, numbers);
  return good.flatMap(({ row, item: { party } }): LineProblem[] => {
    const { partyNumber: rejectedValue } = party;
    if (rejectedValue == null) return [];
    const name = names.get(rejectedValue);
    names.set(rejectedValue, name ?? party.name.trim());
    if (name === undefined || name === party.name.trim()) return [];
    const message = `Party ${rejectedValue} is named ${name}`;
    const column = 'partyNumber';
    return [{ line: row.line, column, code: 'PARTY_KEY_MISMATCH', message, rejectedValue }];
  });
}

async function registerOwnMeters(
  context: ImportContext,
  good: readonly GoodRow<CustomerSent>[],
): Promise<LineProblem[]> {
  const typeOf = await meterTypes(context);
  const problems: LineProblem[] = [];
  const meters: { line: number; facts: NewMeter }[] = [];
  for (const { row, item: customer } of good) {
    const { meter } = customer;
    if (!meter) continue;
    const typeId = typeOf(meter.meterType);
    if (typeId === undefined) {
      const { meterType: rejectedValue } = meter;
      const message = `No meter type has the id or name ${rejectedValue}`;
      const place = { line: row.line, column: 'meterType' };
      problems.push({ ...place, code: 'METER_TYPE_NOT_FOUND', message, rejectedValue });
    } else meters.push({ line: row.line, facts: newMeterFrom(meter, typeId) });
  }
  const refused = await storeMeters(
    context,
    meters.map(({ facts }) => facts),
    'Active',
  );
  const columnOf = { number: 'meterNumber', purchaseDate: 'meterPurchaseDate' } as const;
  for (const { row, name, ...problem } of refused) {
    const column = columnOf[name as keyof typeof columnOf] ?? name;
    problems.push({ line: meters[row]?.line ?? 0, column, ...problem });
  }
  return problems;
}

/** Stores the parties that are new, and names each as the owner of its row's subscription. */
async function withOwners(
  context: ImportContext,
  good: readonly GoodRow<CustomerSent>[],
): Promise<GoodRow<ConnectionSent>[]> {
  const { tx, tenant } = context;
  const numbers = good.flatMap(({ item: { party } }) => party.partyNumber ?? []);
  const known = new Set((await findPartyNames(tx, tenant.tenantId, numbers)).keys());
  const isNew = ({ item: { party } }: GoodRow<CustomerSent>) => {
    if (party.partyNumber == null) return true;
    if (known.has(party.partyNumber)) return false;
    known.add(party.partyNumber);
    return true;
  };
  const fresh = good.filter(isNew);
  const given = await storeParties(
    context,
    fresh.map(({ item: { party } }) => party),
  );
  const numberOf = new Map(fresh.map((one, index) => [one, given[index]]));
  return good.map((one) => {
    const { row, item: customer } = one;
    const partyNumber = customer.party.partyNumber ?? numberOf.get(one) ?? null;
    const users = (customer.connection.users ?? []).map((user) => ({ ...user, partyNumber }));
    return { row, item: { ...customer.connection, users } };
  });
}
