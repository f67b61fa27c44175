// Which register of which meter measures which metered input: as the caller says, otherwise by the
// code and unit of the register, provided that leaves one choice.
import type { ErrorDetail } from '../../base/errors.ts';
import type { MeteredInput } from '../pricing/context.ts';
import {
  type Binding,
  type FoundMeter,
  type MeterToInstall,
  sameWord,
  type WantedInstallation,
} from './installation.ts';
import type { RegisterFacts } from './meter.ts';

export type MeterInPlace = { wanted: MeterToInstall; meter: FoundMeter };

export type Bound = { input: MeteredInput; meter: FoundMeter; position: number };

type Bindings = { bound: Bound[]; problems: ErrorDetail[] };

export function bindRegisters(
  installation: WantedInstallation,
  meters: readonly MeterInPlace[],
): Bindings {
  const bound: Bound[] = [];
  const problems: ErrorDetail[] = [];
  for (const binding of installation.bindings) {
    const meter = meters.find((one) => one.meter.number === binding.meterNumber)?.meter;
    if (!meter) continue;
    const found = explicitRegister(installation, binding, meter);
    if ('problem' in found) problems.push(found.problem);
    else if (isBound(bound, found)) problems.push(boundTwice(binding, found));
    else bound.push(found);
  }
  const named = new Set(installation.bindings.map((binding) => binding.meterNumber));
  const free = meters.filter((one) => !named.has(one.meter.number));
  bindFreeMeters(installation, free, { bound, problems });
  if (problems.length === 0) problems.push(...missingInputs(installation, bound));
  return { bound, problems };
}

function isBound(bound: readonly Bound[], found: { meter: FoundMeter; position: number }): boolean {
  return bound.some((one) => one.meter === found.meter && one.position === found.position);
}

function boundTwice(binding: Binding, found: Bound): ErrorDetail {
  const register = found.meter.registers[found.position - 1]?.register;
  return {
    field: `${binding.field}.register`,
    code: 'METER_BINDING_AMBIGUOUS',
    message: `Register ${register} of meter ${found.meter.number} measures another input already`,
    rejectedValue: register,
  };
}

function explicitRegister(
  installation: WantedInstallation,
  binding: Binding,
  meter: FoundMeter,
): Bound | { problem: ErrorDetail } {
  const input = installation.inputs.find((one) => one.name === binding.name);
  if (!input) {
    const message = `The pricing context has no metered input ${binding.name}`;
    const rejectedValue = binding.name;
    const field = `${binding.field}.name`;
    return { problem: { field, code: 'UNKNOWN_INPUT', message, rejectedValue } };
  }
  if (!isTypeAllowed(input, meter)) {
    return { problem: typeNotAllowed(`${binding.field}.meterNumber`, meter, [input]) };
  }
  if (binding.register !== null) return namedRegister(binding, input, meter, binding.register);
  const positions = fitting(input, meter);
  const [position] = positions;
  if (position === undefined) {
    return { problem: typeNotAllowed(`${binding.field}.meterNumber`, meter, [input]) };
  }
  if (positions.length === 1) return { input, meter, position };
  const alike = binding.likeRegister ? positionOf(meter, binding.likeRegister) : undefined;
  if (alike !== undefined && positions.includes(alike)) return { input, meter, position: alike };
  const names = positions.map((one) => meter.registers[one - 1]?.register);
  const message = `Registers ${names.join(', ')} of meter ${meter.number} all fit ${input.name}`;
  const field = `${binding.field}.register`;
  return { problem: { field, code: 'METER_BINDING_AMBIGUOUS', message } };
}

function namedRegister(
  binding: Binding,
  input: MeteredInput,
  meter: FoundMeter,
  name: string,
): Bound | { problem: ErrorDetail } {
  const field = `${binding.field}.register`;
  const position = positionOf(meter, name);
  if (position === undefined) return { problem: noSuchRegister(field, meter, name) };
  const register = meter.registers[position - 1] as RegisterFacts;
  if (input.unit && !sameWord(input.unit, register.unit)) {
    const message = `${input.name} is in ${input.unit}, register ${name} in ${register.unit}`;
    const rejectedValue = name;
    return { problem: { field, code: 'METER_TYPE_NOT_ALLOWED', message, rejectedValue } };
  }
  return { input, meter, position };
}

export function positionOf(meter: FoundMeter, register: string): number | undefined {
  const at = meter.registers.findIndex((one) => sameWord(one.register, register));
  return at === -1 ? undefined : at + 1;
}

export function noSuchRegister(field: string, meter: FoundMeter, name: string | null): ErrorDetail {
  const names = meter.registers.map((one) => one.register).join(', ');
  const message = `Meter ${meter.number} has the registers ${names}`;
  return { field, code: 'REGISTER_REQUIRED', message, rejectedValue: name };
}

