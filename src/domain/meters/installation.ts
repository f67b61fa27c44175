// Installing meters on a subscription: the types of the request and of the meters that it names.
import type { MeteredInput } from '../pricing/context.ts';
import type { MeterHealth, RegisterFacts } from './meter.ts';

/** Without a register: of the only one that the meter has. */
export type InitialReading = { register: string | null; value: string };

export type MeterToInstall = {
  /** Its path in the request, such as `connection.meters[0]`. */
  field: string;
  /** Name of the field with its number, where that is not `number`. */
  numberField?: string;
  number: number;
  /** null: that of the installation. */
  installDate: Temporal.PlainDate | null;
  /** Of a meter that has one register. */
  initialReading: string | null;
  initialReadings: readonly InitialReading[];
};

/** Says which register measures an input, and what it showed when this system took it over. */
export type Binding = {
  /** Its path in the request, such as `connection.meteredConnectionInputs[0]`. */
  field: string;
  name: string;
  meterNumber: number;
  register: string | null;
  /** Where no register is named and several would do, the one with this name. */
  likeRegister?: string;
  openingReading: string | null;
  openingDate: Temporal.PlainDate | null;
};

/** The meters of one subscription. */
export type WantedInstallation = {
  /** The path of the subscription in the request, such as `connection[3]`. */
  field: string;
  installDate: Temporal.PlainDate;
  /** The metered inputs of its pricing context, on that day. */
  inputs: readonly MeteredInput[];
  /** Inputs without which its plan cannot be billed, besides those the context requires. */
  requiredInputs: readonly string[];
  meters: readonly MeterToInstall[];
  /** A meter that only a binding names is installed, too. */
  bindings: readonly Binding[];
  /** Inputs that other meters of the subscription measure already. */
  measuredInputs?: readonly string[];
};

/** A meter as it is found, its row locked. */
export type FoundMeter = {
  meter_id: number;
  number: number;
  meter_type_id: number;
  /** The name of its type. */
  meter_type: string;
  mf: number;
  health: MeterHealth;
  is_installed: boolean;
  /**
   * YYYY-MM-DD, the day of its last removal; null if it was never installed, or is installed now.
   */
  free_from: string | null;
  /** What its registers showed last, by position. */
  last_values: Readonly<Record<string, string>> | null;
  /** In order of position, from 1. */
  registers: readonly RegisterFacts[];
};

export type InstalledRegister = {
  position: number;
  /** The metered input it measures. */
  input: string | null;
};

export type InstallationReading = { position: number; date: Temporal.PlainDate; value: string };

/** A meter that passed all checks. */
export type MeterInstallation = {
  meter: FoundMeter;
  installDate: Temporal.PlainDate;
  registers: readonly InstalledRegister[];
  readings: readonly InstallationReading[];
};

export function sameWord(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
