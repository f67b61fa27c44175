// What a meter and its type are, in the words of the domain.

export const meterStatuses = ['Active', 'InActive'] as const;
export type MeterStatus = (typeof meterStatuses)[number];

/** Only a meter with the health ok can be installed; a retired one is not installed anywhere. */
export const meterHealths = ['ok', 'faulty', 'stopped', 'tampered', 'lost', 'retired'] as const;
export type MeterHealth = (typeof meterHealths)[number];

export const registerKinds = ['Cumulative', 'Interval', 'Consumptive', 'Demand'] as const;
export type RegisterKind = (typeof registerKinds)[number];

/** Fifteen digits: as many as a number on the wire holds exactly, whatever they are. */
export const meterNumberMax = 999_999_999_999_999;
export const mfMax = 1_000_000;

export type NewMeter = {
  number: number;
  brand: string;
  meterTypeId: number;
  purchaseDate: Temporal.PlainDate;
  /** Multiplier factor. */
  mf: number;
};

export type RegisterFacts = {
  register: string;
  unit: string;
  kind: RegisterKind;
  timeOfUse: string | null;
  digits: number;
  decimals: number;
};

export type NewMeterType = {
  name: string;
  utility: string;
  phases: number | null;
  prepaid: boolean;
  registers: readonly RegisterFacts[];
};

/** The values that appear more than once, each with the indexes of all but its first. */
export function repeated<T>(values: readonly T[]): { value: T; index: number }[] {
  const seen = new Set<T>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [{ value, index }];
    seen.add(value);
    return [];
  });
}
