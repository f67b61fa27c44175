import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { type NewMeterType, registerKinds, repeated } from '../../domain/meters/meter.ts';
import { findTakenTypeNames, insertMeterTypes } from '../../domain/meters/types-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { empty, filledText, maybe, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import { wholeNumber } from '../pricing-fields.ts';

const typesMax = 100;
const registersMax = 50;

export const makeMeterTypes = operation({
  path: '/billing/meters/make-meter-types',
  method: 'Create',
  action: 'Create Meter Types',
  access: { permission: 'meters:write' },
  summary: 'Creates meter types with their registers, all or none.',
  request: Type.Object({
    meterTypes: Type.Array(
      Type.Object({
        name: filledText({ max: 120 }),
        utility: filledText({ max: 120 }),
        phases: maybe(wholeNumber(1, 3)),
        prepaid: maybe(oneOf([0, 1, true, false])),
        registers: Type.Array(
          Type.Object({
            register: filledText({ max: 60 }),
            unit: filledText({ max: 60 }),
            kind: oneOf(registerKinds),
            timeOfUse: maybe(filledText({ max: 60 })),
            digits: wholeNumber(1, 15),
            decimals: maybe(wholeNumber(0, 6)),
          }),
          { minItems: 1, maxItems: registersMax },
        ),
      }),
      { minItems: 1, maxItems: typesMax },
    ),
  }),
  response: empty,
  errors: ['DUPLICATE'],
  example: {
    meterTypes: [
      {
        name: 'Chilled water',
        utility: 'Cooling',
        registers: [{ register: 'TRh', unit: 'TRh', kind: 'Cumulative', digits: 7, decimals: 1 }],
      },
    ],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const types = body.meterTypes.map(
      (type): NewMeterType => ({
        name: type.name.trim(),
        utility: type.utility.trim(),
        phases: type.phases ?? null,
        prepaid: Boolean(type.prepaid),
        registers: type.registers.map((one) => ({
          register: one.register.trim(),
          unit: one.unit.trim(),
          kind: one.kind,
          timeOfUse: one.timeOfUse?.trim() ?? null,
          digits: one.digits,
          decimals: one.decimals ?? 0,
        })),
      }),
    );
    const names = types.map((type) => type.name);
    const [first, taken] = await Promise.all([
      takeNumbers(tx, tenant.tenantId, 'meter-type', types.length),
      findTakenTypeNames(tx, tenant.tenantId, names),
    ]);
    const problems = [...nameProblems(names, taken), ...types.flatMap(registerProblems)];
    if (problems.length > 0) throw errorFromRows(problems);
    const stamp = { at: call.now, by: call.principal.name };
    await insertMeterTypes(tx, tenant.tenantId, first, types, stamp);
    types.forEach((after, index) => {
      call.audit({ subject: 'meter type', subjectId: first + index, before: null, after });
    });
    const resourceIds = types.map((_, index) => first + index);
    const message = `${counted(types.length, 'meter type')} created`;
    return { message, data: {}, ids: { resourceIds } };
  },
});

function nameProblems(names: readonly string[], taken: ReadonlySet<number>): ErrorDetail[] {
  const twice = new Set(repeated(names.map((name) => name.toLowerCase())).map((one) => one.index));
  return names.flatMap((name, index): ErrorDetail[] => {
    if (!taken.has(index) && !twice.has(index)) return [];
    const message = taken.has(index)
      ? `A meter type named '${name}' exists already`
      : `The name '${name}' appears twice in this request`;
    const field = `meterTypes[${index}].name`;
    return [{ field, code: 'DUPLICATE', message, rejectedValue: name }];
  });
}

function registerProblems(type: NewMeterType, index: number): ErrorDetail[] {
  const names = type.registers.map(({ register }) => register.toLowerCase());
  return repeated(names).map(({ index: at }): ErrorDetail => {
    const rejectedValue = type.registers[at]?.register;
    return {
      field: `meterTypes[${index}].registers[${at}].register`,
      code: 'DUPLICATE',
      message: `The type has two registers named '${rejectedValue}'`,
      rejectedValue,
    };
  });
}
