// Entering readings: one or a hundred thousand, in a few statements. Every row is
// brought to its register and its place among the readings there; a row that cannot be entered is
// named, and then nothing is.

import { formatDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { compare, zero } from '../../base/numbers/exact.ts';
import { inSlices, slicing } from '../../base/slices.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  type EnteredReading,
  judgeReadings,
  type RegisterInPlace,
  type Remeasured,
} from './judge.ts';
import { findPasts, findTakenReferences, type Past, placeInTime } from './past-store.ts';
import type { NewReading } from './reading.ts';
import { insertReadings, updateMeasures } from './store.ts';

/** A reading that was brought to its register; `row` is its place in the request. */
export type PlacedReading = EnteredReading & {
  row: number;
  register: RegisterInPlace;
  source: string | null;
  remark: string | null;
  imageUrl: string | null;
  externalReference: string | null;
};

export type CheckedReadings = {
  /** In the order of the rows. */
  problems: RowProblem[];
  readings: NewReading[];
  /** Of the meters that they are of, in the same order. */
  meterNumbers: number[];
  remeasured: Remeasured[];
  /** Rows that the registers have already, just as they are. */
  unchanged: number;
};

export type EnterOptions = {
  /** Whether rows that the registers have already are passed over, and not refused. */
  keepsSame?: boolean;
};

type Group = { register: RegisterInPlace; rows: PlacedReading[]; first: number; last: number };

/**
 * Judges readings with their registers. The caller has locked the assignments, so that no other
 * call enters readings meanwhile.
 */
export async function checkPlaced(
  tx: Tx,
  tenantId: number,
  placed: readonly PlacedReading[],
  { keepsSame = false }: EnterOptions = {},
): Promise<CheckedReadings> {
  if (placed.length === 0) {
    return { problems: [], readings: [], meterNumbers: [], remeasured: [], unchanged: 0 };
  }
  const groups = groupByRegister(placed);
  const references = placed.flatMap((one) => one.externalReference ?? []);
  const [pasts, taken] = await Promise.all([
    findPasts(tx, tenantId, groups),
    references.length === 0 ? new Set<string>() : findTakenReferences(tx, tenantId, references),
  ]);
  const problems = repeatedReferences(placed, taken);
  const found: { row: number; meterNumber: number; reading: NewReading }[] = [];
  const remeasured: Remeasured[] = [];
  let unchanged = 0;
  const slices = slicing();
  for (const [at, group] of groups.entries()) {
    await slices.pause();
    const past = pasts[at];
    if (!past) throw new Error('the past of a register was not found');
    const rows = keepsSame ? newRows(group, past) : group.rows;
    unchanged += group.rows.length - rows.length;
    const refused = refusals({ ...group, rows }, past);
    problems.push(...refused);
    if (refused.length > 0 || rows.length === 0) continue;
    const judgement = await inSlices(judgeReadings(group.register, past, rows));
    remeasured.push(...judgement.remeasured);
    rows.forEach((row, index) => {
      const verdict = judgement.verdicts[index];
      if (!verdict) throw new Error('a reading was not judged');
      const { meterNumber } = group.register;
      found.push({ row: row.row, meterNumber, reading: newReading(row, verdict) });
    });
  }
  found.sort((a, b) => a.row - b.row);
  return {
    problems,
    readings: found.map((one) => one.reading),
    meterNumbers: found.map((one) => one.meterNumber),
    remeasured,
    unchanged,
  };
}

/** Without those that are stored; of one that appears twice in the request, the second stays. */
function newRows({ rows }: Group, { taken }: Pick<Past, 'taken'>): PlacedReading[] {
  const left = new Map(taken);
  return rows.filter((row) => {
    const place = placeInTime(row);
    const stored = exactFrom(left.get(place));
    if (stored === undefined || compare(stored, exactFrom(row.value) ?? zero) !== 0) return true;
    left.delete(place);
    return false;
  });
}

function newReading(
  row: PlacedReading,
  verdict: Pick<NewReading, 'status' | 'rollover' | 'consumption' | 'days' | 'flags'>,
): NewReading {
  const { assignmentId, position } = row.register;
  const { day, time, value, type, source, remark, imageUrl, externalReference } = row;
  const facts = { day, time, value, type, source, remark, imageUrl, externalReference };
  return { assignmentId, position, ...facts, ...verdict };
}

function groupByRegister(placed: readonly PlacedReading[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of placed) {
    const { register, day } = row;
    const key = `${register.assignmentId}:${register.position}`;
    const group = groups.get(key);
    if (group) {
      group.rows.push(row);
      group.first = Math.min(group.first, day);
      group.last = Math.max(group.last, day);
    } else groups.set(key, { register, rows: [row], first: day, last: day });
  }
  return [...groups.values()];
}

/** What appears twice, here or with what is stored, and what a term has gone past. */
function refusals(group: Group, past: Pick<Past, 'locked' | 'taken'>): RowProblem[] {
  const seen = new Set(past.taken.keys());
  return group.rows.flatMap((reading): RowProblem[] => {
    const { row, register, day } = reading;
    const key = placeInTime(reading);
    const rejectedValue = formatDay(day);
    const problem = { row, name: 'readingDate', rejectedValue };
    const what = `Register ${register.register} of meter ${register.meterNumber}`;
    if (seen.has(key)) {
      const where = past.taken.has(key) ? 'already' : 'twice in this request';
      const message = `${what} has this reading of ${rejectedValue} ${where}`;
      return [{ ...problem, code: 'DUPLICATE_ROW', message }];
    }
    seen.add(key);
    if (past.locked === null || day > past.locked) return [];
    const message = `${what} is billed up to its reading of ${formatDay(past.locked)}`;
    return [{ ...problem, code: 'READING_LOCKED', message }];
  });
}

function repeatedReferences(
  placed: readonly PlacedReading[],
  taken: ReadonlySet<string>,
): RowProblem[] {
  const seen = new Set(taken);
  return placed.flatMap(({ row, externalReference: rejectedValue }) => {
    if (rejectedValue === null) return [];
    if (!seen.has(rejectedValue)) {
      seen.add(rejectedValue);
      return [];
    }
    const message = `A reading with externalRef ${rejectedValue} exists already`;
    return [{ row, name: 'externalRef', code: 'DUPLICATE_ROW', message, rejectedValue }];
  });
}

/** Few enough that their statement is written in a moment. */
const insertedAtOnce = 10_000;

/** Stores what was checked, and returns the id of the first; the others follow it. */
export async function storeReadings(
  tx: Tx,
  tenantId: number,
  checked: Pick<CheckedReadings, 'readings' | 'remeasured'>,
  stamp: Stamp,
): Promise<number> {
  const { readings, remeasured } = checked;
  const firstId = await takeNumbers(tx, tenantId, 'reading', readings.length);
  for (let at = 0; at < readings.length; at += insertedAtOnce) {
    const some = readings.slice(at, at + insertedAtOnce);
    await insertReadings(tx, tenantId, some, firstId + at, stamp);
  }
  if (remeasured.length > 0) await updateMeasures(tx, tenantId, remeasured, stamp);
  return firstId;
}
