// Meters as rows of a file.
import * as Type from 'typebox';
import type { ImportRow, LineProblem, Loader } from '../../domain/imports/import-rows.ts';
import type { MeterStatus, NewMeter } from '../../domain/meters/meter.ts';
import { checkNewMeters, registerMeters } from '../../domain/meters/register.ts';
import { listMeterTypes } from '../../domain/meters/types-store.ts';
import { newMeterFields, newMeterFrom } from '../meters/meter-fields.ts';
import {
  type Cells,
  checkItems,
  date,
  type GoodRow,
  given,
  type ImportContext,
  type Item,
  whole,
  withoutBad,
} from './row-fields.ts';

const columns = ['number', 'brand', 'meterType', 'purchaseDate', 'mf'] as const;

function meterItem(cells: Cells): Item {
  return given({
    number: whole(cells, 'number'),
    brand: cells.get('brand'),
    meterType: cells.get('meterType'),
    purchaseDate: date(cells, 'purchaseDate'),
    mf: whole(cells, 'mf') ?? 1,
  });
}

/** The type by its id or its name. */
export const meterTypeSent = Type.String({ maxLength: 120, description: 'id or name' });

const schema = Type.Object({
  rows: Type.Array(Type.Object({ ...newMeterFields, meterType: meterTypeSent })),
});
type MeterSent = Parameters<typeof newMeterFrom>[0] & { meterType: string };

export function metersLoader(context: ImportContext): Loader {
  const kind = { columns, itemOf: meterItem };
  return {
    columns,
    requiredColumns: ['number', 'brand', 'meterType', 'purchaseDate'],
    prefixes: [],
    ignoredColumns: ['status', 'meterHealth'],
    load: async (rows: readonly ImportRow[]) => {
      const { good, problems } = checkItems<MeterSent>(schema, rows, kind);
      const typeOf = await meterTypes(context);
      const typed = good.map((one) => ({ ...one, typeId: typeOf(one.item.meterType) }));
      const wrong = typed.filter(({ typeId }) => typeId === undefined).map(unknownType);
      const sound = withoutBad(good, wrong);
      const facts = sound.map(({ item }) => newMeterFrom(item, typeOf(item.meterType) ?? 0));
      const refused = await storeMeters(context, facts, 'InActive');
      return [...problems, ...wrong, ...refused.map((problem) => lineOf(problem, sound))];
    },
  };
}

function unknownType({ row, item }: GoodRow<MeterSent>): LineProblem {
  const { meterType: rejectedValue } = item;
  const message = `No meter type has the id or name ${rejectedValue}`;
  const place = { line: row.line, column: 'meterType' };
  return { ...place, code: 'METER_TYPE_NOT_FOUND', message, rejectedValue };
}

function lineOf(
  { row, name, ...problem }: Awaited<ReturnType<typeof storeMeters>>[number],
  sound: readonly GoodRow<MeterSent>[],
): LineProblem {
  return { line: sound[row]?.row.line ?? 0, column: name, ...problem };
}

/** Registers the good ones and names the others. */
export async function storeMeters(
  { tx, tenant, today, stamp }: ImportContext,
  meters: readonly NewMeter[],
  status: MeterStatus,
) {
  if (meters.length === 0) return [];
  const checked = await checkNewMeters(tx, tenant.tenantId, meters, today);
  const bad = new Set(checked.problems.map((problem) => problem.row));
  const good = meters.filter((_, index) => !bad.has(index));
  if (good.length > 0) {
    await registerMeters(tx, tenant.tenantId, good, checked, { stamp, status });
  }
  return checked.problems;
}

/** A workspace has few types: all are read at once. */
const typesMax = 10_000;

export async function meterTypes({
  tx,
  tenant,
}: ImportContext): Promise<(word: string) => number | undefined> {
  const rows = await listMeterTypes(tx, tenant.tenantId, { afterId: 0, limit: typesMax });
  const ids = new Set(rows.map((row) => row.meter_type_id));
  const names = new Map(rows.map((row) => [row.name.toLowerCase(), row.meter_type_id]));
  return (word) => {
    const id = /^\d+$/.test(word) ? Number(word) : 0;
    return ids.has(id) ? id : names.get(word.toLowerCase());
  };
}
