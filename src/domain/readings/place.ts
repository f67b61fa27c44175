// Finds the register of each reading: by the number of the meter, the day and, if the meter has
// several, the name of the register.
import { formatDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { ErrorCode, RowProblem } from '../../base/errors.ts';
import { slicing } from '../../base/slices.ts';
import {
  type CheckedReadings,
  checkPlaced,
  type EnterOptions,
  type PlacedReading,
} from './enter.ts';
import type { RegisterInPlace } from './judge.ts';
import { findKnownSubscriptions, findPlaces, type MeterPlace } from './places-store.ts';
import { type ReadingType, registerValue, shownRange } from './reading.ts';

export type ReadingRow = {
  meterNumber: number;
  /** The subscription that the row names, if any; the meter must be installed there. */
  subscriptionNumber: string | null;
  register: string | null;
  value: string;
  /** Counted from 01/01/1970. */
  day: number;
  /** HH:MM:SS */
  time: string | null;
  type: ReadingType;
  rollover: boolean;
  source: string | null;
  remark: string | null;
  imageUrl: string | null;
  externalReference: string | null;
};

/** The readings to be stored, or all problems of the rows. */
export async function checkReadings(
  tx: Tx,
  tenantId: number,
  rows: readonly ReadingRow[],
  options: PlaceOptions & EnterOptions,
): Promise<CheckedReadings> {
  const { placed, problems } = await placeReadings(tx, tenantId, rows, options);
  const checked = await checkPlaced(tx, tenantId, placed, options);
  const all = [...problems, ...checked.problems].sort((a, b) => a.row - b.row);
  return { ...checked, problems: all };
}

export type PlaceOptions = {
  today: number;
  /** Only meters of this party are found; null for all. */
  ownPartyId?: number | null;
};

/** Rows that are brought to their registers before others are served. */
const placedAtOnce = 500;

type Placed = { placed: PlacedReading[]; problems: RowProblem[] };

/** Locks the assignments of the meters: no other call can enter readings there until the end. */
async function placeReadings(
  tx: Tx,
  tenantId: number,
  rows: readonly ReadingRow[],
  { today, ownPartyId = null }: PlaceOptions,
): Promise<Placed> {
  const numbers = [...new Set(rows.map((row) => row.meterNumber))];
  const subscriptions = [...new Set(rows.flatMap((row) => row.subscriptionNumber ?? []))];
  const earliest = rows.reduce((day, row) => Math.min(day, row.day), today);
  const [places, known] = await Promise.all([
    findPlaces(tx, tenantId, { numbers, earliest, today, ownPartyId }),
    subscriptions.length === 0
      ? new Set<string>()
      : findKnownSubscriptions(tx, tenantId, subscriptions),
  ]);
  const placed: PlacedReading[] = [];
  const problems: RowProblem[] = [];
  const slices = slicing();
  for (const [index, row] of rows.entries()) {
    if (index % placedAtOnce === 0) await slices.pause();
    const found = placeOf(row, places.get(row.meterNumber), known, today);
    if ('code' in found) problems.push({ row: index, ...found });
    else placed.push({ ...row, row: index, ...found });
  }
  return { placed, problems };
}

type Refused = Omit<RowProblem, 'row'>;

function placeOf(
  row: ReadingRow,
  places: readonly MeterPlace[] | undefined,
  subscriptions: ReadonlySet<string>,
  today: number,
): Refused | { register: RegisterInPlace; value: string } {
  const { meterNumber: number, subscriptionNumber } = row;
  const refuse = (name: string, code: ErrorCode, message: string, rejectedValue: unknown) => ({
    name,
    code,
    message,
    rejectedValue,
  });
  if (subscriptionNumber !== null && !subscriptions.has(subscriptionNumber)) {
    const message = `No subscription has the number ${subscriptionNumber}`;
    return refuse('connectionNumber', 'SUBSCRIPTION_NOT_FOUND', message, subscriptionNumber);
  }
  if (!places)
    return refuse('number', 'METER_NOT_FOUND', `No meter has the number ${number}`, number);
  const date = formatDay(row.day);
  if (row.day > today) {
    const message = `${date} is later than today, ${formatDay(today)}`;
    return refuse('readingDate', 'DATE_IN_FUTURE', message, date);
  }
  const place = places.find((one) => isInstalledOn(one, row));
  if (!place) {
    const where = subscriptionNumber === null ? 'anywhere' : `at ${subscriptionNumber}`;
    const message = `Meter ${number} was not installed ${where} on ${date}`;
    return refuse('number', 'METER_NOT_ASSIGNED', message, number);
  }
  const register = registerOf(place, row.register);
  if (!register) {
    const names = place.registers.map((one) => one.register).join(', ');
    const message = `Meter ${number} has several registers. Name one of ${names}`;
    return refuse('register', 'REGISTER_REQUIRED', message, row.register);
  }
  const value = registerValue(register, row.value);
  if (value !== undefined) return { register, value };
  const message = `Register ${register.register} of meter ${number} shows ${shownRange(register)}`;
  return refuse('value', 'INVALID_NUMBER', message, row.value);
}

/** A meter can still be read on its removal date, for the last time. */
function isInstalledOn(place: MeterPlace, row: ReadingRow): boolean {
  if (row.subscriptionNumber !== null && row.subscriptionNumber !== place.subscriptionNumber) {
    return false;
  }
  if (row.day < place.installDay) return false;
  if (place.removeDay === null || row.day < place.removeDay) return true;
  return row.day === place.removeDay && row.type === 'Final';
}

function registerOf(place: MeterPlace, name: string | null): RegisterInPlace | undefined {
  if (name === null) return place.registers.length === 1 ? place.registers[0] : undefined;
  const wanted = name.toLowerCase();
  return place.registers.find((one) => one.register.toLowerCase() === wanted);
}
