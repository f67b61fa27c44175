import { dateOfDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { RegisterInPlace } from './judge.ts';

/** An assignment of a meter, with its registers. */
export type MeterPlace = {
  assignmentId: number;
  subscriptionNumber: string;
  installDay: number;
  removeDay: number | null;
  registers: RegisterInPlace[];
};

type PlaceRow = {
  number: number;
  meter_type_id: number;
  assignment_id: number | null;
  subscription_number: string | null;
  context_id: number | null;
  install_day: number;
  remove_day: number | null;
  mf: number;
  inputs: (string | null)[];
};

export type PlacesWanted = {
  numbers: readonly number[];
  /** Places that a meter left before this day are left out. */
  earliest: number;
  today: number;
  /** Only meters of this party are found; null for all. */
  ownPartyId: number | null;
};

/**
 * The installations of the meters by number: none for a meter that was never installed, no entry
 * for an unknown meter. The assignments stay locked until the transaction ends.
 */
export async function findPlaces(
  tx: Tx,
  tenantId: number,
  wanted: PlacesWanted,
): Promise<Map<number, MeterPlace[]>> {
  const numbers = `{${wanted.numbers.join(',')}}`;
  const earliest = dateOfDay(wanted.earliest);
  const own = wanted.ownPartyId;
  // An owner reads a meter from its own first day on.
  const firstDay =
    own === null ? sql`a.install_date` : sql`greatest(a.install_date, s.transferred_on)`;
  const [, { rows }, registers, factors] = await Promise.all([
    sql`
      select a.assignment_id
      from unnest(${numbers}::bigint[]) as n (number)
      join meters m on m.tenant_id = ${tenantId} and m.number = n.number
      join meter_assignments a on a.tenant_id = ${tenantId} and a.meter_id = m.meter_id
        and (a.remove_date is null or a.remove_date >= ${earliest})
      order by a.assignment_id
      for no key update of a
    `.execute(tx),
    sql<PlaceRow>`
      select m.number, m.meter_type_id, a.assignment_id, s.subscription_number, s.context_id,
        ${firstDay} - date '1970-01-01' as install_day,
        a.remove_date - date '1970-01-01' as remove_day, a.mf,
        array(
          select r.input from assignment_registers r
          where r.tenant_id = ${tenantId} and r.assignment_id = a.assignment_id
          order by r.position
        ) as inputs
      from unnest(${numbers}::bigint[]) as n (number)
      join meters m on m.tenant_id = ${tenantId} and m.number = n.number
      left join meter_assignments a on a.tenant_id = ${tenantId} and a.meter_id = m.meter_id
        and (a.remove_date is null or a.remove_date >= ${earliest})
      left join subscriptions s on s.tenant_id = ${tenantId}
        and s.subscription_id = a.subscription_id
      where ${own === null}::boolean or s.party_id = ${own}
    `.execute(tx),
    findRegisters(tx, tenantId),
    findFactors(tx, tenantId, wanted.today),
  ]);
  const places = new Map<number, MeterPlace[]>();
  for (const row of rows) {
    const known = places.get(row.number) ?? [];
    places.set(row.number, known);
    if (row.assignment_id !== null) known.push(placeOf(row, registers, factors));
  }
  return places;
}

type RegisterRow = Pick<RegisterInPlace, 'register' | 'kind' | 'digits' | 'decimals'> & {
  meter_type_id: number;
  position: number;
};

export type Factors = Map<string, { high: number | null; low: number | null }>;

function placeOf(
  row: PlaceRow,
  registers: ReadonlyMap<number, RegisterRow[]>,
  factors: Factors,
): MeterPlace {
  const assignmentId = row.assignment_id ?? 0;
  return {
    assignmentId,
    subscriptionNumber: row.subscription_number ?? '',
    installDay: row.install_day,
    removeDay: row.remove_day,
    registers: (registers.get(row.meter_type_id) ?? []).map((one) => {
      const factor = factors.get(`${row.context_id} ${row.inputs[one.position - 1]}`);
      return {
        assignmentId,
        position: one.position,
        meterNumber: row.number,
        register: one.register,
        kind: one.kind,
        digits: one.digits,
        decimals: one.decimals,
        mf: row.mf,
        highFactor: factor?.high ?? null,
        lowFactor: factor?.low ?? null,
      };
    }),
  };
}

/** Of all meter types, of which a workspace has few. */
async function findRegisters(tx: Tx, tenantId: number): Promise<Map<number, RegisterRow[]>> {
  const { rows } = await sql<RegisterRow>`
    select meter_type_id, position, register, kind, digits, decimals
    from meter_registers
    where tenant_id = ${tenantId}
    order by meter_type_id, position
  `.execute(tx);
  return Map.groupBy(rows, (row) => row.meter_type_id);
}

/** How far each metered input may be from its average, by context and name. */
export async function findFactors(tx: Tx, tenantId: number, today: number): Promise<Factors> {
  const { rows } = await sql<{ key: string; high: number | null; low: number | null }>`
    select v.context_id || ' ' || (i ->> 'name') as key,
      (i -> 'highLow' ->> 'highFactor')::float8 as high,
      (i -> 'highLow' ->> 'lowFactor')::float8 as low
    from (
      select distinct on (context_id) context_id, definition
      from pricing_context_versions
      where tenant_id = ${tenantId}
        and (effective_date is null or effective_date <= ${dateOfDay(today)})
      order by context_id, version desc
    ) v, jsonb_array_elements(v.definition -> 'meteredInputs') i
    where jsonb_typeof(i -> 'highLow') = 'object'
  `.execute(tx);
  return new Map(rows.map(({ key, ...factor }) => [key, factor]));
}

/** Those of the numbers that subscriptions have. */
export async function findKnownSubscriptions(
  tx: Tx,
  tenantId: number,
  numbers: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ subscription_number: string }>`
    select s.subscription_number
    from json_array_elements_text(${JSON.stringify(numbers)}::json) as n (number)
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_number = n.number
  `.execute(tx);
  return new Set(rows.map((row) => row.subscription_number));
}