/** Positions of the registers that could measure the input. */
function fitting(input: MeteredInput, meter: FoundMeter): number[] {
  return meter.registers.flatMap((register, index) => {
    if (input.register && !sameWord(input.register, register.register)) return [];
    return input.unit && !sameWord(input.unit, register.unit) ? [] : [index + 1];
  });
}

function isTypeAllowed(input: MeteredInput, meter: FoundMeter): boolean {
  return !input.meterTypes?.length || input.meterTypes.includes(meter.meter_type_id);
}

function typeNotAllowed(
  field: string,
  meter: FoundMeter,
  inputs: readonly MeteredInput[],
): ErrorDetail {
  const names = inputs.map((input) => input.name).join(', ');
  const message = `Meter ${meter.number} (${meter.meter_type}) cannot measure ${names}`;
  return { field, code: 'METER_TYPE_NOT_ALLOWED', message, rejectedValue: meter.number };
}

/** Inputs that name a register choose before those that go by the unit alone. */
function bindFreeMeters(
  installation: WantedInstallation,
  free: readonly MeterInPlace[],
  { bound, problems }: Bindings,
): void {
  const taken = new Set([
    ...installation.bindings.map((binding) => binding.name),
    ...(installation.measuredInputs ?? []),
  ]);
  const open = installation.inputs.filter((input) => !taken.has(input.name));
  const unclear = new Set<FoundMeter>();
  for (const inputs of [open.filter((one) => one.register), open.filter((one) => !one.register)]) {
    const choices = inputs.map((input) => ({ input, found: choicesOf(input, free, bound) }));
    const clear: Bound[] = [];
    for (const { input, found } of choices) {
      const [one] = found;
      if (!one) continue;
      const rivals = choices.filter((other) => other.found.some((it) => isSame(it, one)));
      if (found.length === 1 && rivals.length === 1) {
        clear.push({ input, ...one });
        continue;
      }
      for (const it of found) unclear.add(it.meter);
      const rivalNames = rivals.map((rival) => rival.input.name);
      problems.push(ambiguous(installation, input.name, found, rivalNames));
    }
    bound.push(...clear);
  }
  for (const { wanted, meter } of free) {
    if (unclear.has(meter) || bound.some((one) => one.meter === meter)) continue;
    problems.push(...measuresNothing(installation, wanted, meter));
  }
}

type Choice = { meter: FoundMeter; position: number };

function isSame(a: Choice, b: Choice): boolean {
  return a.meter === b.meter && a.position === b.position;
}

function choicesOf(
  input: MeteredInput,
  free: readonly MeterInPlace[],
  bound: readonly Bound[],
): Choice[] {
  return free
    .filter(({ meter }) => isTypeAllowed(input, meter))
    .flatMap(({ meter }) => fitting(input, meter).map((position) => ({ meter, position })))
    .filter((choice) => !isBound(bound, choice));
}

function ambiguous(
  installation: WantedInstallation,
  input: string,
  found: readonly Choice[],
  rivals: readonly string[],
): ErrorDetail {
  const registers = found.map(
    ({ meter, position }) => `${meter.registers[position - 1]?.register} of meter ${meter.number}`,
  );
  const inputs = [...new Set([input, ...rivals])].join(', ');
  const what = `${registers.join(', ')} could measure ${inputs}`;
  const message = `${what}: say which in meteredConnectionInputs`;
  return { field: `${installation.field}.meters`, code: 'METER_BINDING_AMBIGUOUS', message };
}

/** A context without metered inputs bills no use: what its meters show is only kept. */
function measuresNothing(
  installation: WantedInstallation,
  wanted: MeterToInstall,
  meter: FoundMeter,
): ErrorDetail[] {
  const { inputs, measuredInputs = [] } = installation;
  if (inputs.length === 0) return [];
  const field = `${wanted.field}.${wanted.numberField ?? 'number'}`;
  const measured = inputs.filter(
    (input) =>
      measuredInputs.includes(input.name) &&
      isTypeAllowed(input, meter) &&
      fitting(input, meter).length > 0,
  );
  if (measured.length === 0) return [typeNotAllowed(field, meter, inputs)];
  const names = measured.map((input) => input.name).join(', ');
  const message = `Another meter measures ${names}: name the input that this one adds to`;
  return [{ field, code: 'METER_BINDING_AMBIGUOUS', message, rejectedValue: meter.number }];
}

function missingInputs(installation: WantedInstallation, bound: readonly Bound[]): ErrorDetail[] {
  const measured = new Set([
    ...bound.map((one) => one.input.name),
    ...(installation.measuredInputs ?? []),
  ]);
  const needed = installation.inputs.filter(
    (input) => input.required === 1 || installation.requiredInputs.includes(input.name),
  );
  return needed
    .filter((input) => !measured.has(input.name))
    .map((input) => ({
      field: `${installation.field}.meters`,
      code: 'METER_REQUIRED',
      message: `${input.name} is measured, and no meter is given for it`,
    }));
}
